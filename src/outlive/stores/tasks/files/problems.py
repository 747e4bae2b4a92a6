"""Descriptions of everything that can be wrong with a task folder."""

from collections.abc import Iterator

from outlive.errors import DamagedRecord
from outlive.stores.tasks.files.folder import TaskFolder
from outlive.stores.tasks.files.names import task_name, task_number
from outlive.stores.tasks.protocol import Problem
from outlive.stores.tasks.records import NO_NEW_TASKS, REPAIR


def problems(folder: TaskFolder) -> list[Problem]:
    """All problems of a folder that has just been scanned."""
    files = folder.problems()
    found = [*files, *_damage(folder), *_stale(folder), *_unknown_files(folder)]
    if str(folder.log) not in {problem.where for problem in files}:
        found += [*_trail(folder), *_mark(folder)]
    return found


def _damage(folder: TaskFolder) -> Iterator[Problem]:
    for name, error in sorted(folder.damaged.items()):
        where, _, what = str(error).partition(": ")
        damaged = isinstance(error, DamagedRecord)
        remedy = "mend the file by hand, or repair it, which sets it apart"
        number = task_number(name.removeprefix("archive/"))
        if damaged:
            yield Problem(where, what, remedy, repairable=True, task=number, code=REPAIR)
        else:
            yield Problem(where, what, "see there; it is left alone", task=number)


def _stale(folder: TaskFolder) -> Iterator[Problem]:
    what = "blockedBy or blocks in the file lag behind the truth (readers of outlive do not notice)"
    for number in folder.stale_ids():
        where, remedy = str(folder.path / task_name(number)), "repair it"
        yield Problem(where, what, remedy, repairable=True, harmless=True, task=number, code=REPAIR)


def _mark(folder: TaskFolder) -> list[Problem]:
    wrong = folder.wrong_mark()
    if not wrong:
        return []
    return [Problem(str(folder.mark_path), wrong, NO_NEW_TASKS, repairable=True, code=REPAIR)]


def _unknown_files(folder: TaskFolder) -> list[Problem]:
    return [
        Problem(str(folder.path / name), "not a task file; ignored", "move it elsewhere", harmless=True)
        for name in folder.unknown_files()
    ]


def _trail(folder: TaskFolder) -> Iterator[Problem]:
    history, what = folder.history, "a line of the audit trail cannot be read"
    for line in history.damaged():
        remedy = "what it said is lost; the tasks are not touched by it"
        yield Problem(f"{history.path}:{line}", what, remedy, harmless=True)
    changes = history.read()
    deleted = {change.task for change in changes if change.op == "delete"}
    what = "the audit trail knows this task, but its file is gone"
    for number in sorted({change.task for change in changes} - deleted):
        if folder.node(number) is None and folder.damage(number) is None:
            apart = folder.path / "damaged" / task_name(number)
            source = f"mend {apart} and move it back" if apart.exists() else "restore it from a backup or from git"
            where = str(folder.path / task_name(number))
            yield Problem(where, what, source, lost=True, task=number, code="lost_task")
