"""The odds that a name will be spelled by a later tool call: the value of keeping the line of its last mention.

The factors multiply (policy.py). Lines compete by these odds, and leave when their odds per token fall below the
price of the policy (0.006: of such tokens one in five thousand is needed again).
"""

from outlive.context.passes.name_index import NameIndex, NameRecord
from outlive.context.passes.names import shape_odds
from outlive.context.pieces import Line, Piece
from outlive.context.policy import (
    AGE_POWER,
    CROWD_POWER,
    FILE_RECENT,
    LINE_USED,
    RECENT,
    REPORTED,
    SIZE_POWER,
    STALE_READ,
    TIMES_POWER,
    TYPED,
    USED,
    USED_RECENTLY,
)


def piece_odds(index: NameIndex, piece: Piece) -> float:
    """What a name's place says: how old it is, how much stood beside it, whether its file still matters."""
    age = max(index.tokens - piece.at, 1000.0) / 1000.0
    odds: float = age**AGE_POWER * (max(piece.tokens, 50.0) / 50.0) ** SIZE_POWER
    if piece.file:
        if index.tokens - index.file_used.get(piece.file, -1e9) < RECENT:
            odds *= FILE_RECENT
        if index.is_stale(piece):
            odds *= STALE_READ
    return odds


def name_odds(index: NameIndex, name: str, seen: NameRecord) -> float:
    """What is known about the name itself."""
    odds = shape_odds(name)
    if seen.times > 1:
        odds *= seen.times**TIMES_POWER
    if seen.used:
        odds *= USED
        if index.tokens - seen.used_at < RECENT:
            odds *= USED_RECENTLY
    if seen.typed:
        odds *= TYPED
    if seen.reported:
        odds *= REPORTED
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
        place *= live**CROWD_POWER
    return value * place * (LINE_USED if used else 1.0)
