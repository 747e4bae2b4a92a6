"""Positions of the nodes within their columns: near their neighbours, in order, without overlap."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import inf

from outlive.tasks.drawing.grid import Grid

_MAX_ROUNDS = 10  # even, so that both directions count the same; the last four balance both sides
_BEND_TO_BEND = 6.0  # weights: long edges are to be straight, above all where they pass other layers
_BEND_TO_TASK = 2.0  # against 1 between two tasks
_NEAR_SHARE = 0.15  # of the distance between nodes: an offset this small would look like a mistake

Apart = Callable[[int, int], float]
"""The minimum distance between two adjacent nodes of a column."""


def place(grid: Grid, apart: Apart) -> list[float]:
    """Return the position of each node along its column; the smallest is 0."""
    places = [0.0] * len(grid.before)
    offsets = [_offsets(column, apart) for column in grid.columns]
    for column, spread in zip(grid.columns, offsets, strict=True):
        for node, offset in zip(column, spread, strict=True):
            places[node] = offset
    for turn in range(_MAX_ROUNDS):
        step = 1 if turn % 2 == 0 else -1
        # The first rounds use one side only, to propagate the shape; the last ones balance both sides.
        sides = [grid.before, grid.after] if turn >= _MAX_ROUNDS - 4 else [(grid.before, grid.after)[turn % 2]]
        for column, spread in zip(grid.columns[::step], offsets[::step], strict=True):
            pulls = [_pull(grid, node, sides, places) for node in column]
            for node, at in zip(column, _settled(pulls, spread), strict=True):
                places[node] = at
    _straighten(grid, places, apart)
    least = min(places, default=0.0)
    return [at - least for at in places]


def _offsets(column: list[int], apart: Apart) -> list[float]:
    result = [0.0]
    for upper, lower in pairwise(column):
        result.append(result[-1] + apart(upper, lower))
    return result


def _pull(
    grid: Grid, node: int, sides: Sequence[Sequence[Sequence[int]]], places: list[float]
) -> tuple[float, float]:
    """Return the position that the neighbours want, and its weight. Bends weigh most, to keep long edges straight."""
    total = strength = 0.0
    for side in sides:
        for other in side[node]:
            bends = grid.is_bend(node) + grid.is_bend(other)
            weight = (1.0, _BEND_TO_TASK, _BEND_TO_BEND)[bends]
            total += weight * places[other]
            strength += weight
    return (total / strength, strength) if strength else (places[node], 0.1)


def _settled(pulls: list[tuple[float, float]], offsets: list[float]) -> list[float]:
    """Isotonic regression: return the positions closest to the wanted ones that keep order and distance."""
    blocks: list[tuple[float, float, int]] = []
    for (wanted, weight), offset in zip(pulls, offsets, strict=True):
        at, strength, count = wanted - offset, weight, 1
        while blocks and blocks[-1][0] >= at:
            other_at, other_strength, other_count = blocks.pop()
            at = (at * strength + other_at * other_strength) / (strength + other_strength)
            strength += other_strength
            count += other_count
        blocks.append((at, strength, count))
    settled = [at for at, _, count in blocks for _ in range(count)]
    return [at + offset for at, offset in zip(settled, offsets, strict=True)]


def _straighten(grid: Grid, places: list[float], apart: Apart) -> None:
    """Align the nodes of a chain as far as their neighbours in the columns leave room."""
    lower: dict[int, int] = {}
    upper: dict[int, int] = {}
    for column in grid.columns:
        for one, other in pairwise(column):
            lower[one], upper[other] = other, one

    def room(node: int) -> tuple[float, float]:
        above, below = upper.get(node), lower.get(node)
        return (
            -inf if above is None else places[above] + apart(above, node),
            inf if below is None else places[below] - apart(node, below),
        )

    for chain in sorted(_chains(grid), key=len, reverse=True):
        reach = apart(chain[0], chain[0]) * _NEAR_SHARE
        run: list[int] = []
        low, high = -inf, inf
        for node in chain:
            top, bottom = room(node)
            if run and max(low, top) > min(high, bottom):
                _level(grid, run, places, (low, high), reach)
                run, low, high = [], -inf, inf
            run.append(node)
            low, high = max(low, top), min(high, bottom)
        _level(grid, run, places, (low, high), reach)


def _level(grid: Grid, run: list[int], places: list[float], room: tuple[float, float], reach: float) -> None:
    """Give the run one position: the median, or that of a neighbour which is almost in line."""
    common = sorted(places[node] for node in run)[len(run) // 2]
    common = min(max(common, room[0]), room[1])
    near = [places[other] for other in (*grid.before[run[0]], *grid.after[run[-1]])]
    wanted = min(near, key=lambda place: abs(place - common), default=common)
    if abs(wanted - common) <= reach and room[0] <= wanted <= room[1]:
        common = wanted
    for node in run:
        places[node] = common


def _chains(grid: Grid) -> Iterator[list[int]]:
    """Partition the nodes into chains that should be aligned: bends of an edge, tasks in sequence."""
    follower: dict[int, int] = {}
    for node, nexts in enumerate(grid.after):
        last = nexts[-1] if nexts else node
        alone = len(nexts) == 1 and len(grid.before[last]) == 1
        if alone or (grid.is_bend(node) and grid.is_bend(last) and last != node):
            follower[node] = last
    led = set(follower.values())
    for node in range(len(grid.before)):
        if node not in led:
            chain = [node]
            while chain[-1] in follower:
                chain.append(follower[chain[-1]])
            yield chain
