"""What the two large providers refuse, written down once more and independently of the engine."""

from typing import Any

from outlive.messages import Message, Text, Thinking, ToolCall, ToolResult


def anthropic(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """The request in Anthropic's form; raises AssertionError where the API would answer 400."""
    wire: list[dict[str, Any]] = []
    for message in messages:
        content: list[dict[str, Any]] = []
        for block in message.blocks:
            if isinstance(block, Text):
                assert block.text.strip(), "text content blocks must contain non-whitespace text"
                content.append({"type": "text", "text": block.text})
            elif isinstance(block, ToolCall):
                content.append({"type": "tool_use", "id": block.id, "name": block.name, "input": block.input})
            elif isinstance(block, ToolResult):
                content.append({"type": "tool_result", "tool_use_id": block.call_id, "content": block.text})
            elif isinstance(block, Thinking):
                content.append({"type": "thinking", "thinking": block.text, "signature": block.signature})
        assert content, "messages must have non-empty content"
        wire.append({"role": message.role, "content": content})
    assert wire[0]["role"] == "user"
    assert wire[-1]["role"] == "user"
    open_calls: list[str] = []
    for number, message_ in enumerate(wire):
        assert not number or wire[number - 1]["role"] != message_["role"], "roles must alternate"
        results = [b["tool_use_id"] for b in message_["content"] if b["type"] == "tool_result"]
        assert sorted(results) == sorted(open_calls), "tool_use ids were found without tool_result blocks"
        first_other = next((i for i, b in enumerate(message_["content"]) if b["type"] != "tool_result"), len(results))
        assert first_other >= len(results), "tool_result blocks must come first"
        open_calls = [b["id"] for b in message_["content"] if b["type"] == "tool_use"]
        assert len(set(open_calls)) == len(open_calls)
    assert not open_calls
    return wire


def openai(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """The request in OpenAI's form: each call is followed by its tool message before anything else."""
    wire: list[dict[str, Any]] = []
    for message in messages:
        calls = [block for block in message.blocks if isinstance(block, ToolCall)]
        words = "\n".join(block.text for block in message.blocks if isinstance(block, Text))
        if message.role == "assistant":
            entry: dict[str, Any] = {"role": "assistant", "content": words or None}
            if calls:
                entry["tool_calls"] = [{"id": c.id, "function": {"name": c.name}} for c in calls]
            assert words or calls or any(isinstance(b, Thinking) for b in message.blocks)
            wire.append(entry)
        else:
            results = [block for block in message.blocks if isinstance(block, ToolResult)]
            wire.extend({"role": "tool", "tool_call_id": r.call_id, "content": r.text} for r in results)
            if words:
                wire.append({"role": "user", "content": words})
    waiting: set[str] = set()
    for entry in wire:
        if entry["role"] == "tool":
            assert entry["tool_call_id"] in waiting
            waiting.discard(entry["tool_call_id"])
        else:
            assert not waiting, "an assistant message with tool_calls must be followed by tool messages"
            waiting = {call["id"] for call in entry.get("tool_calls", ())}
    return wire


def shown(messages: tuple[Message, ...]) -> str:
    """All text of a request."""
    return "\n".join(b.text for m in messages for b in m.blocks if isinstance(b, (Text, ToolResult)))
