"""The next request to a model, in no provider's format: the context engine makes it, models translate it."""

from msgspec import Struct

from outlive.events import Compacted
from outlive.messages import Message

STATE_START, STATE_END = "<state>", "</state>"
"""The lines around the state block."""


class Request(Struct, frozen=True):
    """What to send, and the events to log before it is sent."""

    system: str
    tools: tuple[dict[str, object], ...]
    messages: tuple[Message, ...]
    state_block: str
    tokens: int
    new_events: tuple[Compacted, ...] = ()
