"""Stream events: pieces of an answer as they arrive, retries, output of a running tool. They are not logged.

Faces get them beside the events of the log, which hold the complete texts a moment later.
"""

from msgspec import Struct


class TextDelta(Struct, frozen=True, tag="text_arrived"):
    """A piece of the model's answer."""

    text: str


class ThinkingDelta(Struct, frozen=True, tag="thinking_arrived"):
    """A piece of the model's reasoning."""

    text: str


class ToolCallStreaming(Struct, frozen=True, tag="call_arriving"):
    """The model has begun to write a tool call."""

    name: str


class ModelRetrying(Struct, frozen=True, tag="model_waits"):
    """The request failed and is sent again after `seconds`. Discard the part of the answer that has arrived."""

    reason: str
    seconds: float
    attempt: int
    overloaded: bool = False
    """The provider has asked for fewer requests."""


class ToolOutput(Struct, frozen=True, tag="tool_output"):
    """A running tool printed something."""

    call_id: str
    text: str


class SubagentActed(Struct, frozen=True, tag="subagent_acted"):
    """A sub-agent called a tool; its own log has everything else."""

    session: str
    text: str


ModelStreamEvent = TextDelta | ThinkingDelta | ToolCallStreaming | ModelRetrying
"""What a model yields before its reply."""
StreamEvent = ModelStreamEvent | ToolOutput | SubagentActed
"""Any stream event."""
