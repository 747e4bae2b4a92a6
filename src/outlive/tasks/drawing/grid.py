"""A layered layout without sizes: tasks in columns by depth, long edges bent in every column, few crossings."""

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from outlive.tasks.drawing.diagram import Diagram

_MAX_SWEEPS = 24  # fewer in a large graph, so that a picture is drawn while the user waits
_MAX_IDLE_SWEEPS = 6  # without fewer crossings: the order has settled
_MAX_SWAPPED = 1_500
"""Nodes and edges."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Nodes below `len(tasks)` are the tasks, the others are bends of long edges.

    All edges of a task share their bends: they leave it as one line that forks.
    """

    tasks: list[int]
    columns: list[list[int]]
    before: list[list[int]]
    after: list[list[int]]

    def is_bend(self, node: int) -> bool:
        return node >= len(self.tasks)

    def paths(self) -> list[list[int]]:
        """Return each edge as the nodes it passes, from the dependency to its dependent."""
        result = []
        for task in range(len(self.tasks)):
            for node in self.before[task]:
                path = [task, node]
                while self.is_bend(path[-1]):
                    path.append(self.before[path[-1]][0])
                result.append(path[::-1])
        return result


def arrange(diagram: Diagram, layers: Sequence[Sequence[int]]) -> Grid:
    """Build the grid of these layers, ordered so that few edges cross."""
    tasks = [number for layer in layers for number in layer]
    grid = Grid(tasks, [[] for _ in layers], [[] for _ in tasks], [[] for _ in tasks])
    node_of = {number: node for node, number in enumerate(tasks)}
    depth = {}
    for place, layer in enumerate(layers):
        for number in layer:
            depth[node_of[number]] = place
            grid.columns[place].append(node_of[number])
    for number, node in node_of.items():
        _lead_on(grid, node, [node_of[other] for other in diagram.frees[number]], depth)
    _order(grid)
    return grid


def _lead_on(grid: Grid, node: int, targets: list[int], depth: dict[int, int]) -> None:
    by_depth: dict[int, list[int]] = {}
    for target in targets:
        by_depth.setdefault(depth[target], []).append(target)
    last = max(by_depth, default=0)
    for column in range(depth[node] + 1, last + 1):
        reached = by_depth.get(column, [])
        if column < last:
            bend = len(grid.before)
            grid.before.append([])
            grid.after.append([])
            grid.columns[column].append(bend)
            reached = [*reached, bend]
        for other in reached:
            grid.after[node].append(other)
            grid.before[other].append(node)
        node = reached[-1]


def _order(grid: Grid) -> None:
    """Sort the columns by the barycentre of their neighbours, in both directions, and keep the best order."""
    size = len(grid.before) + sum(map(len, grid.before))
    sweeps = min(_MAX_SWEEPS, max(4, 100_000 // (size + 1)))
    best, fewest, idle = [*map(list, grid.columns)], crossings(grid), 0
    for turn in range(sweeps):
        if not fewest or idle >= _MAX_IDLE_SWEEPS:
            break
        _sweep(grid, forward=turn % 2 == 0)
        if size <= _MAX_SWAPPED:
            _swap(grid)
        now = crossings(grid)
        idle = idle + 1 if now >= fewest else 0
        if now < fewest:
            best, fewest = [*map(list, grid.columns)], now
    grid.columns[:] = best


def crossings(grid: Grid) -> int:
    total = 0
    for column, following in pairwise(grid.columns):
        place = {node: index for index, node in enumerate(following)}
        seen: list[int] = []
        for node in column:
            ends = [place[other] for other in grid.after[node]]
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _sweep(grid: Grid, *, forward: bool) -> None:
    columns = grid.columns if forward else grid.columns[::-1]
    neighbours = grid.before if forward else grid.after
    for fixed, column in pairwise(columns):
        place = {node: float(index) for index, node in enumerate(fixed)}
        scale = len(fixed) / len(column)
        centre = {}
        for index, node in enumerate(column):
            near = [place[other] for other in neighbours[node]]
            centre[node] = sum(near) / len(near) if near else index * scale
        column.sort(key=centre.__getitem__)


def _swap(grid: Grid) -> None:
    """Swap neighbours in a column where that saves crossings, which barycentres miss."""
    places = [0] * len(grid.before)
    for column in grid.columns:
        for index, node in enumerate(column):
            places[node] = index
    for column in grid.columns:
        for index in range(len(column) - 1):
            upper, lower = column[index : index + 2]
            saved = 0
            for side in (grid.before, grid.after):
                ends = [places[other] for other in side[upper]], [places[other] for other in side[lower]]
                saved += sum((one > two) - (one < two) for one in ends[0] for two in ends[1])
            if saved > 0:
                column[index], column[index + 1] = lower, upper
                places[upper], places[lower] = index + 1, index
