"""The odds that a name will be spelled by a later tool call: the value of keeping the line of its last mention.

The factors multiply (policy.py). Lines compete by these odds, and leave when their odds per token fall below the
price of the policy (`price`; 0.0075 in the default policy).
"""

from outlive.context import policy
from outlive.context.passes.name_index import NameIndex, NameRecord
from outlive.context.passes.names import shape_odds
from outlive.context.pieces import Line, Piece


def price_factor(index: NameIndex) -> float:
    """How much more than usual a token must promise in this session, by what came back of what was carried along."""
    index.catch_up()
    expected = policy.RETURNS * (index.carried + policy.PRIOR)
    low, high = policy.PRICE_FACTOR
    return min(max(expected / (index.returns + policy.RETURNS * policy.PRIOR), low), high)


def piece_odds(index: NameIndex, piece: Piece) -> float:
    """What a name's place says: how old it is, how much stood beside it, whether its file still matters."""
    age = max(index.tokens - piece.at, 1000.0) / 1000.0
    odds: float = age**policy.AGE_POWER * (max(piece.tokens, 50.0) / 50.0) ** policy.SIZE_POWER
    if piece.file:
        if index.tokens - index.file_used.get(piece.file, -1e9) < policy.RECENT:
            odds *= policy.FILE_RECENT
        if index.is_stale(piece):
            odds *= policy.STALE_READ
    return odds


def name_odds(index: NameIndex, name: str, seen: NameRecord) -> float:
    """What is known about the name itself. Kept until the name is mentioned again, but for how recent its use is."""
    if not seen.odds:
        seen.odds = shape_odds(name) * seen.times**policy.TIMES_POWER
        for factor, holds in ((policy.USED, seen.used), (policy.TYPED, seen.typed), (policy.REPORTED, seen.reported)):
            seen.odds *= factor if holds else 1.0
    recent = seen.used and index.tokens - seen.used_at < policy.RECENT
    return seen.odds * policy.USED_RECENTLY if recent else seen.odds


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
            value += seen.odds if seen.odds and not is_used else name_odds(index, name, seen)
            live += 1
            if is_used and index.tokens - seen.used_at < policy.RECENT:
                until = min(until, seen.used_at + policy.RECENT - 1)  # one less: never too late
    line.worth, line.live, line.used, line.until = value, live, used, until
