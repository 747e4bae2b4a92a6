"""The odds that a name will be spelled by a later tool call: the value of keeping the line of its last mention.

The factors multiply (policy.py). Lines compete by these odds, and leave when their odds per token fall below the
price of the policy (0.006: of such tokens one in five thousand is needed again).
"""

from outlive.context import policy
from outlive.context.passes.name_index import NameIndex, NameRecord
from outlive.context.passes.names import shape_odds
from outlive.context.pieces import Line, Piece


def price_factor(index: NameIndex) -> float:
    """How much more than usual a token must promise in this session, by what came back of what was carried along."""
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
    """What is known about the name itself."""
    odds = shape_odds(name)
    if seen.times > 1:
        odds *= seen.times**policy.TIMES_POWER
    if seen.used:
        odds *= policy.USED
        if index.tokens - seen.used_at < policy.RECENT:
            odds *= policy.USED_RECENTLY
    if seen.typed:
        odds *= policy.TYPED
    if seen.reported:
        odds *= policy.REPORTED
    return odds


def line_value(index: NameIndex, line: Line, place: float) -> float:
    """The sum over the names of which this line is the last mention."""
    known = index.names
    value, live, used = 0.0, 0, False
    for name in line.names:
        seen = known[name]
        used = used or seen.used > 0
        if seen.line == line.id:
            value += name_odds(index, name, seen)
            live += 1
    if not live:
        return 0.0
    if live > 1:
        place *= live**policy.CROWD_POWER
    return value * place * (policy.LINE_USED if used else 1.0)
