"""The limits of one run, from options and settings."""

from collections.abc import Sequence

from outlive.agent.spending import Spending
from outlive.limits import DefaultTurns, Limit, Money, Repetition, Thrashing, Time, Tokens, Turns


def run_limits(
    spending: Spending,
    *,
    turns: int | None,
    default_turns: int | None,
    tokens: int | None,
    cost: float | None,
    seconds: float | None,
) -> Sequence[Limit]:
    """New limits for a run; None means no such limit. `default_turns` counts only without `turns`."""
    limits: list[Limit] = [Repetition(), Thrashing()]
    limits += [Turns(turns)] if turns else []
    limits += [DefaultTurns(default_turns)] if default_turns and not turns else []
    limits += [Tokens(tokens, spending)] if tokens else []
    limits += [Money(cost, spending)] if cost is not None else []
    limits += [Time(seconds)] if seconds is not None else []
    return limits
