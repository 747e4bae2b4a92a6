"""The reuse score: how likely a later tool call spells a name, and so what the line of its last mention is worth.

The factors multiply (policy.py). Lines compete by their score per token and leave when it falls below the price of
the policy (`price`; 0.0075 in the default policy).
"""

from outlive.context import policy
from outlive.context.log.pieces import Line, Piece
from outlive.context.passes.lines.name_index import NameIndex, NameRecord
from outlive.context.passes.lines.names import shape_score


def price_factor(index: NameIndex) -> float:
    """Factor on the price of a line: high if this session seldom uses names from folded lines again."""
    index.catch_up()
    expected = policy.RETURNS * (index.carried + policy.PRIOR)
    low, high = policy.PRICE_FACTOR
    return min(max(expected / (index.returns + policy.RETURNS * policy.PRIOR), low), high)


def place_score(index: NameIndex, piece: Piece) -> float:
    """The part of the score that depends on the piece: its age, its size, and whether its file still matters."""
    age = max(index.tokens - piece.at, 1000.0) / 1000.0
    score: float = age**policy.AGE_POWER * (max(piece.tokens, 50.0) / 50.0) ** policy.SIZE_POWER
    if piece.file:
        if index.tokens - index.file_used.get(piece.file, -1e9) < policy.RECENT:
            score *= policy.FILE_RECENT
        if index.is_stale(piece):
            score *= policy.STALE_READ
    return score


def name_score(index: NameIndex, name: str, seen: NameRecord) -> float:
    """The part that depends on the name; cached until the name is mentioned again."""
    if not seen.score:
        seen.score = shape_score(name) * seen.times**policy.TIMES_POWER
        for factor, holds in ((policy.USED, seen.used), (policy.TYPED, seen.typed), (policy.REPORTED, seen.reported)):
            seen.score *= factor if holds else 1.0
    recent = seen.used and index.tokens - seen.used_at < policy.RECENT
    return seen.score * policy.USED_RECENTLY if recent else seen.score


def line_value(index: NameIndex, line: Line, place: float) -> float:
    """The sum over the names of which this line is the last mention."""
    if (
        line.valued_at < index.settled_at
        or line.id in index.changed
        or index.tokens >= line.until
        or not (line.used or index.first_used.isdisjoint(line.names))
    ):
        _sum_up(index, line)
    if not line.live:
        return 0.0
    if line.live > 1:
        place *= line.live**policy.CROWD_POWER
    return line.worth * place * (policy.LINE_USED if line.used else 1.0)


def _sum_up(index: NameIndex, line: Line) -> None:
    """What the names of a line are worth: the same until one of them is mentioned again or its use is not recent."""
    known, id = index.names, line.id
    value, live, used, until = 0.0, 0, False, float("inf")
    for name in line.names:
        seen = known[name]
        is_used = seen.used > 0
        used = used or is_used
        if seen.line == id:
            value += seen.score if seen.score and not is_used else name_score(index, name, seen)
            live += 1
            if is_used and index.tokens - seen.used_at < policy.RECENT:
                until = min(until, seen.used_at + policy.RECENT - 1)  # one less: never too late
    line.worth, line.live, line.used, line.until = value, live, used, until
