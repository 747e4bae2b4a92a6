"""The colours of the states, light and dark. Marks show the state as well, so nothing depends on colour alone."""

from typing import NamedTuple

from outlive.tasks.drawing.marks import State


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
