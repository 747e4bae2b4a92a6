"""What can be wrong with a task folder, in words."""

from pathlib import Path

from outlive.errors import DamagedRecord
from outlive.stores.files.folder import Folder
from outlive.stores.files.history import History
from outlive.stores.files.names import task_name
from outlive.stores.protocol import Problem


def problems(path: Path, folder: Folder, history: History, journal: DamagedRecord | None) -> list[Problem]:
    """All of it, for a folder that has just been scanned."""
    found = [*_damage(path, folder), *_stale(path, folder), *_oddities(path, folder, history)]
    if journal is not None:
        what = f"nothing can be written while this is there: {journal}"
        remedy = "outlive task doctor --repair; the change that the journal holds is lost"
        found.insert(0, Problem(str(path / ".local" / "journal"), what, remedy, repairable=True))
    return found


def _damage(path: Path, folder: Folder) -> list[Problem]:
    return [
        Problem(
            str(path / task_name(number)),
            str(error).removeprefix(f"{path / task_name(number)}: "),
            "mend the file by hand, or set it apart with: outlive task doctor --repair",
            repairable=True,
            task=number,
        )
        for number, error in sorted(folder.damaged.items())
    ]


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


def _oddities(path: Path, folder: Folder, history: History) -> list[Problem]:
    found = [
        Problem(str(path / name), "not a task file; ignored", "move it elsewhere", harmless=True)
        for name in folder.foreign()
    ]
    found += [
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
                    f"restore it from a backup or from git; see: outlive task history {number}",
                    task=number,
                )
            )
    return found
