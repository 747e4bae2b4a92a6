"""Choosing lines: the last mention is the keeper.

A line is worth the score of the names of which it is the last mention; a name that occurs in a newer line is worth
nothing in an older one. One price for the whole region: the best value per token goes first, and what is worth less
than it costs to carry along is not kept, even if there is room.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter

from outlive.context.log.pieces import Line, Piece
from outlive.context.passes.lines.name_index import NameIndex
from outlive.context.passes.lines.reuse_score import line_value, place_score
from outlive.context.passes.lines.shapes import shares_of_alike

_id = attrgetter("id")
Weigh = Callable[[Piece], float]
Scored = list[tuple[float, int, Line]]
"""Value per token and number of the line, both negative, so that plain sorting puts the best and the newest first."""


@dataclass(slots=True)
class Choice:
    """The lines that stay, by piece, in order."""

    by_piece: dict[tuple[int, int], list[Line]] = field(default_factory=dict)
    cost: float = 0.0
    count: int = 0

    def of(self, piece: Piece) -> list[Line]:
        return self.by_piece.get(piece.key, [])


def score(index: NameIndex, lines: Iterable[Line], weigh: Weigh, price: float = 0.0) -> Scored:
    """Lines with any value that are worth their price, the densest first; ties go to the newer line. Alike
    lines of a list are worth less."""
    index.catch_up()
    scored: Scored = []
    piece: Piece | None = None
    now, place, weight = index.pieces, -1.0, 0.0
    shares: Mapping[int, float] = {}
    for line in lines:
        if not line.names:
            continue
        if line.piece is not piece:
            piece = line.piece
            place, weight, shares = -1.0, weigh(piece), shares_of_alike(piece)
        if line.valued_at != now:
            if place < 0:
                place = place_score(index, piece)
            line.value, line.valued_at = line_value(index, line, place), now
        value = line.value
        if value > 0:
            density = value * weight * shares.get(line.id - piece.first_line, 1.0) / line.cost
            if density >= price:
                scored.append((-density, -line.id, line))
    scored.sort()
    return scored


def take(
    scored: Scored,
    budget: float,
    opening: Callable[[Piece], float],
    price: float = 0.0,
    first: Sequence[Line] = (),
) -> Choice:
    """The lines that go `first`, and the best others that are worth their price, as far as they fit.

    The first line of a piece also pays for its label (`opening`).
    """
    by_piece: dict[Piece, list[Line]] = {}
    spent, count = 0.0, 0
    taken = {line.id for line in first}
    ahead = ((-math.inf, -line.id, line) for line in first)
    for density, _, line in chain(ahead, (entry for entry in scored if entry[2].id not in taken)):
        if -density < price:
            break
        kept = by_piece.get(line.piece)
        cost = line.cost + (0.0 if kept else opening(line.piece))
        if spent + cost > budget:
            if budget - spent < 8:
                break
            continue
        spent += cost
        count += 1
        if kept:
            kept.append(line)
        else:
            by_piece[line.piece] = [line]
    for kept in by_piece.values():
        if len(kept) > 1:
            kept.sort(key=_id)
    return Choice({piece.key: kept for piece, kept in by_piece.items()}, spent, count)


def best(scored: Scored, budget: float, price: float) -> list[Line]:
    """The lines worth looking at again in a later pass, in order; the rest will not come back."""
    kept = []
    for density, _, line in scored:
        budget -= line.cost
        if budget < 0 or -density < price:
            break
        kept.append(line)
    kept.sort(key=_id)
    return kept
