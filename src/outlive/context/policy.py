"""Policies: how eager the ladder is, as data. Shares are parts of the window; the numbers come from bench/context.

Every number has a range, and some have an order among them: a policy that breaks one of these cannot be made.
"""

from functools import cache
from typing import Annotated, get_args, get_type_hints

from msgspec import Struct

from outlive.errors import ConfigError

CACHE_SECONDS = 300.0
MOST_TOKENS = 1_000_000_000
WEEK = 604_800.0


class Number(Struct, frozen=True):
    """What a number of a policy means and which values it may have."""

    about: str
    low: float = 0
    high: float = 1
    whole: bool = False

    @property
    def range(self) -> str:
        """For people."""
        return f"{'a whole number ' if self.whole else ''}from {self.low:,g} to {self.high:,.12g}"


def _tokens(about: str) -> Number:
    return Number(about, 0, MOST_TOKENS, whole=True)


class Policy(Struct, frozen=True, kw_only=True):
    """When a pass engages, how far down it goes and what it keeps on the way."""

    name: str = "own"
    engage: Annotated[float, Number("High-water mark: a pass starts above this share of the window", 0.05)] = 0.88
    payback: Annotated[
        int,
        Number(
            "or as soon as it pays for itself within this many requests, which read less after it (0: not for that)",
            0,
            10_000,
            whole=True,
        ),
    ] = 16
    target: Annotated[
        float, Number("Low-water mark, where the tail, the user's words and the lines leave a choice")
    ] = 0.1
    cold: Annotated[float, Number("A cold cache is rewritten anyway, so a pass already starts above this share")] = (
        0.3
    )
    cold_tokens: Annotated[int, _tokens("or above this many tokens, where that is less")] = 20_000
    tail: Annotated[float, Number("What is recent stays whole: this share of the window")] = 0.15
    tail_tokens: Annotated[
        int, _tokens("or this many tokens, where that is more (at most about a quarter of a small window)")
    ] = 10_000
    skeleton: Annotated[
        float, Number("Older units that keep their calls in place while results shrink; the rest is folded", 0, 0.5)
    ] = 0.005
    price: Annotated[
        float, Number("Lines are kept by last mention while their odds per token to be needed again are above this")
    ] = 0.006
    lines_of_past: Annotated[float, Number("at most this share of what they stand for")] = 0.2
    lines: Annotated[float, Number("at most this share of the window")] = 0.25
    lines_tokens: Annotated[int, _tokens("and at most this many tokens")] = 30_000
    words: Annotated[float, Number("The user's own words stay verbatim up to this share")] = 0.15
    recalled: Annotated[float, Number("What was recalled stays whole up to this share", 0, 0.5)] = 0.1
    recalled_units: Annotated[int, Number("while it is among this many newest units", 0, 10_000, whole=True)] = 24
    spool: Annotated[
        float, Number("What arrives at once is shown whole if it fits at all; up to this share nobody asks")
    ] = 0.25
    hard: Annotated[float, Number("No request is ever larger than this share", 0.1)] = 0.97
    state: Annotated[float, Number("Room for the state block: this share of the window", 0, 0.5)] = 0.02
    state_tokens: Annotated[int, _tokens("or this many tokens, where that is more")] = 400
    cache_seconds: Annotated[float, Number("How long the provider's cache lives after a request", 0, WEEK)] = (
        CACHE_SECONDS
    )

    def __post_init__(self) -> None:
        if problem := _problem(self):
            raise ConfigError(f"policy {self.name!r}: {problem}")


@cache
def numbers() -> dict[str, Number]:
    """The numbers of a policy by name."""
    hints = get_type_hints(Policy, include_extras=True)
    return {name: get_args(hint)[1] for name, hint in hints.items() if name != "name"}


ORDER = (("target", "engage"), ("tail", "engage"), ("engage", "hard"))
"""Pairs of which the first is smaller: a pass starts at `engage`, below what may be sent at all, and has to get
somewhere from there."""


def _problem(policy: Policy) -> str:
    """What is wrong with the numbers of a policy, or nothing."""
    for name, number in numbers().items():
        value: object = getattr(policy, name)
        kinds = (int,) if number.whole else (int, float)
        good = isinstance(value, kinds) and not isinstance(value, bool) and number.low <= value <= number.high
        if not good:  # nan is in no range
            return f"{name} = {value!r} cannot be; it is {number.range}"
    for low, high in ORDER:
        value, limit = getattr(policy, low), getattr(policy, high)
        if value >= limit:
            return f"{low} = {value!r} cannot be; it is below {high}, which is {limit!r}"
    return ""


LEAN = Policy(name="lean", engage=0.7, price=0.015, lines=0.1)
MEDIUM = Policy(name="medium", engage=0.8, price=0.01, lines=0.18)
RICH = Policy(name="rich")
MAX = Policy(
    name="max",
    payback=0,
    price=0.001,
    lines_of_past=0.4,
    lines=0.35,
    lines_tokens=120_000,
    cold=0.5,
    cold_tokens=100_000,
)
POLICIES = {policy.name: policy for policy in (LEAN, MEDIUM, RICH, MAX)}
