"""A policy applied to a window: the marks in tokens."""

from msgspec import Struct

from outlive.context.policy import Policy

SMALLEST_GAIN, GAIN_TOKENS = 0.06, 2_500
"""A pass that frees less of the window than this, or less than so many tokens, is not worth a broken cache."""
LARGEST_TAIL = 0.27
"""Of a small window: ten thousand tokens would leave no room for what came before."""


class Budget(Struct, frozen=True):
    """The marks of one session, in tokens as the provider counts them."""

    window: int
    engage: int
    payback: int
    target: int
    cold: int
    tail: int
    skeleton: int
    words: int
    lines: int
    price: float
    lines_of_past: float
    recalled: int
    recalled_units: int
    spool: int
    hard: int
    state: int
    gain: int


def budget_for(window: int, policy: Policy) -> Budget:
    """The marks of `policy` in a window of that many tokens."""
    tail = max(policy.tail * window, min(policy.tail_tokens, LARGEST_TAIL * window))
    return Budget(
        window=window,
        engage=round(policy.engage * window),
        payback=policy.payback,
        target=round(policy.target * window),
        cold=round(min(policy.cold * window, policy.cold_tokens)),
        tail=round(tail),
        skeleton=round(policy.skeleton * window),
        words=round(policy.words * window),
        lines=round(min(policy.lines * window, policy.lines_tokens)),
        price=policy.price,
        lines_of_past=policy.lines_of_past,
        recalled=round(policy.recalled * window),
        recalled_units=policy.recalled_units,
        spool=round(policy.spool * window),
        hard=round(policy.hard * window),
        state=round(max(policy.state * window, policy.state_tokens)),
        gain=round(min(SMALLEST_GAIN * window, GAIN_TOKENS)),
    )
