"""What is seen while it happens and is not kept: words as they arrive, waits, output of a running tool.

Faces read these beside the events of the log. Whatever matters of them is in the log a moment later.
"""

from msgspec import Struct


class TextArrived(Struct, frozen=True, tag="text_arrived"):
    """A piece of the model's answer."""

    text: str


class ThinkingArrived(Struct, frozen=True, tag="thinking_arrived"):
    """A piece of the model's reasoning."""

    text: str


class CallArriving(Struct, frozen=True, tag="call_arriving"):
    """The model began to write a tool call."""

    name: str


class ModelWaits(Struct, frozen=True, tag="model_waits"):
    """The request failed and goes out again after `seconds`. What had arrived of the answer is void."""

    reason: str
    seconds: float
    attempt: int


class ToolOutput(Struct, frozen=True, tag="tool_output"):
    """A running tool printed something."""

    call_id: str
    text: str


class SubagentActed(Struct, frozen=True, tag="subagent_acted"):
    """A sub-agent called a tool; everything else of it is in its own log."""

    session: str
    text: str


Arriving = TextArrived | ThinkingArrived | CallArriving | ModelWaits
"""What a model yields before its reply."""
Live = Arriving | ToolOutput | SubagentActed
