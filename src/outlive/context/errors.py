"""Errors of the context engine.

OutliveError
└── ContextError
    ├── FloorError       what can never leave the view does not fit the window (`.breakdown`)
    ├── BrokenContract   a pass would have lost something; it did not happen (`.problems`)
    ├── UnknownHandle    no page has that number
    └── InvalidRequest   the view is no request a provider would accept (a bug, never sent)
"""

from collections.abc import Mapping, Sequence

from outlive.errors import OutliveError
from outlive.events import Compacted


class ContextError(OutliveError):
    """Base of the errors of this package."""


class FloorError(ContextError):
    """The irreducible floor is larger than the window; `breakdown` says what fills it, in tokens.

    `new_events` are the passes that were made before giving up; they are in force and belong in the log.
    """

    def __init__(self, window: int, breakdown: Mapping[str, int], new_events: Sequence[Compacted] = ()) -> None:
        super().__init__(window, breakdown, new_events)
        self.new_events = tuple(new_events)
        self.window = window
        self.breakdown = dict(breakdown)

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {tokens:,}" for name, tokens in self.breakdown.items())
        total = sum(self.breakdown.values())
        if total <= self.window:
            return (
                f"the provider still refuses the request as too long, though we count what must stay as {total:,} "
                f"of {self.window:,} tokens: {parts}; its limit is smaller: set --context-window, or [context] window"
            )
        return (
            f"the window of {self.window:,} tokens cannot hold what must stay ({total:,}): {parts}; "
            "use a larger window, fewer tools or a shorter request"
        )


class BrokenContract(ContextError):
    """A planned pass failed its checks and was not committed."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "the pass would break its contract: " + "; ".join(self.problems)


class UnknownHandle(ContextError):
    """No page of this session has that number."""


class InvalidRequest(ContextError):
    """The rendered view breaks a rule of the providers."""
