"""Tasks that come again: once a schedule is due, the next task is made, unless the last one is still open."""

from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from outlive.errors import InvalidTask
from outlive.stores.tasks.protocol import TaskQuery, TaskWriter
from outlive.stores.tasks.records import Task
from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import TaskGraph
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.records import Schedule

SHORTEST = timedelta(seconds=10)
LABEL = "schedule:"
DUE = "due"
"""The metadata that names the moment for which a task was made."""


def repeat(board: FleetBoard, task: Task, every: timedelta) -> Schedule:
    """Let a task that exists come again. Raises InvalidTask for an interval that is too short."""
    if every < SHORTEST:
        raise InvalidTask(f"a task comes again after {SHORTEST.total_seconds():g} s at the earliest")
    metadata: dict[str, Any] = {key: value for key, value in task.metadata.items() if key != DUE}
    schedule = Schedule(
        seconds=every.total_seconds(),
        due=board.now() + every,
        subject=task.subject,
        description=task.description,
        priority=task.priority,
        labels=task.labels,
        metadata=metadata,
    )
    board.change(Schedule, str(task.id), lambda _old, _now: schedule, announce=True)
    return schedule


def end_schedule(board: FleetBoard, task: int) -> bool:
    """Make no more tasks of a schedule; returns whether there was one."""
    found = board.get(Schedule, str(task)) is not None
    board.change(Schedule, str(task), lambda _old, _now: None)
    return found


def make_due(board: FleetBoard, graph: TaskGraph) -> list[Task]:
    """Make the tasks that are due; each is made once, also if other workers try at the same time."""
    schedules = board.all(Schedule)
    if not schedules:
        return []
    now = board.now()
    return [task for id, plan in schedules.items() if _is_due(plan, now) and (task := _make(board, graph, id, plan))]


def _is_due(plan: Schedule, now: datetime) -> bool:
    """A time further ahead than one interval was written by a wrong clock."""
    return plan.due <= now or plan.due - now > timedelta(seconds=plan.seconds)


def _make(board: FleetBoard, graph: TaskGraph, id: str, plan: Schedule) -> Task | None:
    """The task for the moment at which the plan is due; None if there is one, or an earlier one is open.

    The task is made before the schedule moves on, so that a kill between the two loses nothing; who comes next finds
    the task by the moment in its metadata.
    """
    label, moment = f"{LABEL}{id}", plan.due.isoformat()

    def is_there(tx: TaskWriter) -> bool:
        first = tx.lock([int(id)], edges=True)  # one at a time, also if the first task is gone
        later = tx.find(TaskQuery(labels=(label,), archived=True))
        return any(not task.finished or task.metadata.get(DUE) == moment for task in [*first.values(), *later])

    draft = TaskDraft(
        subject=plan.subject,
        description=plan.description,
        priority=plan.priority,
        labels=(*plan.labels, label),
        metadata={**plan.metadata, DUE: moment},
    )
    made = graph.create_many([draft], unless=is_there)

    def move(old: Schedule | None, now: datetime) -> Schedule | None:
        if old is None or old.due != plan.due:
            return old
        step = timedelta(seconds=old.seconds)
        missed = max(0, (now - old.due) // step)
        return replace(old, due=min(old.due + step * (missed + 1), now + step))

    board.change(Schedule, id, move)
    return made[0] if made else None
