"""The display state of a task, its mark and its colours. Nothing depends on colour alone."""

from typing import Literal, NamedTuple, get_args

from outlive.stores.tasks.records import Task

State = Literal["ready", "blocked", "in_progress", "completed", "cancelled"]
STATES: tuple[State, ...] = get_args(State)

MARKS: dict[State, str] = {"ready": "○", "blocked": "◌", "in_progress": "◐", "completed": "✓", "cancelled": "✗"}


class Colours(NamedTuple):
    fill: str
    line: str
    text: str


LIGHT: dict[State, Colours] = {
    "ready": Colours("#eff6ff", "#2563eb", "#172554"),
    "blocked": Colours("#f8fafc", "#94a3b8", "#475569"),
    "in_progress": Colours("#fffbeb", "#d97706", "#451a03"),
    "completed": Colours("#f0fdf4", "#16a34a", "#14532d"),
    "cancelled": Colours("#fafafa", "#a1a1aa", "#71717a"),
}

DARK: dict[State, Colours] = {
    "ready": Colours("#14233f", "#60a5fa", "#dbeafe"),
    "blocked": Colours("#1a2130", "#64748b", "#a9b6c9"),
    "in_progress": Colours("#33250c", "#fbbf24", "#fef3c7"),
    "completed": Colours("#10281a", "#4ade80", "#bbf7d0"),
    "cancelled": Colours("#1c1c20", "#71717a", "#a1a1aa"),
}


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
