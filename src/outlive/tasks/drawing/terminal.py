"""The task graph in a terminal: as a tree, and as a layered picture."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from outlive.stores.tasks.records import Task
from outlive.tasks.drawing.columns import Style, columns
from outlive.tasks.drawing.diagram import Diagram, diagram, label
from outlive.tasks.drawing.text import cells, shorten

_MAX_INDENT_COLUMNS = 60
"""Columns of indentation; deeper branches continue at the margin."""


class _Branch(NamedTuple):
    task: int
    depth: int
    lead: str
    along: str
    """Prefix of the `↳` of an only child, which keeps its column however long the chain gets."""
    under: str
    """Prefix of the branches of several children."""


def tree(tasks: Iterable[Task], *, style: Style) -> str:
    """Draw the tasks as a forest in the order of work: dependents hang below their dependencies.

    A task appears once, below the last task it depends on; the other dependencies are shown as `↑ 12`. Work can begin
    at the margin. A chain (`↳`) is not indented, because plans are often long chains. `↻ 12` closes a cycle.
    `style` may colour each label but not change its width.
    """
    shown = diagram(tasks)
    waiting = {number: len(nexts) for number, nexts in shown.needs.items()}
    later = [_Branch(number, 0, "", "", "") for number, count in waiting.items() if not count]
    cycles = shown.cycles()
    path: dict[int, None] = {}
    lines = []
    while later:
        stack, later = later[::-1], []
        while stack:
            branch = stack.pop()
            while len(path) > branch.depth:
                path.popitem()
            others = [number for number in shown.needs[branch.task] if number not in path]
            ends = cycles.get(branch.task, [])
            lines.append(branch.lead + _line(shown, branch.task, others, ends, style))
            path[branch.task] = None
            following = []
            for number in shown.frees[branch.task]:
                waiting[number] -= 1
                if not waiting[number]:
                    following.append(number)
            if len(branch.under) < _MAX_INDENT_COLUMNS:
                stack.extend(reversed(list(_branches(branch, following))))
            else:
                later.extend(_Branch(number, 0, "", "", "") for number in following)
    return "\n".join(lines)


def _branches(branch: _Branch, following: list[int]) -> Iterator[_Branch]:
    depth = branch.depth + 1
    if len(following) == 1:
        along = branch.along
        yield _Branch(following[0], depth, along + "↳ ", along, along + "  ")
        return
    for number in following:
        last = number == following[-1]
        inner = branch.under + ("   " if last else "│  ")
        yield _Branch(number, depth, branch.under + ("└─ " if last else "├─ "), inner, inner)


def _line(shown: Diagram, number: int, others: list[int], cycle: list[int], style: Style) -> str:
    task = shown.tasks[number]
    parts = [style(label(task), task)]
    for sign, ids in (("↑", others), ("↻", cycle)):
        if ids:
            parts.append(f"{sign} " + ", ".join(style(str(other), shown.tasks[other]) for other in ids))
    return "  ".join(parts) + _tail("waits for", shown.hidden(number))


def layers(tasks: Iterable[Task], *, width: int, style: Style) -> str:
    """Draw the tasks in columns by depth with lines between them, or list them by layer if the width is too small.

    Tasks in one column can be worked on at the same time. `style` as in `tree`.
    """
    shown = diagram(tasks)
    pictures = []
    alone = []
    for group in shown.groups():
        if group == [group[0][:1]]:
            task = shown.tasks[group[0][0]]
            alone.append(style(shorten(label(task), width), task))
        elif picture := columns(shown, group, width=width, style=style):
            pictures.append(picture)
        else:
            return "\n".join(_list(shown, width, style))
    cycles = [shorten(f"↻ {before} → {task} closes a cycle", width) for before, task in shown.closing]
    return "\n\n".join("\n".join(part) for part in (*pictures, alone, cycles) if part)


def _list(shown: Diagram, width: int, style: Style) -> Iterator[str]:
    cycles = shown.cycles()
    for step, layer in enumerate(shown.layers(), start=1):
        yield f"step {step}"
        for number in layer:
            task = shown.tasks[number]
            tail = _tail("←", shown.needs[number]) + _tail("↻", cycles.get(number, []))
            tail = shorten(tail + _tail("waits for", shown.hidden(number)), width // 2)
            yield "  " + style(shorten(label(task), width - 2 - cells(tail)), task) + tail


def _tail(sign: str, ids: list[int]) -> str:
    return f"  {sign} " + ", ".join(map(str, ids)) if ids else ""
