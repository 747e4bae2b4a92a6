"""The provider-neutral request to a model: the context engine builds it, models translate it."""

from collections.abc import Iterable

from msgspec import Struct

from outlive.events import Compacted, StateShown
from outlive.messages import Message

STATE_START, STATE_END = "<state>", "</state>"
"""The lines around a state block."""


class OutputFormat(Struct, frozen=True):
    """A JSON schema that the provider enforces on the text of the answer; calls of tools are free."""

    name: str
    schema: dict[str, object]


class ToolChange(Struct, frozen=True):
    """How the tools changed in the middle of a conversation, while the declared ones stay in front of it."""

    after: int
    """The message of the user from which on the change holds."""
    added: tuple[dict[str, object], ...]
    removed: tuple[str, ...]


def tools_after(
    declared: tuple[dict[str, object], ...], changes: Iterable[ToolChange]
) -> tuple[dict[str, object], ...]:
    """The tools that are left of those declared, and those added since."""
    found = list(declared)
    for change in changes:
        found = [tool for tool in found if tool["name"] not in change.removed]
        found += change.added
    return tuple(found)


class Request(Struct, frozen=True):
    """What to send, and the events to log before it is sent.

    Until a pass each request extends the one before: nothing that was sent is reworded.
    """

    system: str
    tools: tuple[dict[str, object], ...]
    messages: tuple[Message, ...]
    state_block: str
    """The whole current state, which the messages contain too; used to find echoes of it in an answer."""
    tokens: int
    passes: tuple[Compacted, ...] = ()
    state_shown: StateShown | None = None
    thinking_from: int = 0
    """Thinking in messages before this one was made in a view that has changed since."""
    segments: int = 0
    """Blocks at the beginning of the first message that the next pass may leave unchanged."""
    tool_changes: tuple[ToolChange, ...] = ()
    """Since `tools` were declared, oldest first."""
    output: OutputFormat | None = None
    """Sent if the model has structured output. The prompt asks for the same, so it may be left out."""

    @property
    def offered(self) -> tuple[dict[str, object], ...]:
        """The tools that the model may call."""
        return tools_after(self.tools, self.tool_changes)

    @property
    def new_events(self) -> tuple[Compacted | StateShown, ...]:
        """Events that the engine made for this request, in order."""
        return (*self.passes, self.state_shown) if self.state_shown else self.passes
