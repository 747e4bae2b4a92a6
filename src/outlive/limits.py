"""Limits of a run: small policies beside the loop. Each gives a reason to stop, or nothing."""

import json
from collections import deque
from typing import Protocol

from msgspec import Struct

from outlive.context.engine import Request
from outlive.messages import ToolCall
from outlive.tools.protocol import Outcome


class Step(Struct, frozen=True):
    """One round of the loop: what was called and what it came to."""

    calls: tuple[ToolCall, ...]
    outcomes: tuple[Outcome, ...]


class Limit:
    """Base of all limits: never a reason to stop."""

    shared = False
    """Whether it holds for sub-agents together with the agent that sent them."""
    seconds: float | None = None
    """From the beginning of a run, after which it is stopped in the middle of whatever it does."""

    def before(self, request: Request) -> str:
        """Why this request may not go out."""
        return ""

    def after(self, step: Step) -> str:
        """Why there is no further round."""
        return ""


class Spending(Protocol):
    """What was used so far."""

    @property
    def dollars(self) -> float: ...

    @property
    def tokens(self) -> int: ...


class Turns(Limit):
    """At most so many requests in one run."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.made = 0

    def before(self, request: Request) -> str:
        if self.made >= self.most:
            return f"the limit of {self.most} turns is reached (--max-turns)"
        self.made += 1
        return ""


class Money(Limit):
    """At most so many dollars in one run."""

    shared = True

    def __init__(self, most: float, spending: Spending) -> None:
        self.most = most
        self.spending = spending
        self.start = spending.dollars

    def before(self, request: Request) -> str:
        spent = self.spending.dollars - self.start
        return f"${spent:.2f} are spent, the limit is ${self.most:.2f} (--max-cost)" if spent >= self.most else ""


class Tokens(Limit):
    """At most so many tokens, in and out, in one run."""

    shared = True

    def __init__(self, most: int, spending: Spending) -> None:
        self.most = most
        self.spending = spending
        self.start = spending.tokens

    def before(self, request: Request) -> str:
        used = self.spending.tokens - self.start
        return f"{used:,} tokens are used, the limit is {self.most:,} (--max-tokens)" if used >= self.most else ""


class Time(Limit):
    """At most so many seconds, be it in the middle of a call."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


class Repetition(Limit):
    """The same calls with the same outcome, over and over: a model that is stuck."""

    def __init__(self, most: int = 6) -> None:
        self.most = most
        self.last = ""
        self.times = 0

    def after(self, step: Step) -> str:
        calls = [(call.name, call.input) for call in step.calls]
        now = json.dumps([calls, [outcome.text for outcome in step.outcomes]], sort_keys=True, default=repr)
        self.times = self.times + 1 if now == self.last else 1
        self.last = now
        if self.times < self.most:
            return ""
        return f"the model called {step.calls[0].name} with the same outcome {self.times} times in a row"


class Thrashing(Limit):
    """One pass after the other: the window is too small for what has to stay in it."""

    def __init__(self, most: int = 6, of: int = 8) -> None:
        self.most = most
        self.passes: deque[bool] = deque(maxlen=of)

    def before(self, request: Request) -> str:
        self.passes.append(any(made.receipt.rungs != ("spool",) for made in request.new_events))
        if sum(self.passes) < self.most:
            return ""
        passes = f"{sum(self.passes)} of the last {len(self.passes)} requests needed a compaction"
        return f"{passes}: the window is too small for this work (--context-window, or a model that has more)"
