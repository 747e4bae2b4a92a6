"""When a pass pays: it writes the cache anew once, and every request after it reads less."""

from outlive.context.passes.plan import PassInput, digest_tokens, tail_of, unit_tokens
from outlive.context.passes.user_words import at_most

WRITE = 12.5
"""What writing a token to the cache costs, in reads of one."""
FOLDED = 0.15
"""About what the digest gains for each token that is folded, besides the user's words."""


def mark(after: float, fixed: float, arrived: float, requests: float) -> float:
    """The size of a request from which on a pass has paid for itself after so many more.

    It would leave `after` tokens. What is `fixed`, the system prompt and the tools, is read from the cache either
    way, and what `arrived` since the last request is written either way.
    """
    written = max(after - fixed - arrived, 0.0)
    return (WRITE * written + fixed + arrived + requests * after) / (requests + 1)


def left_by_pass(given: PassInput) -> float:
    """About how many tokens a pass would leave, a full tail at least; costs a look at what is in the view."""
    start = tail_of(given, given.budget.tail)
    tokens = given.overhead + digest_tokens(given.projection)
    for unit in given.units[given.folded : start]:
        words = sum(min(piece.tokens, at_most(piece)) for piece in unit.pieces if piece.kind == "user")
        tokens += words + FOLDED * (unit.tokens - words)
    tail = sum(unit_tokens(unit, given.projection) for unit in given.units[start:])
    return tokens + max(tail, given.budget.tail)
