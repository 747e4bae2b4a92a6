"""The lines between two columns of a terminal picture.

Lines that leave one task, or that lead only to one task, share a vertical line on its own track. Where it has no arm
to the left, it is drawn over the lines it crosses, so that each edge can be followed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_GLYPHS = {  # up, down, left, right
    (True, True, False, False): "│",
    (False, True, False, True): "╭",
    (False, True, True, False): "╮",
    (True, False, False, True): "╰",
    (True, False, True, False): "╯",
    (True, True, False, True): "├",
    (True, True, True, False): "┤",
    (False, True, True, True): "┬",
    (True, False, True, True): "┴",
    (True, True, True, True): "┼",
}


@dataclass(frozen=True, slots=True)
class Net:
    """The rows on the left and on the right that one line connects; one side has a single row."""

    sources: frozenset[int]
    targets: frozenset[int]

    @property
    def span(self) -> tuple[int, int]:
        rows = self.sources | self.targets
        return min(rows), max(rows)

    @property
    def straight(self) -> bool:
        return self.sources == self.targets


def nets(leads: Mapping[int, Iterable[int]]) -> list[Net]:
    """Group edges that share a line; `leads` maps a row on the left to rows on the right."""
    joined: dict[frozenset[int], set[int]] = {}
    for source, targets in leads.items():
        if rows := frozenset(targets):
            # ~source is negative and rows are not, so a forking line gets a key of its own.
            key = rows if len(rows) == 1 else rows | {~source}
            joined.setdefault(key, set()).add(source)
    return [Net(frozenset(sources), frozenset(row for row in key if row >= 0)) for key, sources in joined.items()]


def tracks(nets: Sequence[Net]) -> list[int] | int:
    """Return the track of each net, from the left, -1 for a straight one; or a row on the right that must move.

    On a row with a source and a target, the source must reach its track before another net turns into the row.
    """
    bent = [index for index, net in enumerate(nets) if not net.straight]
    owner = {row: index for index in bent for row in nets[index].sources}
    in_the_way = {
        index: {row: owner[row] for row in nets[index].targets if owner.get(row, index) != index} for index in bent
    }
    result = [-1] * len(nets)
    placed: set[int] = set()
    taken: list[list[tuple[int, int]]] = []
    while len(placed) < len(bent):
        stuck = [index for index in bent if index not in placed]
        free = [index for index in stuck if placed.issuperset(in_the_way[index].values())]
        if not free:
            return max(row for index in stuck for row, other in in_the_way[index].items() if other not in placed)
        for index in free:
            first = max((result[other] + 1 for other in in_the_way[index].values()), default=0)
            result[index] = _take(taken, first, nets[index].span)
        placed.update(free)
    return result


def _take(taken: list[list[tuple[int, int]]], first: int, span: tuple[int, int]) -> int:
    track = first
    while track < len(taken) and any(low <= span[1] and span[0] <= high for low, high in taken[track]):
        track += 1
    while len(taken) <= track:
        taken.append([])
    taken[track].append(span)
    return track


def draw(nets: Sequence[Net], tracks: Sequence[int], width: int) -> dict[int, str]:
    """Draw the lines row by row, `width` columns wide."""
    lines: dict[int, list[str]] = {}
    for net, track in zip(nets, tracks, strict=True):
        for row in net.sources:
            lines.setdefault(row, [" "] * width)[: max(track, 0)] = "─" * max(track, 0)
        for row in net.targets:
            lines.setdefault(row, [" "] * width)[max(track, 0) :] = "─" * (width - max(track, 0))
    for net, track in zip(nets, tracks, strict=True):
        top, bottom = net.span
        for row in range(top, bottom + 1) if track >= 0 else ():
            arms = (row > top, row < bottom, row in net.sources, row in net.targets)
            lines.setdefault(row, [" "] * width)[track] = _GLYPHS[arms]
    return {row: "".join(chars) for row, chars in sorted(lines.items())}
