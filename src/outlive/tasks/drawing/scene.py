"""The layout of the SVG picture: boxes in layers, curved edges, groups of tasks packed in rows."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice, pairwise

from outlive.tasks.drawing.diagram import Diagram, Edge
from outlive.tasks.drawing.grid import Grid, arrange
from outlive.tasks.drawing.placing import place

Point = tuple[float, float]

# Above one of these the compact layout is used; above the last one it comes without edges.
_MAX_TASKS = 600
_MAX_LAYERS = 150
_MAX_LINES = 8_000
_MAX_EDGES = 15_000

_BEND = 10.0  # pixels; an edge that passes a layer needs less room than a box
_SLOPE = 0.11
"""The steeper the edges between two layers, the more room they get."""
_GOOD_RATIO = 1.6  # of width to height, as screens have
_NATURAL_WIDTH = 1_300.0  # pixels: up to this the picture fits a screen and reads from left to right
_SHELF = 1_500.0  # pixels of a row of groups: a wide screen
_BETWEEN_GROUPS = 40.0  # pixels; more than between boxes, so that groups are seen as such


@dataclass(frozen=True, slots=True)
class Size:
    width: float
    height: float
    along: float
    """Between two layers."""
    across: float
    """Between two boxes of a layer."""


NORMAL = Size(216, 50, 64, 14)
_DOWNWARD = Size(216, 50, 52, 20)
COMPACT = Size(150, 22, 44, 6)


@dataclass(slots=True)
class Scene:
    """Boxes by their upper left corner, edges as SVG paths."""

    box: Size = NORMAL
    width: float = 0.0
    height: float = 0.0
    boxes: dict[int, Point] = field(default_factory=dict)
    paths: dict[Edge, str] = field(default_factory=dict)
    left_out: int = 0
    """Edges not drawn because there are too many."""


@dataclass(frozen=True, slots=True)
class _Group:
    """The layout of a group of connected tasks, with origin (0, 0)."""

    width: float
    height: float
    boxes: dict[int, Point]
    lines: dict[Edge, list[Point]]


def compose(diagram: Diagram) -> Scene:
    layers = diagram.layers()
    depth = {number: step for step, layer in enumerate(layers) for number in layer}
    bends = sum(
        max((depth[other] - depth[number] - 1 for other in diagram.frees[number]), default=0) for number in depth
    )
    lines = bends + sum(map(len, diagram.frees.values()))
    if len(depth) > _MAX_TASKS or len(layers) > _MAX_LAYERS or lines > _MAX_LINES:
        return _compact(diagram, layers)
    groups = sorted(diagram.groups(), key=lambda layers: len(layers) == 1)
    grids = [arrange(diagram, group) for group in groups]
    down = _downward(grids)
    scene = Scene(box=_DOWNWARD if down else NORMAL)
    _pack(scene, [_lay_out(grid, scene.box, down=down) for grid in grids], down=down)
    for before, number in diagram.closing:
        scene.paths[before, number] = _detour(scene, before, number)
    return scene


def _downward(grids: Iterable[Grid]) -> bool:
    """Whether the largest group looks better from top to bottom than from left to right."""
    largest = max(grids, key=lambda grid: len(grid.tasks), default=None)
    if largest is None:
        return False
    deep, broad = len(largest.columns), max(map(len, largest.columns))
    width = deep * (NORMAL.width + NORMAL.along)
    rightward = width / (broad * (NORMAL.height + NORMAL.across))
    downward = broad * (_DOWNWARD.width + _DOWNWARD.across) / (deep * (_DOWNWARD.height + _DOWNWARD.along))
    if width <= _NATURAL_WIDTH:
        return False
    return abs(math.log(downward / _GOOD_RATIO)) < abs(math.log(rightward / _GOOD_RATIO))


def _lay_out(grid: Grid, box: Size, *, down: bool) -> _Group:
    deep, broad = (box.height, box.width) if down else (box.width, box.height)

    def breadth(node: int) -> float:
        return _BEND if grid.is_bend(node) else broad

    middle = place(grid, lambda upper, lower: (breadth(upper) + breadth(lower)) / 2 + box.across)
    shift = -min(at - breadth(node) / 2 for node, at in enumerate(middle))
    extent = max(at + breadth(node) / 2 for node, at in enumerate(middle)) + shift
    start: dict[int, float] = {}
    length = 0.0
    for column in grid.columns:
        start |= dict.fromkeys(column, length)
        steep = max((abs(middle[node] - middle[other]) for node in column for other in grid.after[node]), default=0)
        length += deep + min(max(box.along, steep * _SLOPE), box.along * 3)

    def turned(along: float, across: float) -> Point:
        return (across, along) if down else (along, across)

    boxes = {number: turned(start[node], middle[node] + shift - broad / 2) for node, number in enumerate(grid.tasks)}
    lines = {}
    for path in grid.paths():
        points = []
        for node in path:
            across = middle[node] + shift
            points += [turned(start[node], across), turned(start[node] + deep, across)]
        lines[grid.tasks[path[0]], grid.tasks[path[-1]]] = points[1:-1]
    return _Group(*turned(length - box.along, extent), boxes, lines)


def _pack(scene: Scene, groups: list[_Group], *, down: bool) -> None:
    """Place the groups side by side, in rows as wide as the widest group or a screen."""
    limit = max([_SHELF, *(group.width for group in groups)])
    left = top = shelf = 0.0
    for group in groups:
        if left and left + group.width > limit:
            left, top, shelf = 0.0, top + shelf, 0.0
        scene.boxes |= {number: (left + x, top + y) for number, (x, y) in group.boxes.items()}
        for edge, points in group.lines.items():
            scene.paths[edge] = curve([(left + x, top + y) for x, y in points], down=down)
        scene.width = max(scene.width, left + group.width)
        scene.height = max(scene.height, top + group.height)
        between = _BETWEEN_GROUPS if len(group.boxes) > 1 else scene.box.across
        left += group.width + between
        shelf = max(shelf, group.height + between)


def curve(points: list[Point], *, down: bool) -> str:
    """Return a smooth SVG path; every second stretch, past the boxes of a layer, is straight."""
    parts = [f"M{_at(points[0])}"]
    for stretch, ((x, y), (to_x, to_y)) in enumerate(pairwise(points)):
        if stretch % 2:
            parts.append(f"L{_at((to_x, to_y))}")
        elif down:
            half = (to_y - y) / 2
            parts.append(f"C{_at((x, y + half))} {_at((to_x, to_y - half))} {_at((to_x, to_y))}")
        else:
            half = (to_x - x) / 2
            parts.append(f"C{_at((x + half, y))} {_at((to_x - half, to_y))} {_at((to_x, to_y))}")
    return "".join(parts)


def _detour(scene: Scene, before: int, number: int) -> str:
    """Route an edge that closes a cycle, and so leads back, below the boxes."""
    half = scene.box.width / 2
    (x, y), (to_x, to_y) = scene.boxes[before], scene.boxes[number]
    start, end = (x + half, y + scene.box.height), (to_x + half, to_y + scene.box.height)
    low = max(start[1], end[1]) + scene.box.height
    scene.height = max(scene.height, low)
    return f"M{_at(start)}C{_at((start[0], low))} {_at((end[0], low))} {_at(end)}"


def _compact(diagram: Diagram, layers: list[list[int]]) -> Scene:
    """Place small boxes in columns; each layer begins a new column unless there are very many."""
    box = COMPACT
    rows = math.ceil(math.sqrt(len(diagram.tasks) * (box.width + box.along) / (box.height + box.across)))
    flowing = [number for layer in layers for number in layer]
    batches = layers if len(layers) * rows < 3 * len(flowing) else [flowing]
    chunks = [chunk for batch in batches for chunk in _chunks(batch, rows)]
    scene = Scene(box=box)
    for column, chunk in enumerate(chunks):
        for row, number in enumerate(chunk):
            scene.boxes[number] = column * (box.width + box.along), row * (box.height + box.across)
    scene.width = len(chunks) * (box.width + box.along) - box.along
    scene.height = max(map(len, chunks)) * (box.height + box.across) - box.across
    edges = diagram.edges()
    if len(edges) > _MAX_EDGES:
        scene.left_out = len(edges)
        return scene
    for before, number in edges:
        (x, y), (to_x, to_y) = scene.boxes[before], scene.boxes[number]
        start, end = (x + box.width, y + box.height / 2), (to_x, to_y + box.height / 2)
        bow = box.along * 0.8
        scene.paths[before, number] = (
            f"M{_at(start)}C{_at((start[0] + bow, start[1]))} {_at((end[0] - bow, end[1]))} {_at(end)}"
        )
    return scene


def _chunks(numbers: list[int], size: int) -> Iterable[list[int]]:
    rest = iter(numbers)
    while chunk := list(islice(rest, size)):
        yield chunk


def _at(point: Point) -> str:
    return f"{shown(point[0])},{shown(point[1])}"


def shown(number: float) -> str:
    """Format a number for SVG, to a tenth of a pixel."""
    return f"{number:.1f}".removesuffix(".0")
