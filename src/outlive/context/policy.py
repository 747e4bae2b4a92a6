"""Policies: how eager the ladder is, as data. Shares are parts of the window; the numbers come from bench/context.

Every number of a policy has a range, and some have an order among them: a policy that breaks one of these cannot be
made. The constants at the end are not for users to set.
"""

from functools import cache
from typing import Annotated, get_args, get_type_hints

from msgspec import Struct

from outlive.errors import ConfigError

CACHE_SECONDS = 300.0  # the shorter of the two lifetimes of Anthropic's cache
MOST_TOKENS = 1_000_000_000  # above any window: no limit
WEEK = 604_800.0  # seconds; no cache lives longer


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
            "or as soon as it breaks even within this many requests, which are smaller after it (0: never for that)",
            0,
            10_000,
            whole=True,
        ),
    ] = 16
    target: Annotated[
        float,
        Number("No pass aims below this share of the window; what is worth its price may fill more"),
    ] = 0.1
    cold: Annotated[float, Number("A cold cache is rewritten anyway, so a pass already starts above this share")] = (
        0.3
    )
    cold_tokens: Annotated[int, _tokens("or above this many tokens, where that is less")] = 20_000
    tail: Annotated[float, Number("What is recent stays whole at a pass: this share of the window")] = 0.08
    tail_tokens: Annotated[
        int, _tokens("or this many tokens, where that is more (at most a fifth of a small window)")
    ] = 8_000
    skeleton: Annotated[
        float, Number("Older units that keep their calls in place while results shrink; the rest is folded", 0, 0.5)
    ] = 0.0
    price: Annotated[
        float,
        Number(
            "Lines are kept by last mention while their reuse score per token is above this (from 200k on 2/3 of it)"
        ),
    ] = 0.0075
    lines_of_past: Annotated[float, Number("at most this share of what they stand for")] = 0.4
    lines: Annotated[float, Number("at most this share of the window")] = 0.4
    lines_tokens: Annotated[int, _tokens("and at most this many tokens")] = 40_000
    words: Annotated[float, Number("The user's own words stay verbatim up to this share")] = 0.15
    recalled: Annotated[float, Number("What was recalled stays whole up to this share", 0, 0.5)] = 0.1
    recalled_units: Annotated[int, Number("while it is among this many newest units", 0, 10_000, whole=True)] = 24
    spool: Annotated[
        float, Number("What arrives at once is shown whole if it fits at all, else as previews of at most this share")
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


LEAN = Policy(name="lean", engage=0.7, price=0.02, lines=0.15)
MEDIUM = Policy(name="medium", engage=0.8, price=0.012, lines=0.25)
RICH = Policy(name="rich")
MAX = Policy(
    name="max",
    payback=0,
    price=0.001,
    lines=0.5,
    lines_tokens=120_000,
    cold=0.5,
    cold_tokens=100_000,
)
POLICIES = {policy.name: policy for policy in (LEAN, MEDIUM, RICH, MAX)}


class Budget(Struct, frozen=True):
    """The marks of a policy in one window, in tokens."""

    window: int
    engage: int
    break_even: int
    """Requests within which a pass has to pay for itself."""
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
    tail = max(policy.tail * window, min(policy.tail_tokens, TAIL_OF_SMALL_WINDOW * window))
    return Budget(
        window=window,
        engage=round(policy.engage * window),
        break_even=policy.payback,
        target=round(policy.target * window),
        cold=round(min(policy.cold * window, policy.cold_tokens)),
        tail=round(tail),
        skeleton=round(policy.skeleton * window),
        words=round(policy.words * window),
        lines=round(min(policy.lines * window, policy.lines_tokens)),
        price=policy.price * _price_factor(window),
        lines_of_past=policy.lines_of_past,
        recalled=round(policy.recalled * window),
        recalled_units=policy.recalled_units,
        spool=round(policy.spool * window),
        hard=round(policy.hard * window),
        state=round(max(policy.state * window, policy.state_tokens)),
        gain=round(min(SMALLEST_GAIN * window, GAIN_TOKENS)),
    )


def _price_factor(window: int) -> float:
    """What a large window does to the price of a line."""
    share = (window - LARGE_WINDOW) / LARGE_WINDOW
    return 1 - min(1.0, max(0.0, share)) * (1 - LARGE_WINDOW_PRICE)


# -- when a pass engages

SMALLEST_GAIN, GAIN_TOKENS = 0.06, 2_500
"""A pass that frees less of the window than this, or less than so many tokens, is not worth a broken cache."""
ASKED_GAIN = 0.02
"""Of the window: what a pass on request must free."""
CACHE_READ = 0.1
"""Cache-read price divided by the plain input price."""
CACHE_WRITE = 12.5
"""Cache-write price divided by cache-read price."""
MERGE_REQUESTS = 16
"""Requests within which a digest pays that is written again to leave out what nobody needs any more."""
MOST_SEGMENTS = 16
"""Parts of a digest; one more, and they are merged."""
FOLDED_SHARE = 0.15
"""Estimated digest tokens per folded token, besides the user's words."""
ATTEMPTS = 2
"""Passes for one request that the provider refuses as too long; then an error names what fills the floor."""

# -- how far it goes

COLD_TAIL = 0.25
"""Of the usual tail: a pass on a cold cache goes further, because everything that it leaves is written to the cache.
After a break the newest results are seldom needed whole, and each further step makes the tail longer again."""

SOON = 3
"""Units within which a second pass shows that the first was not deep enough."""
SHALLOW, DEEP = 0.92, 0.82
"""Of the high-water mark: chosen lines may fill the view up to there; DEEP for a second pass so soon."""
SAFE = 0.985
"""Of the hard limit: a squeezed view stays below this, because a plan is an estimate."""
TAIL_OF_SMALL_WINDOW = 0.2
"""Of a small window: ten thousand tokens would leave no room for what came before."""
TAIL_MOST = 1.25
"""Of the tail: one more unit must not make it larger than this."""
FEWEST_LINES = 0.03
"""Of the window: what chosen lines get however crowded it is."""
LARGE_WINDOW, LARGE_WINDOW_PRICE = 100_000, 2 / 3
"""Tokens above which the price of a line falls, and to which part of it at twice as many: there is room, and passes
are few."""
EXCESS = 0.02
"""A plan this much above its goal is made a second time, with less room for lines."""
POOL_PRICE = 0.25
"""Of the price: folded lines that are worth less are not looked at again, as lines lose with age."""
PINNED_SHARE = 2 / 3
"""Of the room for the user's words: results kept whole on request; the token count may be corrected later."""

# -- how texts shrink

STUB_GAIN = 0.85
"""A result is only replaced when its stub is at most this part of it."""
LONG_ANSWER, SHORT_ANSWER = 700.0, 420.0
"""Tokens from which on an old answer is shortened, and what it is shortened to."""
LABELLED = 60
"""Units whose handles are named even where no line of them is kept: what was looked at lately, at a glance."""
TELLING = 20
"""Newest results of a digest of which a line is kept at any price, if one is unlike the others there."""
LONG_LINE, LINE_PART = 360, 200
"""Characters from which on a line is chosen in parts, and the characters of a part."""
WALL = 2_000.0
"""Tokens above which a text of a harness is a wall. A memory is none: it is meant for all that follows."""
SMALLEST_WORDS, SMALLEST_INJECTED = 120.0, 24.0
"""Tokens that even the longest text of the user keeps, or of a harness."""
SMALLEST_PREVIEW = 500.0
"""Tokens: a preview should be worth reading, even if another result could be whole without it."""
PREVIEW_HEAD = 0.6
"""Of a preview: what its beginning gets; the rest is for the end."""
DIGEST_ROOM = 0.12
"""Of the window: where previews are needed anyway, they leave this much for a digest with some lines in it."""
OBJECT_ROW, SHORTENED_ROW, WORDS_ROW = 16.0, 14.0, 16.0
"""Tokens of a picture in the digest, of the mark below a shortened text, of what stands beside a text of the user."""
STATE_FAR = 20_000.0
"""Tokens after which the whole state is told again, though it has not changed: models lose sight of what is far."""

# -- summaries of a model

SUMMARY_TOKENS, SMALLEST_SUMMARY, SUMMARY_SHARE = 3_000, 500.0, 0.06
"""What is asked for; what is allowed at least; what is allowed of the window."""
SUMMARY_TRUST = 0.5
"""Of its lines: if fewer survive the checks, the whole is not trusted."""
SUMMARY_NEAR = 0.85
"""Of the mark of the next pass: from here on a provider may write its summary, so that nobody waits for it."""

# -- what a line is worth: how likely a name in it is spelled by a later call. Set by hand from a regression on
# recorded sessions; they matter far less than the rule that only the last mention counts.

USED, USED_RECENTLY, TYPED, REPORTED = 10.0, 2.4, 3.3, 4.0
"""A call spelled the name; lately; the user typed it; it stood in a sub-agent's report."""
NUMBER, HEX, CAPITALS, QUOTED = 0.22, 0.15, 0.7, 0.5
"""It looks like a number, like a hash, is all capitals, or is a quoted string."""
RECENT = 60_000
"""Tokens of log that count as recent."""
FILE_RECENT, STALE_READ = 1.2, 0.35
"""Its file was used recently; its file was changed after this look at it."""
AGE_POWER, SIZE_POWER, TIMES_POWER = -0.38, -0.18, 0.6
"""Of the log since, of the piece around it, and of how often it was seen."""
CROWD_POWER = -0.4
"""Names in a long list are used less often than names that stand alone."""
ALIKE_POWER = -0.5
"""Of how many lines of a result look alike: nothing tells which of them will be needed."""
LINE_USED = 1.8
"""Another name of the line was spelled by a call."""
EDITED, PRESERVED, OPEN_TASK, FOCUS, THOUGHT = 1.5, 3.0, 3.0, 3.0, 0.5
"""Lines of a file edited lately, to be preserved, of an open task, of a manual pass's focus; lines of thinking."""
RETURNS, PRIOR = 35e-6, 500_000.0
"""Names that come back for each token of digest in a request, on recorded sessions; tokens that this is worth."""
PRICE_FACTOR = (0.5, 8.0)
"""What a session's own record may do to the price of a line."""
EDITED_FILES = 6
"""Files that count as edited lately."""
