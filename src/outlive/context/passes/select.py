"""Choosing lines: the last mention is the keeper.

A line is worth the odds of the names of which it is the last mention; a name that occurs in a newer line is worth
nothing in an older one. One price for the whole region: the best value per token goes first, and what is worth less
than it costs to carry along is not kept, whatever room is left.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from outlive.context.passes.name_index import NameIndex
from outlive.context.passes.reuse_score import line_value, piece_odds
from outlive.context.pieces import Line, Piece

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


def score(index: NameIndex, lines: Iterable[Line], weigh: Weigh) -> Scored:
    """Lines with any value, the densest first; ties go to the newer line."""
    scored: Scored = []
    piece: Piece | None = None
    now, place, weight = index.pieces, 0.0, 0.0
    for line in lines:
        if not line.names:
            continue
        if line.piece is not piece:
            piece = line.piece
            place, weight = piece_odds(index, piece), weigh(piece)
        if line.valued_at != now:
            line.value, line.valued_at = line_value(index, line, place), now
        if line.value > 0:
            scored.append((-line.value * weight / line.cost, -line.id, line))
    scored.sort()
    return scored


def take(scored: Scored, budget: float, opening: Callable[[Piece], float], price: float = 0.0) -> Choice:
    """The best lines that fit and are worth their price. The first of a piece also pays for its label (`opening`)."""
    choice = Choice()
    by_piece = choice.by_piece
    for density, _, line in scored:
        if -density < price:
            break
        key = line.piece.key
        cost = line.cost + (0.0 if key in by_piece else opening(line.piece))
        if choice.cost + cost > budget:
            if budget - choice.cost < 8:
                break
            continue
        choice.cost += cost
        choice.count += 1
        by_piece.setdefault(key, []).append(line)
    for kept in by_piece.values():
        kept.sort(key=lambda line: line.id)
    return choice


def best(scored: Scored, budget: float, price: float) -> list[Line]:
    """The lines worth looking at again in a later pass, in order; the rest will not come back."""
    kept = []
    for density, _, line in scored:
        budget -= line.cost
        if budget < 0 or -density < price:
            break
        kept.append(line)
    kept.sort(key=lambda line: line.id)
    return kept
