"""Errors of the context engine."""

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
        self.new_events = tuple(new_events)
        self.window = window
        self.breakdown = dict(breakdown)
        parts = ", ".join(f"{name} {tokens:,}" for name, tokens in breakdown.items())
        total = sum(breakdown.values())
        if total > window:
            message = f"the window of {window:,} tokens cannot hold what must stay ({total:,}): {parts}"
            super().__init__(message, hint="use a larger window, fewer tools or a shorter request")
            return
        message = (
            f"the provider still refuses the request as too long, though we count what must stay as {total:,} "
            f"of {window:,} tokens: {parts}"
        )
        hint = "its limit is smaller: set a smaller window, or window in the section [context] of outlive.toml"
        super().__init__(message, hint=hint, code="smaller_limit")


class BrokenContract(ContextError):
    """A planned pass failed its checks and was not committed."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("the pass would break its contract: " + "; ".join(problems))
        self.problems = tuple(problems)


class UnknownHandle(ContextError):
    """No page of this session has that number."""


class InvalidRequest(ContextError):
    """The rendered view breaks a rule of the providers."""
