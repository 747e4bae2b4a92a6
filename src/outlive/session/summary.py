"""A summary by a model: asked for on the live prefix, checked, and never trusted with more than it may say."""

from collections.abc import Callable

from msgspec import Struct

from outlive.context.engine import Request
from outlive.context.past import Past


class SummaryAsk(Struct, frozen=True):
    """What a summary call is made of: the live request, so that it is read from the cache, and what to ask."""

    request: Request
    instruction: str


Summarise = Callable[[SummaryAsk], str]


def summarised(ask: Summarise, request: Request, past: Past, focus: str) -> tuple[str, str]:
    """The checked summary, or nothing and the reason why."""
    return "", "not built yet"
