"""The task graph as a Mermaid flowchart, which GitHub and many editors show."""

from collections.abc import Iterable

from outlive.stores.tasks.records import Task
from outlive.tasks.drawing.diagram import diagram, label
from outlive.tasks.drawing.marks import LIGHT, STATES, state

_PLAIN = frozenset(" ,.-")
_LINES = {"blocked": ",stroke-dasharray:4 3", "in_progress": ",stroke-width:2px"}


def mermaid(tasks: Iterable[Task]) -> str:
    """Return a flowchart with a class per state; an arrow points from a task to its dependents."""
    shown = diagram(tasks)
    closing = set(shown.closing)
    lines = ["flowchart LR"]
    for number, task in shown.tasks.items():
        lines.append(f'    t{number}["{escape(label(task))}"]:::{state(task)}')
    for edge in shown.edges():
        arrow = "-. cycle .->" if edge in closing else "-->"
        lines.append(f"    t{edge[0]} {arrow} t{edge[1]}")
    occurring = {state(task) for task in shown.tasks.values()}
    for name in STATES:
        if name in occurring:
            fill, line, text = LIGHT[name]
            lines.append(f"    classDef {name} fill:{fill},stroke:{line},color:{text}{_LINES.get(name, '')}")
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Escape text for a quoted label: ASCII characters special to Mermaid, Markdown or HTML become codes."""
    return "".join(
        char if char.isalnum() or char in _PLAIN or not char.isascii() else f"#{ord(char)};" for char in text
    )
