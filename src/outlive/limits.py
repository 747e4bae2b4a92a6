"""Policies beside the loop: limits, each of which gives a reason to stop or nothing, and what to tell a model whose
answer was not complete."""

import json
from collections import deque
from hashlib import sha256
from typing import Protocol

from msgspec import Struct

from outlive.messages import ToolCall, plain_text
from outlive.models.protocol import Reply
from outlive.models.sanitize import valid_name
from outlive.request import Request
from outlive.tools.protocol import ToolOutcome

LONGEST_ROUND = 5
"""Steps: rounds up to this length are noticed when they repeat."""
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
EMPTY_ANSWERS = 2


class Round(Struct, frozen=True):
    """One round of the loop: what was called and what it came to."""

    calls: tuple[ToolCall, ...]
    outcomes: tuple[ToolOutcome, ...]


class Limit:
    """Base of all limits: never a reason to stop."""

    name = ""
    """As `RunResult.limit` says it; the same as the option that sets it, where there is one."""
    shared = False
    """Whether it holds for sub-agents together with the agent that sent them."""
    seconds: float | None = None
    """From the beginning of a run, after which it is stopped in the middle of whatever it does."""

    def before(self, request: Request) -> str:
        """Why this request may not go out."""
        return ""

    def after(self, step: Round) -> str:
        """Why there is no further round."""
        return ""

    def hint(self) -> str:
        """What the model has to know before its next request, once."""
        return ""


class Spent(Protocol):
    """What was used so far."""

    @property
    def dollars(self) -> float: ...

    @property
    def tokens(self) -> int: ...


class Turns(Limit):
    """At most so many requests in one run."""

    name = "max_turns"

    def __init__(self, most: int) -> None:
        self.most = most
        self.made = 0

    def before(self, request: Request) -> str:
        if self.made >= self.most:
            return f"the limit of {self.most} turns is reached"
        self.made += 1
        return ""


class Money(Limit):
    """At most so many dollars in one run."""

    name = "max_cost"
    shared = True

    def __init__(self, most: float, spending: Spent) -> None:
        self.most = most
        self.spending = spending
        self.start = spending.dollars

    def before(self, request: Request) -> str:
        spent = self.spending.dollars - self.start
        return f"${spent:.2f} are spent, the limit is ${self.most:.2f}" if spent >= self.most else ""


class Tokens(Limit):
    """At most so many tokens, in and out, in one run."""

    name = "max_tokens"
    shared = True

    def __init__(self, most: int, spending: Spent) -> None:
        self.most = most
        self.spending = spending
        self.start = spending.tokens

    def before(self, request: Request) -> str:
        used = self.spending.tokens - self.start
        return f"{used:,} tokens are used, the limit is {self.most:,}" if used >= self.most else ""


class Time(Limit):
    """At most so many seconds, be it in the middle of a call."""

    name = "max_time"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


class Repetition(Limit):
    """The same step, or the same round of up to five steps, with the same outcomes over and over: a stuck model.

    `most` rounds end the run; halfway the model is told.
    """

    name = "repetition"

    def __init__(self, most: int = 6) -> None:
        self.most = most
        self._hint = ""
        self._last: deque[tuple[str, bytes]] = deque(maxlen=LONGEST_ROUND)
        """The newest steps: what was called, and a digest of the calls with their outcomes."""
        self._repeats = dict.fromkeys(range(1, LONGEST_ROUND + 1), 0)
        """By length of a round: how many steps in a row equal the step one round before."""

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
            said = self._said(length, halfway)
            self._hint = f"you {said}; the run ends after {self.most}. Try something else, or say what is missing"
        return ""

    def hint(self) -> str:
        hint, self._hint = self._hint, ""
        return hint

    def _round(self, times: int) -> int:
        """The shortest round that was made so many times in a row, 0 if none was."""
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
    """One pass after the other: the window is too small for what has to stay in it."""

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
    """What the harness says to a model in one run when an answer without calls was not complete."""

    def __init__(self) -> None:
        self._empty = 0
        self._told = False
        self.gave_up = ""
        """Why the last answer cannot count as done, though nothing more is said."""

    def after(self, reply: Reply) -> str:
        """What to tell the model after this answer, or nothing."""
        if reply.stop == "length":
            return CUT_CALL.format(name=valid_name(str(reply.cut_call), 64)) if reply.cut_call else CONTINUE
        self._empty = 0 if plain_text(reply.blocks).strip() else self._empty + 1
        if 0 < self._empty <= EMPTY_ANSWERS:
            return NOTHING_SAID
        near = reply.near_call
        if near and not self._told:
            self._told = True
            return CALL_AS_TEXT.format(reason=near.reason)
        if near and not near.may_be_prose:
            self.gave_up = f"the model writes tool calls as text that cannot be run: {near.reason}"
        return ""
