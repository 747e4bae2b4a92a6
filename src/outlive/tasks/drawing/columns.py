"""The layered terminal picture: a column for each step, lines between them, from left to right."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from outlive.printable import one_line
from outlive.stores.tasks.records import Task
from outlive.tasks.drawing import channels
from outlive.tasks.drawing.diagram import Diagram
from outlive.tasks.drawing.grid import Grid, arrange
from outlive.tasks.drawing.marks import mark
from outlive.tasks.drawing.placing import place
from outlive.tasks.drawing.text import cells, shorten, wrap

Style = Callable[[str, Task], str]

_MAX_ROWS = 60  # a taller picture is not read on a terminal; the list is shown instead
_LINES = (1, 2, 3)
_SUBJECT_AT_LEAST = (16, 12, 11)
_MAX_WORD_COLUMNS = 14  # longer words may be broken, so that one of them does not widen its column
_HEAD = "▸ "
_GAP_COLUMNS = 2  # between a subject and the lines that leave it


@dataclass(frozen=True, slots=True)
class _Channel:
    nets: list[channels.Net]
    tracks: list[int]

    @property
    def width(self) -> int:
        return max(self.tracks, default=-1) + 2


@dataclass(slots=True)
class _Canvas:
    """Lines that grow from left to right. Style adds to their length but not to their width."""

    lines: list[str] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def put(self, row: int, at: int, text: str, shown: str | None = None) -> None:
        while row >= len(self.lines):
            self.lines.append("")
            self.ends.append(0)
        self.lines[row] += " " * (at - self.ends[row]) + (text if shown is None else shown)
        self.ends[row] = at + cells(text)


def columns(diagram: Diagram, layers: list[list[int]], *, width: int, style: Style) -> list[str] | None:
    """Draw connected tasks, or return None if they do not fit. Subjects take as few lines as show them whole."""
    if max(map(len, layers)) > _MAX_ROWS or len(layers) * _SUBJECT_AT_LEAST[-1] > width:
        return None
    grid = arrange(diagram, layers)
    best = None
    for lines, least in zip(_LINES, _SUBJECT_AT_LEAST, strict=True):
        rows = _rows(grid, lines)
        routed = _route(grid, rows, lines)
        if routed is None or max(rows) >= _MAX_ROWS:
            break
        room = width - sum(_GAP_COLUMNS + channel.width + len(_HEAD) for channel in routed)
        if shared := _share(diagram, grid, room, lines, least):
            widths, whole = shared
            best = (lines, rows, routed, _tightened(diagram, grid, widths, lines))
            if whole:
                break
    return _paint(diagram, grid, *best, style) if best else None


def _height(grid: Grid, node: int, lines: int) -> int:
    return 1 if grid.is_bend(node) else lines


def _rows(grid: Grid, lines: int) -> list[int]:
    rows = [0] * len(grid.before)
    places = place(grid, lambda upper, _: _height(grid, upper, lines))
    for column in grid.columns:
        free = 0
        for node in column:
            rows[node] = max(free, round(places[node]))
            free = rows[node] + _height(grid, node, lines)
    return rows


def _route(grid: Grid, rows: list[int], lines: int) -> list[_Channel] | None:
    """Find tracks channel by channel; where two lines block each other, nodes of a column move down a row."""
    result: list[_Channel] = []
    for left, right in pairwise(grid.columns):
        while True:
            nets = channels.nets({rows[node]: [rows[other] for other in grid.after[node]] for node in left})
            tracks = channels.tracks(nets)
            if not isinstance(tracks, int):
                result.append(_Channel(nets, tracks))
                break
            if max(rows[node] for node in right) > _MAX_ROWS:
                return None
            free = tracks + 1
            for node in right:
                if rows[node] >= tracks:
                    rows[node] = max(free, rows[node])
                    free = rows[node] + _height(grid, node, lines)
    return result


def _lead(task: Task) -> str:
    return f"{mark(task)} {task.id} "


def _tasks(diagram: Diagram, grid: Grid, column: list[int]) -> list[Task]:
    return [diagram.tasks[grid.tasks[node]] for node in column if not grid.is_bend(node)]


def _share(diagram: Diagram, grid: Grid, room: int, lines: int, least: int) -> tuple[list[int], bool] | None:
    """Return the width of each column and whether all subjects are whole; None if there is not enough room."""
    flat, whole, enough = [], [], []
    for column in grid.columns:
        tasks = _tasks(diagram, grid, column)
        flat.append(max(_wanted(task, 1) for task in tasks))
        whole.append(max(_wanted(task, lines) for task in tasks))
        enough.append(min(whole[-1], max(len(_lead(task)) for task in tasks) + least))
    if sum(enough) > room:
        return None
    fits = sum(whole) <= room
    low, high = (whole, flat) if fits else (enough, whole)
    most = max(high)
    while True:
        widths = [max(min(upper, most), lower) for lower, upper in zip(low, high, strict=True)]
        if sum(widths) <= room:
            return widths, fits
        most -= 1


def _tightened(diagram: Diagram, grid: Grid, widths: list[int], lines: int) -> list[int]:
    """The columns without what their wrapped labels leave free on the right."""
    return [
        max(
            cells(lead) + max(map(cells, rest))
            for task in _tasks(diagram, grid, column)
            for lead, rest in [_label(task, width, lines)]
        )
        for column, width in zip(grid.columns, widths, strict=True)
    ]


def _label(task: Task, width: int, lines: int) -> tuple[str, list[str]]:
    """Return mark and id, and the subject wrapped to fit beside them."""
    lead = _lead(task)
    return lead, wrap(one_line(task.subject), width - len(lead), lines) or [""]


def _wanted(task: Task, lines: int) -> int:
    """Return the smallest width that shows the whole subject in so many lines without breaking normal words."""
    subject = one_line(task.subject)
    longest = max(map(cells, subject.split()), default=1)
    width = max(cells(subject) // lines, min(longest, _MAX_WORD_COLUMNS), 1)
    while "".join(wrap(subject, width, lines)).replace(" ", "") != subject.replace(" ", ""):
        width += 1
    return len(_lead(task)) + width


def _paint(
    diagram: Diagram, grid: Grid, lines: int, rows: list[int], routed: list[_Channel], widths: list[int], style: Style
) -> list[str]:
    canvas = _Canvas()
    start = 0
    for step, (column, width) in enumerate(zip(grid.columns, widths, strict=True)):
        for node in column:
            row = rows[node]
            if grid.is_bend(node):
                canvas.put(row, start - len(_HEAD), "─" * (len(_HEAD) + width + _GAP_COLUMNS))
                continue
            if step:
                canvas.put(row, start - len(_HEAD), _HEAD)
            _write(canvas, diagram.tasks[grid.tasks[node]], row, start, width, lines, style)
            if grid.after[node]:
                canvas.put(row, canvas.ends[row] + 1, "─" * (start + width + _GAP_COLUMNS - canvas.ends[row] - 1))
        start += width + _GAP_COLUMNS
        if step < len(routed):
            channel = routed[step]
            for row, text in channels.draw(channel.nets, channel.tracks, channel.width).items():
                canvas.put(row, start, text)
            start += channel.width + len(_HEAD)
    return [line.rstrip() for line in canvas.lines]


def _write(canvas: _Canvas, task: Task, row: int, at: int, width: int, lines: int, style: Style) -> None:
    lead, (first, *others) = _label(task, width, lines)
    text = shorten(lead + first, width).rstrip()
    canvas.put(row, at, text, style(text, task))
    for below, line in enumerate(others, start=1):
        canvas.put(row + below, at + len(lead), line, style(line, task))
