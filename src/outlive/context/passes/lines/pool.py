"""The pool: folded lines that later passes choose from again.

Each pass logs how it changed, so that a resumed session need not choose again at every pass of its past.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby

from outlive.context.log.pieces import Line, Piece
from outlive.context.passes.lines.name_index import NameIndex
from outlive.context.passes.lines.select import best, score
from outlive.context.policy import POOL_PRICE, Budget
from outlive.events import PoolChange

Key = tuple[int, int]
Members = dict[Key, set[int]]
"""Lines of a pool, by piece: which of its lines, counted from 0."""


class LineCache:
    """Lines of pieces as objects, so that they are made and valued once in a pass."""

    def __init__(self) -> None:
        self._known: dict[Key, list[Line]] = {}

    def of(self, piece: Piece) -> list[Line]:
        """All lines of a piece."""
        key = piece.key
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = piece.lines
        return found

    def clear(self) -> None:
        """Forget all of them."""
        self._known.clear()


def choose_pool(index: NameIndex, lines: Iterable[Line], budget: Budget) -> list[Line]:
    """The lines worth looking at again, in order."""
    price = POOL_PRICE * budget.price
    return best(score(index, lines, lambda _: 1.0, price), max(budget.lines, budget.target), price)


def pool_change(before: Sequence[Line], now: Sequence[Line], after: int) -> PoolChange:
    """How to come from one pool to the next; `after` 0: write it whole."""
    if not after:
        return PoolChange(added=_packed(now))
    old, new = {line.id for line in before}, {line.id for line in now}
    added = _packed(line for line in now if line.id not in old)
    return PoolChange(after, added, _packed(line for line in before if line.id not in new))


def pool_of(changes: Iterable[PoolChange], pieces: Mapping[Key, Piece]) -> list[Line]:
    """The pool after these changes, oldest first. Lines that are lost with their event are left out."""
    members: Members = {}
    for change in changes:
        for piece, places in _unpacked(change.dropped, pieces):
            members.get(piece.key, set()).difference_update(places)
        for piece, places in _unpacked(change.added, pieces):
            members.setdefault(piece.key, set()).update(places)
    found = (pieces[key].some_lines(at, at + 1) for key, places in members.items() for at in places)
    return sorted(chain.from_iterable(found), key=lambda line: line.id)


def _packed(lines: Iterable[Line]) -> tuple[int, ...]:
    """Lines in order as `PoolChange` has them."""
    packed: list[int] = []
    last = 0
    for piece, of_piece in groupby(lines, lambda line: line.piece):
        runs: list[int] = []
        end = 0
        for line in of_piece:
            if runs and line.at == end:
                runs[-1] += 1
            else:
                runs += (line.at - end, 1)
            end = line.at + 1
        packed += (piece.event - last, piece.block, len(runs) // 2, *runs)
        last = piece.event
    return tuple(packed)


def _unpacked(packed: Sequence[int], pieces: Mapping[Key, Piece]) -> Iterable[tuple[Piece, Iterable[int]]]:
    """Known pieces and which of their lines. What makes no sense (a log can be damaged) is passed over."""
    at = event = 0
    while at + 3 <= len(packed):
        event, block, count = event + packed[at], packed[at + 1], max(packed[at + 2], 0)
        runs = packed[at + 3 : at + 3 + 2 * count]
        at += 3 + 2 * count
        piece = pieces.get((event, block))
        if piece is None:
            continue
        end = 0
        for gap, length in zip(runs[::2], runs[1::2], strict=False):
            start = end + max(gap, 0)
            end = start + max(length, 0)
            yield piece, range(start, min(end, len(piece.named)))
