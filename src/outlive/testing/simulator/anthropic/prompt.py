"""The prompt of a request: its pieces in cache order, with their breakpoints."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from outlive.testing.simulator.cache import LONG, SHORT, CachedPiece
from outlive.testing.simulator.tokens import block_characters, compact, tool_characters


def pieces_of(body: dict[str, Any]) -> list[CachedPiece]:
    """Tools, then system, then messages. The breakpoint of the whole request goes to its last piece."""
    pieces = [*_pieces(body)]
    if body.get("cache_control") and pieces and pieces[-1].lifetime is None:
        pieces[-1] = replace(pieces[-1], lifetime=_lifetime(body["cache_control"]))
    return pieces


def _pieces(body: dict[str, Any]) -> Iterator[CachedPiece]:
    for tool in body.get("tools") or []:
        yield CachedPiece(_bytes(tool), tool_characters(tool), _lifetime(tool.get("cache_control")))
    for block in _blocks(body.get("system") or []):
        yield CachedPiece(_bytes(block), block_characters(block), _lifetime(block.get("cache_control")))
    # Thinking and tool choice are part of the cache key of messages, not of tools and system.
    manner = compact([body.get("thinking"), body.get("tool_choice")])
    for message in body["messages"]:
        for block in _blocks(message["content"]):
            data = manner + message["role"].encode() + _bytes(block)
            yield CachedPiece(data, block_characters(block), _breakpoint(block))


def _blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _bytes(block: dict[str, Any]) -> bytes:
    """Encode a block without its breakpoints, which are not part of the prompt."""
    plain = {key: value for key, value in block.items() if key != "cache_control"}
    if isinstance(plain.get("content"), list):
        inner = plain["content"]
        plain["content"] = [{key: value for key, value in part.items() if key != "cache_control"} for part in inner]
    return compact(plain)


def _breakpoint(block: dict[str, Any]) -> float | None:
    """Return the lifetime of the breakpoint on a block or inside a tool result."""
    inner = block.get("content") if block["type"] == "tool_result" else None
    found = [part.get("cache_control") for part in inner] if isinstance(inner, list) else []
    return next((_lifetime(control) for control in [block.get("cache_control"), *found] if control), None)


def _lifetime(control: Any) -> float | None:
    return None if not control else LONG if control.get("ttl") == "1h" else SHORT
