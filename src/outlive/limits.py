"""Limits of a run, each of which may give a reason to stop, and what to tell a model whose answer was not
complete."""

import json
from collections import deque
from collections.abc import Sequence
from hashlib import sha256
from typing import Protocol

from msgspec import Struct

from outlive.messages import ToolCall, plain_text
from outlive.models.protocol import Reply
from outlive.models.sanitize import valid_name
from outlive.request import Request
from outlive.tools.protocol import ToolOutcome

MAX_ROUND_STEPS = 5
"""Cycles of up to this many steps are detected when they repeat."""
CONTINUE = "<harness>Your answer was cut off at its length limit. Go on exactly where it ended.</harness>"
CUT_CALL = (
    "<harness>Your answer was cut off at its length limit while you wrote a call to {name}, so it was not run. "
    "Call it again with less at once.</harness>"
)
NOTHING_SAID = "<harness>Your answer was empty. Say what you found, or go on with the work.</harness>"
CALL_AS_TEXT = (
    "<harness>Your answer contains text that looks like a tool call. It was not run: {reason}. To run a tool, call "
    "it through the tool interface, or answer with one JSON object and nothing else: the key name with the name of "
    "the tool, and the key arguments with an object of its arguments. If it was not meant as a call, give your "
    "answer again without it.</harness>"
)
MAX_EMPTY_ANSWERS = 3
"""In a row; the last one ends the run."""
MAX_CUT_ANSWERS = 4
"""Answers without a call that are cut off at their length limit, in a row; the last one ends the run."""


class Round(Struct, frozen=True):
    """One round of the loop: its calls and their outcomes."""

    calls: tuple[ToolCall, ...]
    outcomes: tuple[ToolOutcome, ...]


class Limit:
    """Base of all limits: never a reason to stop."""

    name = ""
    """The value of `RunResult.limit`; the same as the option that sets it, if there is one."""
    shared = False
    """Whether sub-agents share it with their parent."""
    seconds: float | None = None
    """The run is stopped this long after its start, even in the middle of a call."""

    def before(self, request: Request) -> str:
        """Why this request may not be sent, else empty."""
        return ""

    def spent(self) -> str:
        """Why no request outside of the conversation may be sent (a summary, memories), else empty."""
        return ""

    def count(self) -> None:
        """Count a request outside of the conversation."""

    def after(self, step: Round) -> str:
        """Why the run ends after this round, else empty."""
        return ""

    def hint(self) -> str:
        """What to tell the model before its next request, once."""
        return ""


class Spent(Protocol):
    """Usage so far."""

    @property
    def dollars(self) -> float: ...

    @property
    def tokens(self) -> int: ...


class Turns(Limit):
    """Limits the requests of one run, those for summaries and memories included."""

    name = "max_turns"

    def __init__(self, most: int) -> None:
        self.most = most
        self.made = 0

    def before(self, request: Request) -> str:
        if reason := self.spent():
            return reason
        self.count()
        return ""

    def spent(self) -> str:
        return f"the limit of {self.most} turns is reached" if self.made >= self.most else ""

    def count(self) -> None:
        self.made += 1


class DefaultTurns(Turns):
    """Limits the requests of a headless run for which nobody set a limit."""

    name = "default_turns"


class Money(Limit):
    """Limits the cost of one run in dollars."""

    name = "max_cost"
    shared = True

    def __init__(self, most: float, spending: Spent) -> None:
        self.most = most
        self.spending = spending
        self.start = spending.dollars

    def before(self, request: Request) -> str:
        return self.spent()

    def spent(self) -> str:
        spent = self.spending.dollars - self.start
        return f"${spent:.2f} are spent, the limit is ${self.most:.2f}" if spent >= self.most else ""


class Tokens(Limit):
    """Limits the tokens of one run, input and output."""

    name = "max_tokens"
    shared = True

    def __init__(self, most: int, spending: Spent) -> None:
        self.most = most
        self.spending = spending
        self.start = spending.tokens

    def before(self, request: Request) -> str:
        return self.spent()

    def spent(self) -> str:
        used = self.spending.tokens - self.start
        return f"{used:,} tokens are used, the limit is {self.most:,}" if used >= self.most else ""


class Time(Limit):
    """Limits the duration of one run, even in the middle of a call."""

    name = "max_time"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


