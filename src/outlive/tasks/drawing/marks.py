"""The display state of a task, and its mark."""

from typing import Literal, get_args

from outlive.stores.tasks.records import Task

State = Literal["ready", "blocked", "in_progress", "completed", "cancelled"]
STATES: tuple[State, ...] = get_args(State)

MARKS: dict[State, str] = {"ready": "○", "blocked": "◌", "in_progress": "◐", "completed": "✓", "cancelled": "✗"}


def state(task: Task) -> State:
    """Return the status, with pending split into ready and blocked."""
    if task.status == "pending":
        return "blocked" if task.blocked_by else "ready"
    return task.status


def mark(task: Task) -> str:
    return MARKS[state(task)]


def words(state: State) -> str:
    """The state as people write it."""
    return state.replace("_", " ")
