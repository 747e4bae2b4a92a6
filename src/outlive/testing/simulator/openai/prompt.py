"""The prompt of a request: its pieces in cache order."""

from collections.abc import Iterator
from typing import Any

from outlive.testing.simulator.cache import CachedPiece
from outlive.testing.simulator.tokens import compact, content_characters, json_characters, tool_characters


def pieces_of(body: dict[str, Any]) -> Iterator[CachedPiece]:
    """Yield tools, then messages."""
    for tool in body.get("tools") or []:
        yield CachedPiece(compact(tool), tool_characters(tool))
    for message in body["messages"]:
        functions = [call.get("function", call) for call in message.get("tool_calls") or ()]
        called = sum(len(one.get("name", "")) + len(one["arguments"]) for one in functions if "arguments" in one)
        called += sum(json_characters(one) for one in functions if "arguments" not in one)
        yield CachedPiece(compact(message), content_characters(message.get("content")) + called)
