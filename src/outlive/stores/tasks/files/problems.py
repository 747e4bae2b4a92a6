"""What can be wrong with a task folder, in words."""

from collections.abc import Iterator
from pathlib import Path

from outlive.errors import DamagedRecord
from outlive.stores.tasks.files.folder import TaskFolder
from outlive.stores.tasks.files.names import task_name, task_number
from outlive.stores.tasks.protocol import Problem


def problems(folder: TaskFolder) -> list[Problem]:
    """All of it, for a folder that has just been scanned."""
    files = folder.problems()
    found = [*files, *_damage(folder), *_stale(folder), *_foreign(folder)]
    if str(folder.log) not in {problem.where for problem in files}:
        found += [*_trail(folder), *_mark(folder)]
    return found


def _damage(folder: TaskFolder) -> Iterator[Problem]:
    for name, error in sorted(folder.damaged.items()):
        where, _, what = str(error).partition(": ")
        damaged = isinstance(error, DamagedRecord)
        remedy = "mend the file by hand, or set it apart with: outlive task doctor --repair"
        number = task_number(name.removeprefix("archive/"))
        yield Problem(where, what, remedy if damaged else "see there; it is left alone", damaged, task=number)


def _stale(folder: TaskFolder) -> list[Problem]:
    return [
        Problem(
            str(folder.path / task_name(number)),
            "blockedBy or blocks in the file lag behind the truth (readers of outlive do not notice)",
            "outlive task doctor --repair",
            repairable=True,
            harmless=True,
            task=number,
        )
        for number in folder.stale_ids()
    ]


def _mark(folder: TaskFolder) -> list[Problem]:
    wrong = folder.wrong_mark()
    remedy = "outlive task doctor --repair; until then no task can be created"
    return [Problem(str(folder.mark_path), wrong, remedy, repairable=True)] if wrong else []


def _foreign(folder: TaskFolder) -> list[Problem]:
    return [
        Problem(str(folder.path / name), "not a task file; ignored", "move it elsewhere", harmless=True)
        for name in folder.foreign()
    ]


def _trail(folder: TaskFolder) -> list[Problem]:
    path, history = folder.path, folder.history
    found = [
        Problem(
            f"{history.path}:{line}",
            "a line of the audit trail cannot be read",
            "what it said is lost; the tasks are not touched by it",
            harmless=True,
        )
        for line in history.damaged()
    ]
    changes = history.read()
    deleted = {change.task for change in changes if change.op == "delete"}
    known = {change.task for change in changes} - deleted
    for number in sorted(known):
        if folder.node(number) is None and folder.damage(number) is None:
            found.append(
                Problem(
                    str(path / task_name(number)),
                    "the audit trail knows this task, but its file is gone",
                    f"{_source(path, number)}; `outlive task delete --help` says how to go on without it",
                    lost=True,
                    task=number,
                )
            )
    return found


def _source(path: Path, number: int) -> str:
    apart = path / "damaged" / task_name(number)
    return f"mend {apart} and move it back" if apart.exists() else "restore it from a backup or from git"
