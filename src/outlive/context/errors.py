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


class ContextError(OutliveError):
    """Base of the errors of this package."""


class FloorError(ContextError):
    """The irreducible floor is larger than the window; `breakdown` says what fills it, in tokens."""

    def __init__(self, window: int, breakdown: Mapping[str, int]) -> None:
        parts = ", ".join(f"{name} {tokens:,}" for name, tokens in breakdown.items())
        total = sum(breakdown.values())
        super().__init__(
            f"the window of {window:,} tokens cannot hold what must stay ({total:,}): {parts}; "
            "use a larger window, fewer tools or a shorter request"
        )
        self.window = window
        self.breakdown = dict(breakdown)


class BrokenContract(ContextError):  # noqa: N818 - named for what happened, as in outlive.errors
    """A planned pass failed its checks and was not committed."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("the pass would break its contract: " + "; ".join(problems))
        self.problems = tuple(problems)


class UnknownHandle(ContextError):  # noqa: N818 - named for what happened, as in outlive.errors
    """No page of this session has that number."""


class InvalidRequest(ContextError):  # noqa: N818 - named for what happened, as in outlive.errors
    """The rendered view breaks a rule of the providers."""
