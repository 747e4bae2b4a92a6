"""The task graph in Graphviz format."""

from collections.abc import Iterable

from outlive.printable import one_line
from outlive.stores.tasks.records import Task
from outlive.tasks.drawing.diagram import diagram, label
from outlive.tasks.drawing.marks import LIGHT, state
from outlive.tasks.drawing.text import wrap

_LABEL_WIDTH = 28  # characters of a line; a box of Graphviz is as wide as its label
_LABEL_LINES = 3  # more is cut; the whole subject is in the list
_LINES = {"blocked": "rounded,filled,dashed", "in_progress": "rounded,filled,bold"}


def dot(tasks: Iterable[Task]) -> str:
    """Return a digraph; an arrow points from a task to its dependents."""
    shown = diagram(tasks)
    closing = set(shown.closing)
    lines = [
        "digraph tasks {",
        '  rankdir="LR";',
        '  node [shape="box", style="rounded,filled", fontname="Helvetica,Arial,sans-serif", fontsize=11];',
        '  edge [color="#94a3b8", arrowsize=0.7];',
    ]
    for number, task in shown.tasks.items():
        name = state(task)
        fill, line, text = LIGHT[name]
        words = "\\n".join(escape(part) for part in wrap(label(task), _LABEL_WIDTH, _LABEL_LINES))
        lines.append(
            f'  t{number} [label="{words}", tooltip="{escape(one_line(task.subject))}", '
            f'style="{_LINES.get(name, "rounded,filled")}", fillcolor="{fill}", color="{line}", fontcolor="{text}"];'
        )
    for edge in shown.edges():
        look = ' [color="#dc2626", style="dashed", constraint=false]' if edge in closing else ""
        lines.append(f"  t{edge[0]} -> t{edge[1]}{look};")
    lines.append("}")
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Escape text for a quoted label, in which Graphviz reads HTML entities."""
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
