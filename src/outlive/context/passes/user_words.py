"""The user's own words: verbatim up to their share of the window. Walls of text give way first, short words last.

What a harness put into the user's turn (reminders, notifications, listings) is not the user's words; it takes what
room they leave, and a wall of it is shortened however much room there is.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from outlive.context.passes.stubs import GAP, handles
from outlive.context.pieces import Line, Piece
from outlive.context.policy import SMALLEST_INJECTED, SMALLEST_WORDS, WALL
from outlive.context.tokens import CHARS_PER_TOKEN
from outlive.instructions import standing

READ_FOR_RULES = 1_000
"""Lines of a wall that are read for standing instructions: each takes a tenth of a millisecond."""
CHEAPEST = 4 / CHARS_PER_TOKEN
"""Tokens of a line of one character: there is no smaller one."""


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
    """Whether a text in the user's turn was put there by a harness."""
    return piece.origin in ("harness", "hook", "memory")


def at_most(piece: Piece) -> float:
    """Tokens that a text in the user's turn may have, however much room there is."""
    return WALL if piece.origin in ("harness", "hook") else float("inf")


def allowances(pieces: Iterable[Piece], total: float) -> Callable[[Piece], float]:
    """How many tokens each of these texts may have. The user's own are served first."""
    sizes: dict[bool, list[float]] = {False: [], True: []}
    for piece in pieces:
        sizes[is_injected(piece)].append(min(piece.tokens, at_most(piece)))
    own = allowance(sizes[False], total)
    left = max(total - sum(min(size, own) for size in sizes[False]), 0.0)
    injected = allowance(sizes[True], left, SMALLEST_INJECTED)
    return lambda piece: min(injected, at_most(piece)) if is_injected(piece) else own


def shorten(piece: Piece, room: float, kept: Sequence[Line] = ()) -> str:
    """Beginning and end, every standing instruction, and what was chosen besides; the rest by handle."""
    chosen = {line.id: line for line in kept}
    used = sum(line.cost for line in kept)
    lines = piece.some_lines(0, len(piece.named))  # not kept in memory: a wall has very many
    rules = (lines[at] for at in _rules(piece))
    ends = (line for pair in zip(lines, reversed(lines), strict=True) for line in pair)
    for line in chain(lines[:3], rules, ends):
        if used + CHEAPEST > room:
            break
        if line.id not in chosen and used + line.cost <= room:
            chosen[line.id] = line
            used += line.cost
    rows = _rows(piece, (chosen[number] for number in sorted(chosen)))
    return "\n".join([*rows, f"[shortened; whole text: {handles(piece)}]"])


def _rules(piece: Piece) -> tuple[int, ...]:
    """Which lines are standing instructions; every pass asks again."""
    if piece.rules is None:
        piece.rules = tuple(
            at for at in range(min(len(piece.named), READ_FOR_RULES)) if standing(piece.line_text(at))
        )
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
