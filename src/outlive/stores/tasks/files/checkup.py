"""What can be wrong with a task folder, in words."""

from collections.abc import Iterator
from pathlib import Path

from outlive.errors import DamagedRecord
from outlive.stores.disk import Disk
from outlive.stores.tasks.files.folder import Folder
from outlive.stores.tasks.files.history import History
from outlive.stores.tasks.files.names import task_name
from outlive.stores.tasks.files.parts import TaskFolderParts
from outlive.stores.tasks.protocol import Problem


def problems(parts: TaskFolderParts, journal: DamagedRecord | None) -> list[Problem]:
    """All of it, for a folder that has just been scanned."""
    path, folder, history = parts.path, parts.folder, parts.history
    irregular = irregular_problems(parts.disk, history.path, "outlive task doctor --repair")
    found = [*_damage(folder), *_stale(path, folder), *_foreign(path, folder), *irregular]
    if str(history.path) not in {problem.where for problem in irregular}:
        found += [*_trail(path, folder, history), *_mark(parts)]
    if journal is not None:
        what = f"nothing can be written while this is there: {journal}"
        remedy = "look at it and keep a copy; outlive task doctor --repair then sets it apart, without its change"
        found.insert(0, Problem(str(path / ".local" / "journal"), what, remedy, repairable=True))
    return found


def _damage(folder: Folder) -> Iterator[Problem]:
    for number, error in sorted(folder.damaged.items()):
        where, _, what = str(error).partition(": ")
        damaged = isinstance(error, DamagedRecord)
        remedy = "mend the file by hand, or set it apart with: outlive task doctor --repair"
        yield Problem(where, what, remedy if damaged else "see there; it is left alone", damaged, task=number)


def _stale(path: Path, folder: Folder) -> list[Problem]:
    return [
        Problem(
            str(path / task_name(number)),
            "blockedBy or blocks in the file lag behind the truth (readers of outlive do not notice)",
            "outlive task doctor --repair",
            repairable=True,
            harmless=True,
            task=number,
        )
        for number in sorted(folder.nodes)
        if folder.stale(number)
    ]


def irregular_problems(disk: Disk, log: Path, repair: str) -> list[Problem]:
    """Pipes, links, devices, folders and huge files under names of ours. The journal has a problem of its own."""
    return [
        Problem(odd.filename, odd.strerror.partition(";")[0], f"move it aside, or: {repair}", repairable=True)
        for odd in disk.irregular(log)
        if Path(odd.filename).name != "journal"
    ]


def _mark(parts: TaskFolderParts) -> list[Problem]:
    wrong = parts.wrong_mark()
    remedy = "outlive task doctor --repair; until then no task can be created"
    return [Problem(str(parts.mark_path), wrong, remedy, repairable=True)] if wrong else []


def _foreign(path: Path, folder: Folder) -> list[Problem]:
    return [
        Problem(str(path / name), "not a task file; ignored", "move it elsewhere", harmless=True)
        for name in folder.foreign()
    ]


def _trail(path: Path, folder: Folder, history: History) -> list[Problem]:
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
    for number in sorted(known - folder.nodes.keys() - folder.damaged.keys()):
        if folder.node(number) is None:
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
