"""The next request to a model, in no provider's format: the context engine makes it, models translate it."""

from msgspec import Struct

from outlive.events import Compacted, StateShown
from outlive.messages import Message

STATE_START, STATE_END = "<state>", "</state>"
"""The lines around a state block."""


class Request(Struct, frozen=True):
    """What to send, and the events to log before it is sent.

    Until a pass each request extends the one before: nothing that was sent is sent in other words.
    """

    system: str
    tools: tuple[dict[str, object], ...]
    messages: tuple[Message, ...]
    state_block: str
    """The whole state as it is, which the messages tell too: for those who look for it in an answer."""
    tokens: int
    passes: tuple[Compacted, ...] = ()
    state_shown: StateShown | None = None
    thinking_from: int = 0
    """Thinking in messages before this one was thought in a view that has changed since."""
    segments: int = 0
    """How many blocks at the beginning of the first message the next pass may well leave as they are."""

    @property
    def new_events(self) -> tuple[Compacted | StateShown, ...]:
        """What the engine made for this request, in order."""
        return (*self.passes, self.state_shown) if self.state_shown else self.passes
