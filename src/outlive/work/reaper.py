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
    places = {int(id): (Path(run.worktree), run) for id, run in parts.board.all(TaskRun).items() if run.worktree}
    here = {id: (place, run) for id, (place, run) in places.items() if place.is_dir()}
    tasks = parts.graph.store.read(lambda tx: tx.get(list(here))) if here else {}
    for id, (place, run) in here.items():
        if run.phase not in OVER and (id not in tasks or not tasks[id].finished):
            continue
        try:
            if parts.repository.discard(place, run.session):
                removed.append(place)
        except (OutliveError, OSError) as error:
            parts.log.say("worktree_stays", place=str(place), text=str(error))
    return removed
