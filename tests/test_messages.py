"""Messages are frozen and survive JSON unchanged."""

import msgspec
import pytest

from outlive.messages import (
    Block,
    Image,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    plain_text,
    tool_calls,
)

BLOCKS: tuple[Block, ...] = (
    Text("hé 漢字 🎈"),
    Thinking("so …", "sig=="),
    ToolCall("c1", "read", {"path": "a.py", "n": 3}),
    ToolResult("c1", "out", is_error=True, images=(Image(data="AAAA"),)),
    Image(url="https://x/y.png"),
    Opaque("anthropic", {"type": "redacted_thinking", "data": "zz"}),
)


def test_every_block_survives_json() -> None:
    message = Message("assistant", BLOCKS)
    assert msgspec.json.decode(msgspec.json.encode(message), type=Message) == message


def test_messages_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Message("user", ()).role = "assistant"  # type: ignore[misc]


def test_words_and_calls_are_found_wherever_they_stand() -> None:
    """The first block need not be text."""
    assert plain_text((BLOCKS[2], Text("a"), BLOCKS[1], Text("b"))) == "a\n\nb"
    assert [call.id for call in tool_calls(BLOCKS)] == ["c1"]
