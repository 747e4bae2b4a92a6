"""When a pass breaks even: it rewrites the prompt cache once, and every later request reads less."""

from outlive.context.passes.plan import PassInput, digest_tokens, tail_of, unit_tokens
from outlive.context.passes.user_words import at_most

WRITE = 12.5
"""Cache-write price divided by cache-read price."""
FOLDED = 0.15
"""Estimated digest tokens per folded token, besides the user's words."""


def mark(after: float, fixed: float, arrived: float, requests: float) -> float:
    """Request size above which a pass pays for itself within `requests` further requests.

    The pass leaves `after` tokens. The `fixed` part (system prompt, tools) is read from the cache either way, and
    what `arrived` since the last request is written either way.
    """
    written = max(after - fixed - arrived, 0.0)
    return (WRITE * written + fixed + arrived + requests * after) / (requests + 1)


def left_by_pass(given: PassInput) -> float:
    """Estimate the tokens that a pass would leave, a full tail at least. Linear in the units of the view."""
    start = tail_of(given, given.budget.tail)
    tokens = given.overhead + digest_tokens(given.projection)
    for unit in given.units[given.folded : start]:
        words = sum(min(piece.tokens, at_most(piece)) for piece in unit.pieces if piece.kind == "user")
        tokens += words + FOLDED * (unit.tokens - words)
    tail = sum(unit_tokens(unit, given.projection) for unit in given.units[start:])
    return tokens + max(tail, given.budget.tail)
