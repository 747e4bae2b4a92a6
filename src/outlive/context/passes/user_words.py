"""The user's own words: verbatim up to their share of the window. Walls of text give way first, short words last.

What a harness put into the user's turn (reminders, notifications, listings) is not the user's words; it takes what
room they leave, and a wall of it is shortened however much room there is.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from outlive.context.log.pieces import Line, Piece
from outlive.context.passes.lines.names import cached
from outlive.context.passes.stubs import GAP, handles
from outlive.context.policy import SMALLEST_INJECTED, SMALLEST_WORDS, WALL
from outlive.instructions import standing

READ_FOR_RULES = 1_000
"""Lines of a wall that are read for standing instructions: each takes a tenth of a millisecond."""


def allowance(sizes: Sequence[float], total: float, smallest: float = SMALLEST_WORDS) -> float:
    """The size above which texts are shortened, so that all of them together fit into `total`."""
    if sum(sizes) <= total:
        return float("inf")
    left, remaining = total, len(sizes)
    for size in sorted(sizes):
        if size * remaining > left:
            return max(left / remaining, smallest)
        left -= size
        remaining -= 1
    return float("inf")


def is_injected(piece: Piece) -> bool:
    """Whether a text in the user's turn is not the user's own words: put there by a harness, or data beside them."""
    return piece.origin in ("harness", "hook", "memory", "stdin")


def is_own(piece: Piece) -> bool:
    """Whether these are words of the user, or of the agent that gave a sub-agent its task."""
    return piece.kind == "object" or piece.origin in ("user", "parent", "")


def at_most(piece: Piece) -> float:
    """Tokens that a text in the user's turn may have, however much room there is."""
    return WALL if piece.origin in ("harness", "hook") else float("inf")


def allowances(pieces: Iterable[Piece], total: float, whole: Piece | None = None) -> Callable[[Piece], float]:
    """How many tokens each of these texts may have. The user's own are served first; one may be `whole` anyway."""
    sizes: dict[bool, list[float]] = {False: [], True: []}
    for piece in pieces:
        if piece is not whole:
            sizes[is_injected(piece)].append(min(piece.tokens, at_most(piece)))
    own = allowance(sizes[False], total)
    left = max(total - sum(min(size, own) for size in sizes[False]), 0.0)
    injected = allowance(sizes[True], left, SMALLEST_INJECTED)

    def cap(piece: Piece) -> float:
        if piece is whole:
            return float("inf")
        return min(injected, at_most(piece)) if is_injected(piece) else own

    return cap


def shorten(piece: Piece, room: float, kept: Sequence[Line] = ()) -> str:
    """Beginning and end, every standing instruction, and what was chosen besides; the rest by handle."""
    places = tuple(line.at for line in kept)
    if piece.shortened is None or piece.shortened[:2] != (room, places):
        piece.shortened = room, places, _shortened(piece, room, kept)
    return piece.shortened[2]


def _shortened(piece: Piece, room: float, kept: Sequence[Line]) -> str:
    chosen = {line.at for line in kept}
    used = sum(line.cost for line in kept)
    costs, last = piece.costs, len(piece.named) - 1
    cheapest = min(costs, default=0.0)
    ends = (at for first in range(last + 1) for at in (first, last - first))
    for at in chain(range(min(3, last + 1)), _rules(piece), ends):
        if used + cheapest > room:
            break
        if at not in chosen and used + costs[at] <= room:
            chosen.add(at)
            used += costs[at]
    rows = _rows(piece, (line for at in sorted(chosen) for line in piece.some_lines(at, at + 1)))
    return "\n".join([*rows, f"[shortened; whole text: {handles(piece)}]"])


def read_rules(piece: Piece, most: int = READ_FOR_RULES) -> bool:
    """Look for standing instructions in some more lines of a piece; whether that were all."""
    start, end = piece.read_for_rules, min(len(piece.named), READ_FOR_RULES)
    piece.read_for_rules = min(start + most, end)
    piece.rules += tuple(at for at in range(start, piece.read_for_rules) if _is_rule(piece.line_text(at)))
    return piece.read_for_rules == end


@cached
def _is_rule(line: str) -> bool:
    """Whether a line is a standing instruction; harnesses put the same texts there again and again."""
    return bool(standing(line))


def _rules(piece: Piece) -> tuple[int, ...]:
    """Which lines are standing instructions."""
    read_rules(piece)
    return piece.rules


def _rows(piece: Piece, lines: Iterable[Line]) -> list[str]:
    rows: list[str] = []
    last: Line | None = None
    for line in lines:
        if last is not None and line.number == last.number:
            rows[-1] += line.text if line.start == last.end else GAP + line.text
        else:
            if last is not None and line.number > last.number + 1:
                between = piece.text[last.end : line.start]
                rows.append(GAP if between.strip() else "")
            rows.append(line.text)
        last = line
    return rows


class TextFinder:
    """Looks for many texts in a long one: they mostly stand in it in the order in which they are looked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def holds(self, wanted: str) -> bool:
        """Whether the text contains this one."""
        at = self._text.find(wanted, self._at)
        if at < 0:
            at = self._text.find(wanted, 0, self._at + len(wanted))
        else:
            self._at = at
        return at >= 0
