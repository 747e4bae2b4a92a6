"""Removes worktrees that are no longer needed, if everything in them is stored. Others stay until somebody looks."""

import re
from pathlib import Path
from typing import NamedTuple

from outlive.errors import OutliveError
from outlive.work.parts import WorkerParts
from outlive.work.repository.worktree import sweep
from outlive.work.shared.records import TaskRun

_NAME = re.compile(r"task-(\d+)-(.+)\.(\d+)")


class TaskWorktree(NamedTuple):
    """A worktree, as its name tells."""

    path: Path
    task: int
    session: str


def task_worktrees(folder: Path) -> list[TaskWorktree]:
    """The worktrees of tasks in this folder, also those that an attempt which was replaced has left behind."""
    named = [(path, _NAME.fullmatch(path.name)) for path in sorted(folder.glob("task-*")) if path.is_dir()]
    return [TaskWorktree(path, int(name[1]), name[2]) for path, name in named if name]


def reap(parts: WorkerParts) -> list[Path]:
    """Remove those of tasks that are over, and those that were replaced by one elsewhere; returns their paths.

    What another worker has open is left alone.
    """
    removed = []
    sweep(parts.options.worktrees)
    found = task_worktrees(parts.options.worktrees)
    tasks = parts.graph.store.read(lambda tx: tx.get({tree.task for tree in found}))
    runs = parts.board.all(TaskRun)
    for tree in found:
        task, run = tasks.get(tree.task), runs.get(str(tree.task))
        if task is not None and not task.finished and run is not None and run.worktree == str(tree.path):
            continue
        try:
            if parts.repository.discard(tree.path, tree.session):
                removed.append(tree.path)
        except (OutliveError, OSError) as error:
            parts.log.say("worktree_stays", place=str(tree.path), text=str(error))
    return removed
