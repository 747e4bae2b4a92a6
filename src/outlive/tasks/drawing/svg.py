"""The task graph as a self-contained SVG picture: no font, no script, no network."""

from collections.abc import Iterable, Iterator
from html import escape

from outlive.printable import one_line
from outlive.stores.tasks.records import Task
from outlive.tasks.drawing.diagram import Diagram, Edge, diagram, label
from outlive.tasks.drawing.marks import STATES, state, words
from outlive.tasks.drawing.scene import COMPACT, Scene, compose, shown
from outlive.tasks.drawing.sheet import ROOT, definitions, style_sheet
from outlive.tasks.drawing.text import pixels, wrap

# Pixels. Two lines of a subject fit a box of `scene.py`, one small line fits a compact box.
_MARGIN = 24.0
_FONT_SIZE = 12.5
_SMALL_FONT_SIZE = 11.0
_LINE_HEIGHT = 16.0
_LEGEND_HEIGHT = 40.0
_RADIUS = 9
_MAX_SHOWN_IN_TITLE = 20  # ids in a tooltip


def svg(tasks: Iterable[Task]) -> str:
    """Draw the graph, light or dark as the reader prefers; an arrow points from a task to its dependents.

    A graph of many hundred tasks is compact: smaller boxes, crossings are ignored.
    """
    drawn = diagram(tasks)
    scene = compose(drawn) if drawn.tasks else Scene()
    legend, legend_width = _legend(drawn, scene)
    width = max(scene.width, legend_width) + 2 * _MARGIN
    height = scene.height + 2 * _MARGIN + (_LEGEND_HEIGHT if scene.boxes else 0)
    size = f'width="{shown(width)}" height="{shown(height)}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{ROOT}" role="img" {size} '
        f'viewBox="0 0 {shown(width)} {shown(height)}">',
        f"<title>Task graph: {len(drawn.tasks)} tasks</title>",
        style_sheet(),
        definitions(),
        f'<rect class="paper" {size} rx="12"/>',
        f'<g transform="translate({shown(_MARGIN)},{shown(_MARGIN)})">',
        *_edges(drawn, scene),
        *(_box(drawn, task, scene) for task in drawn.tasks.values()),
        "</g>",
        f'<g class="legend" transform="translate({shown(_MARGIN)},{shown(height - _MARGIN)})">{legend}</g>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _edges(drawn: Diagram, scene: Scene) -> Iterator[str]:
    """Draw the edges, those of unfinished dependencies last, on top."""
    closing = set(drawn.closing)

    def kind(edge: Edge) -> str:
        if edge in closing:
            return "closing"
        return "done" if drawn.tasks[edge[0]].finished else "open"

    thin = " thin" if scene.box == COMPACT else ""
    kinds = sorted((("done", "open", "closing").index(kind(edge)), edge) for edge in scene.paths)
    for _, edge in kinds:
        name = kind(edge)
        yield (
            f'<path class="edge {name}{thin}" marker-end="url(#{ROOT}-{name})" d="{scene.paths[edge]}">'
            f"<title>{edge[0]} → {edge[1]}</title></path>"
        )


def _box(drawn: Diagram, task: Task, scene: Scene) -> str:
    x, y = scene.boxes[task.id]
    box = scene.box
    small = box == COMPACT
    font, before, after = (_SMALL_FONT_SIZE, 24.0, 12.0) if small else (_FONT_SIZE, 34.0, 13.0)
    text = f"{task.id} {one_line(task.subject)}".rstrip()
    lines = wrap(text, (box.width - before - after) / font, 1 if small else 2, pixels)
    base = box.height / 2 + font * 0.35 - (len(lines) - 1) * _LINE_HEIGHT / 2
    number, _, subject = lines[0].partition(" ")
    spans = f'<tspan class="id">{escape(number)}</tspan> <tspan class="subject">{escape(subject)}</tspan>'
    for line in lines[1:]:
        spans += f'<tspan class="subject" x="{shown(before)}" dy="{shown(_LINE_HEIGHT)}">{escape(line)}</tspan>'
    name = state(task)
    return (
        f'<g class="{name}{" small" if small else ""}" transform="translate({shown(x)},{shown(y)})">'
        f"<title>{escape(_tooltip(drawn, task))}</title>"
        f'<rect class="box" width="{shown(box.width)}" height="{shown(box.height)}" '
        f'rx="{_RADIUS - 4 if small else _RADIUS}"/>'
        f'<use href="#{ROOT}-{name}" x="{12 if small else 18}" y="{shown(box.height / 2)}"/>'
        f'<text x="{shown(before)}" y="{shown(base)}">{spans}</text></g>'
    )


def _tooltip(drawn: Diagram, task: Task) -> str:
    lines = [label(task), words(state(task))]
    if task.owner:
        lines[-1] += f", {one_line(task.owner)}"
    if task.blocked_by and not task.finished:
        ids = [f"{number}{'' if number in drawn.tasks else ' (not shown)'}" for number in task.blocked_by]
        lines.append("waits for " + ", ".join(ids[:_MAX_SHOWN_IN_TITLE]) + ("…" if ids[_MAX_SHOWN_IN_TITLE:] else ""))
    return "\n".join(lines)


def _legend(drawn: Diagram, scene: Scene) -> tuple[str, float]:
    """Return the legend of the states that occur, and its width."""
    if not drawn.tasks:
        return "<text>no tasks</text>", pixels("no tasks") * _FONT_SIZE
    parts = []
    x = 0.0
    for name in STATES:
        if count := sum(state(task) == name for task in drawn.tasks.values()):
            text = f"{count} {words(name)}"
            parts.append(
                f'<g class="{name}"><use href="#{ROOT}-{name}" x="{shown(x + 7)}" y="-4.5"/></g>'
                f'<text x="{shown(x + 20)}">{text}</text>'
            )
            x += 20 + pixels(text) * _FONT_SIZE + 18
    if scene.left_out:
        note = f"{scene.left_out} edges are not drawn"
        parts.append(f'<text x="{shown(x)}">{note}</text>')
        x += pixels(note) * _FONT_SIZE + 18
    return "".join(parts), x - 18
