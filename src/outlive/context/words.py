"""The user's own words: verbatim up to their share of the window. Walls of text give way first, short words last."""

import re
from collections.abc import Sequence

from outlive.context.bones import GAP, handles
from outlive.context.pieces import Line, Piece

SMALLEST = 120.0
"""Tokens that even the longest text keeps."""
_RULE = re.compile(r"\b(always|never|don'?t|do not|must|only|prefer|from now on|make sure|avoid)\b", re.IGNORECASE)


def allowance(sizes: Sequence[float], total: float) -> float:
    """The size above which texts are shortened, so that all of them together fit into `total`."""
    if sum(sizes) <= total:
        return float("inf")
    left, remaining = total, len(sizes)
    for size in sorted(sizes):
        if size * remaining > left:
            return max(left / remaining, SMALLEST)
        left -= size
        remaining -= 1
    return float("inf")


def shorten(piece: Piece, room: float, kept: Sequence[Line] = ()) -> str:
    """Beginning and end, every line that sounds like a rule, and what was chosen besides; the rest by handle."""
    chosen = {line.id: line for line in kept}
    used = sum(line.cost for line in kept)
    rules = [line for line in piece.lines if _RULE.search(line.text)]
    ends = [line for pair in zip(piece.lines, reversed(piece.lines), strict=True) for line in pair]
    for line in [*piece.lines[:3], *rules, *ends]:
        if line.id not in chosen and used + line.cost <= room:
            chosen[line.id] = line
            used += line.cost
    return "\n".join([*_rows(piece, sorted(chosen)), f"[shortened; whole text: {handles(piece)}]"])


def _rows(piece: Piece, ids: Sequence[int]) -> list[str]:
    by_id = {line.id: line for line in piece.lines}
    rows: list[str] = []
    last: Line | None = None
    for line in (by_id[number] for number in ids):
        if last is not None and line.number == last.number:
            rows[-1] += line.text if line.start == last.end else GAP + line.text
        else:
            if last is not None and line.number > last.number + 1:
                between = piece.text[last.end : line.start]
                rows.append(GAP if between.strip() else "")
            rows.append(line.text)
        last = line
    return rows
