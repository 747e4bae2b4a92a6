"""Removes worktrees of tasks that are over, if everything in them is stored. Others stay until somebody looks."""

from pathlib import Path

from outlive.errors import OutliveError
from outlive.work.parts import WorkerParts
from outlive.work.shared.records import TaskRun

OVER = ("done", "cancelled")
"""Phases after which a worktree is not needed."""


def reap(parts: WorkerParts) -> list[Path]:
    """Remove them; returns their paths. What another worker has open is left alone."""
    removed = []
    for run in parts.board.all(TaskRun).values():
        place = Path(run.worktree) if run.worktree else None
        if run.phase not in OVER or place is None or not place.is_dir():
            continue
        try:
            if parts.repository.discard(place, run.session):
                removed.append(place)
        except (OutliveError, OSError) as error:
            parts.log.say("worktree_stays", place=str(place), text=str(error))
    return removed
