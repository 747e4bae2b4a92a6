"""A request as one long prompt: the pieces in the order in which they are cached."""

from collections.abc import Iterator
from typing import Any

from outlive.testing.simulator.cache import Piece
from outlive.testing.simulator.tokens import compact, content_characters, json_characters, tool_characters


def pieces_of(body: dict[str, Any]) -> list[Piece]:
    """Tools, then messages."""
    return [*_pieces(body)]


def _pieces(body: dict[str, Any]) -> Iterator[Piece]:
    for tool in body.get("tools") or []:
        yield Piece(compact(tool), tool_characters(tool))
    for message in body["messages"]:
        functions = [call.get("function", call) for call in message.get("tool_calls") or ()]
        called = sum(len(one.get("name", "")) + len(one["arguments"]) for one in functions if "arguments" in one)
        called += sum(json_characters(one) for one in functions if "arguments" not in one)
        yield Piece(compact(message), content_characters(message.get("content")) + called)