class Repetition(Limit):
    """Detects a stuck model: the same step, or the same cycle of up to five steps, with the same outcomes.

    `most` repetitions end the run; halfway the model is told.
    """

    name = "repetition"

    def __init__(self, most: int = 6) -> None:
        self.most = most
        self._hint = ""
        self._last: deque[tuple[str, bytes]] = deque(maxlen=MAX_ROUND_STEPS)
        """The newest steps: their calls, and a digest of calls and outcomes."""
        self._repeats = dict.fromkeys(range(1, MAX_ROUND_STEPS + 1), 0)
        """Cycle length to the number of consecutive steps that equal the step one cycle before."""

    def after(self, step: Round) -> str:
        now = step.calls[0].name, _digest(step)
        for length in self._repeats:
            again = length <= len(self._last) and self._last[-length] == now
            self._repeats[length] = self._repeats[length] + 1 if again else 0
        self._last.append(now)
        if length := self._round(self.most):
            return f"the model {self._said(length, self.most)}"
        halfway = self.most // 2
        if halfway > 1 and (length := self._round(halfway)) and self._repeats[length] == length * (halfway - 1):
            reason = self._said(length, halfway)
            self._hint = f"you {reason}; the run ends after {self.most}. Try something else, or say what is missing"
        return ""

    def hint(self) -> str:
        hint, self._hint = self._hint, ""
        return hint

    def _round(self, times: int) -> int:
        """The shortest cycle that was repeated this often in a row; 0 if there is none."""
        return next((length for length, same in self._repeats.items() if same >= length * (times - 1)), 0)

    def _said(self, length: int, times: int) -> str:
        names = [name for name, _ in self._last][-length:]
        if length == 1:
            return f"called {names[0]} with the same outcome {times} times in a row"
        return f"made the same {length} steps ({', '.join(names)}) with the same outcomes {times} times in a row"


def _digest(step: Round) -> bytes:
    calls = [(call.name, call.input) for call in step.calls]
    text = json.dumps([calls, [outcome.text for outcome in step.outcomes]], sort_keys=True, default=repr)
    return sha256(text.encode("utf-8", "replace")).digest()


class Thrashing(Limit):
    """Detects pass after pass: the window is too small for what has to stay in it."""

    name = "window"

    def __init__(self, most: int = 6, of: int = 8) -> None:
        self.most = most
        self.passes: deque[bool] = deque(maxlen=of)

    def before(self, request: Request) -> str:
        self.passes.append(any(made.receipt.rungs != ("spool",) for made in request.passes))
        if sum(self.passes) < self.most:
            return ""
        passes = f"{sum(self.passes)} of the last {len(self.passes)} requests needed a compaction"
        return f"{passes}: the window is too small for this work; set a larger one, or use a model that has more"


class Nudges:
    """What the harness tells a model in one run if an answer without calls was not complete."""

    def __init__(self) -> None:
        self._empty = self._cut = 0
        self._told = False
        self.gave_up = ""
        """Why the last answer does not count as done although nothing more is said."""
        self.limit = ""
        """The name of the limit that was reached then."""

    def after(self, reply: Reply) -> str:
        """What to tell the model after this answer, else empty."""
        self._cut = self._cut + 1 if reply.stop == "length" else 0
        if self._cut == MAX_CUT_ANSWERS:
            return self._give_up("answer_length", f"{self._cut} answers in a row were cut off at their length limit")
        if reply.stop == "length":
            return CUT_CALL.format(name=valid_name(str(reply.cut_call), 64)) if reply.cut_call else CONTINUE
        self._empty = 0 if plain_text(reply.blocks).strip() else self._empty + 1
        if self._empty == MAX_EMPTY_ANSWERS:
            return self._give_up("empty_answers", f"the model gave {self._empty} empty answers in a row")
        if self._empty:
            return NOTHING_SAID
        near = reply.near_call
        if near and not self._told:
            self._told = True
            return CALL_AS_TEXT.format(reason=near.reason)
        if near and not near.may_be_prose:
            reason = f"the model writes tool calls as text that cannot be run: {near.reason}"
            return self._give_up("text_calls", reason)
        return ""

    def _give_up(self, limit: str, reason: str) -> str:
        self.limit, self.gave_up = limit, reason
        return ""


def run_limits(
    spending: Spent,
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
