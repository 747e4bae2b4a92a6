"""Policies: how eager the ladder is, as data. Shares are parts of the window; the numbers come from bench/context."""

from msgspec import Struct

CACHE_SECONDS = 300.0


class Policy(Struct, frozen=True, kw_only=True):
    """When a pass engages, how far down it goes and what it keeps on the way."""

    name: str = "own"
    engage: float = 0.88
    engage_tokens: int = 85_000
    """High-water mark: a pass starts above this share of the window, or this many tokens where that is less."""
    gap_tokens: int = 30_000
    """But not before this much has come since the last pass, where the share of the window allows it."""
    target: float = 0.1
    """Low-water mark, where the tail, the user's words and the lines leave a choice."""
    cold: float = 0.3
    cold_tokens: int = 20_000
    """With a cold cache everything is written anew anyway, so a pass already starts above this."""
    tail: float = 0.15
    tail_tokens: int = 10_000
    """What is recent stays whole: `tail` of the window, or this many tokens where that is more."""
    skeleton: float = 0.005
    """Older units that keep their calls in place while only results shrink; what is older still is folded."""
    lines_of_past: float = 0.15
    lines: float = 0.25
    lines_tokens: int = 30_000
    """What lines chosen by last mention get: this share of what they stand for, at most this share of the window and
    this many tokens. A short past needs few lines, and a long one must not be squeezed into as many."""
    words: float = 0.15
    """The user's own words stay verbatim up to this."""
    recalled: float = 0.1
    recalled_units: int = 24
    """What was recalled within this many units stays whole, up to this share: whoever asked for it still needs it."""
    spool: float = 0.25
    """What arrives at once is shown whole as long as it fits at all; up to this much nobody even asks."""
    hard: float = 0.97
    """No request is ever larger than this."""
    state: float = 0.02
    """Room for the state block."""
    state_tokens: int = 400
    """At least this many tokens for the state block."""
    cache_seconds: float = CACHE_SECONDS


LEAN = Policy(name="lean", engage=0.7, engage_tokens=80_000, lines_of_past=0.06, lines=0.1)
MEDIUM = Policy(name="medium", engage=0.8, lines_of_past=0.1, lines=0.18)
RICH = Policy(name="rich")
MAX = Policy(
    name="max",
    engage_tokens=1_000_000,
    lines_of_past=0.4,
    lines=0.35,
    lines_tokens=120_000,
    cold=0.5,
    cold_tokens=100_000,
)
POLICIES = {policy.name: policy for policy in (LEAN, MEDIUM, RICH, MAX)}
