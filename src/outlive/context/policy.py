"""Policies: how eager the ladder is, as data. Shares are parts of the window; the numbers come from bench/context."""

from msgspec import Struct

CACHE_SECONDS = 300.0


class Policy(Struct, frozen=True, kw_only=True):
    """When a pass engages, how far down it goes and what it keeps on the way."""

    name: str = "own"
    engage: float = 0.8
    """High-water mark: a pass starts above this."""
    target: float = 0.35
    """Low-water mark: one pass goes down to this."""
    cold: float = 0.2
    """With a cold cache everything is written anew anyway, so a pass already starts above this."""
    tail: float = 0.15
    tail_tokens: int = 10_000
    """What is recent stays whole: `tail` of the window, or this many tokens where that is more."""
    skeleton: float = 0.1
    """Older units that keep their calls in place while only results shrink; what is older still is folded."""
    lines: float = 0.15
    """What lines chosen by last mention get at least, however much of the window is taken by the rest."""
    words: float = 0.15
    """The user's own words stay verbatim up to this."""
    spool: float = 0.25
    """What arrives at once is shown whole as long as it fits; if not, previews may have this much."""
    hard: float = 0.97
    """No request is ever larger than this."""
    state: float = 0.02
    """Room for the state block."""
    state_tokens: int = 400
    """At least this many tokens for the state block."""
    cache_seconds: float = CACHE_SECONDS


LEAN = Policy(name="lean", engage=0.6, target=0.2)
MEDIUM = Policy(name="medium", engage=0.7, target=0.28)
RICH = Policy(name="rich", engage=0.8, target=0.4)
MAX = Policy(name="max", engage=0.9, target=0.6, cold=0.6)
POLICIES = {policy.name: policy for policy in (LEAN, MEDIUM, RICH, MAX)}
