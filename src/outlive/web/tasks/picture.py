"""The graph as data: where each task is drawn, the paths between them, and what changes while these stay."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256

import msgspec

from outlive.stores.tasks.protocol import TaskQuery, TaskStore
from outlive.stores.tasks.records import Task
from outlive.tasks import shape
from outlive.tasks.drawing.diagram import diagram
from outlive.tasks.drawing.marks import State, state
from outlive.tasks.drawing.scene import COMPACT, compose
from outlive.tasks.drawing.text import pixels, wrap
from outlive.web.excerpt import line

MOST_DRAWN = 5_000
"""Tasks of one picture; of more, finished and less urgent ones are left out."""
NORMAL_FONT, SMALL_FONT = 12.5, 11.0
NORMAL_ROOM, SMALL_ROOM = 44.0, 32.0
"""Pixels of a box that its mark and its padding take."""

Edge = tuple[int, int, str]
"""A dependency, the task that waits for it, and the SVG path between them."""


class GraphLayout(msgspec.Struct, frozen=True, kw_only=True):
    """Follows from ids and dependencies alone, so it stays while tasks are worked on."""

    id: str
    width: float
    height: float
    box: tuple[float, float]
    """Width and height of each box."""
    compact: bool
    boxes: list[tuple[int, float, float]]
    """Task, and its upper left corner."""
    edges: list[Edge]
    closing: list[tuple[int, int]]
    """Edges that close a cycle."""
    left_out: int
    """Edges that are not drawn because there are too many."""


class Node(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a box says."""

    id: int
    state: State
    lines: tuple[str, ...]
    subject: str = ""
    """Where the lines do not hold all of it."""
    owner: str = ""
    expires: float | None = None
    waits_for: tuple[int, ...] = ()


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    now: float
    total: int
    """Tasks that there are, drawn or not."""
    nodes: list[Node]
    critical: list[int]
    """The longest chain of open tasks."""
    layout: GraphLayout | None
    """None where the browser has it already."""


class Pictures:
    """Pictures of one store. Layouts are kept by what they follow from."""

    def __init__(self) -> None:
        self._kept: tuple[bytes, GraphLayout] | None = None

    def of(self, store: TaskStore, *, finished: bool, known: str) -> Picture:
        """The picture now. `known` is the id of the layout that the browser has."""
        now, everything = store.read(lambda tx: (tx.now, tx.find(TaskQuery())))
        drawn = [task for task in everything if finished or not task.finished]
        drawn.sort(key=lambda task: task.finished)  # stable: the most urgent of the open ones first
        drawn = drawn[:MOST_DRAWN]
        layout = self._layout({task.id: task for task in drawn})
        room, rows = _room(layout)
        unfinished = {task.id: task.blocked_by for task in everything if not task.finished}
        return Picture(
            now=now.timestamp(),
            total=len(everything),
            nodes=[_node(task, room, rows) for task in drawn],
            critical=shape.longest_chain(unfinished),
            layout=None if layout.id == known else layout,
        )

    def _layout(self, tasks: Mapping[int, Task]) -> GraphLayout:
        structure = msgspec.msgpack.encode([(number, tasks[number].depends_on) for number in sorted(tasks)])
        kept = self._kept
        if kept is None or kept[0] != structure:
            self._kept = kept = structure, _composed(list(tasks.values()), sha256(structure).hexdigest()[:16])
        return kept[1]


def _composed(tasks: Sequence[Task], id: str) -> GraphLayout:
    drawn = diagram(tasks)
    scene = compose(drawn)
    return GraphLayout(
        id=id,
        width=scene.width,
        height=scene.height,
        box=(scene.box.width, scene.box.height),
        compact=scene.box == COMPACT,
        boxes=[(number, round(x, 1), round(y, 1)) for number, (x, y) in scene.boxes.items()],
        edges=[(before, number, path) for (before, number), path in scene.paths.items()],
        closing=drawn.closing,
        left_out=scene.left_out,
    )


def _room(layout: GraphLayout) -> tuple[float, int]:
    """The width of a line of text, in units of the font, and how many lines a box has."""
    if layout.compact:
        return (layout.box[0] - SMALL_ROOM) / SMALL_FONT, 1
    return (layout.box[0] - NORMAL_ROOM) / NORMAL_FONT, 2


def _node(task: Task, room: float, rows: int) -> Node:
    lines, whole = _lines(task.id, task.subject, room, rows)
    return Node(
        id=task.id,
        state=state(task),
        lines=lines,
        subject=whole,
        owner=line(task.owner or "", 60),
        expires=task.lease.expires_at.timestamp() if task.lease else None,
        waits_for=() if task.finished else task.blocked_by,
    )


@lru_cache(maxsize=4 * MOST_DRAWN)
def _lines(number: int, subject: str, room: float, rows: int) -> tuple[tuple[str, ...], str]:
    """Id and subject as they fit into a box; and the subject, where that is not all of it."""
    shown = line(subject)
    lines = tuple(wrap(f"{number} {shown}", room, rows, pixels))
    return lines, "" if " ".join(lines) == f"{number} {shown}" else shown
