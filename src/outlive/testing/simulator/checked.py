"""A request that passed the rules, as the model is shown it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CheckedRequest:
    """A valid request: what is left of it for the model, and the thinking that failed the binding check."""

    shown: dict[str, Any]
    """The body without the blocks that were dropped."""
    dropped: tuple[str, ...] = ()
    """Paths of thinking blocks that were dropped, as `messages.3.content.0`."""
    mismatched: tuple[str, ...] = ()
    """Paths of thinking blocks that failed the check and are shown all the same."""
