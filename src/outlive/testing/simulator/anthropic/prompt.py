"""The prompt of a request: its pieces in cache order, with their breakpoints."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from outlive.testing.simulator.anthropic.checks.messages import cleared, turn_scoped
from outlive.testing.simulator.anthropic.compaction import is_noop
from outlive.testing.simulator.cache import LONG, SHORT, CachedPiece
from outlive.testing.simulator.tokens import block_characters, compact, tool_characters


def pieces_of(body: dict[str, Any]) -> list[CachedPiece]:
    """Tools, then system, then messages. The breakpoint of the whole request goes to the last piece that stays."""
    pieces, stays = [], []
    for piece, lasting in _pieces(body):
        pieces.append(piece)
        stays.append(lasting)
    last = max((index for index, lasting in enumerate(stays) if lasting), default=-1)
    if body.get("cache_control") and last >= 0 and pieces[last].lifetime is None:
        pieces[last] = replace(pieces[last], lifetime=_lifetime(body["cache_control"]))
    return pieces


def _pieces(body: dict[str, Any]) -> Iterator[tuple[CachedPiece, bool]]:
    """Yield each piece, and whether it stays in later requests: a turn-scoped system message does not.

    A cleared message is not a piece and has no tokens, but its bytes go into the next piece. So the prefix before it
    is still cached, the answer after it is not, and changing it later breaks the cache from there.
    """
    for tool in body.get("tools") or []:
        yield CachedPiece(block_bytes(tool), tool_characters(tool), _lifetime(tool.get("cache_control"))), True
    for block in blocks_of(body.get("system") or []):
        yield CachedPiece(block_bytes(block), block_characters(block), _lifetime(block.get("cache_control"))), True
    # Thinking and tool choice are part of the cache key of messages, not of tools and system.
    thinking = {key: value for key, value in (body.get("thinking") or {}).items() if key != "block_binding"}
    manner = compact([thinking or None, body.get("tool_choice")])
    gone, hidden = cleared(body["messages"]), b""
    for index, message in enumerate(body["messages"]):
        for block in blocks_of(message["content"]):
            if is_noop(block):
                continue
            data = manner + message["role"].encode() + block_bytes(block)
            if index in gone:
                hidden += data
                continue
            yield CachedPiece(hidden + data, block_characters(block), _breakpoint(block)), not turn_scoped(message)
            hidden = b""


def blocks_of(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return content as blocks; a string is one block of text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def block_bytes(block: dict[str, Any]) -> bytes:
    """Encode a block as the prompt has it: without breakpoints and nulls, its fields in alphabetical order."""
    plain = _plain(block)
    if isinstance(plain.get("content"), list):
        plain["content"] = [_plain(part) if isinstance(part, dict) else part for part in plain["content"]]
    return compact(plain)


def _plain(block: dict[str, Any]) -> dict[str, Any]:
    return {key: block[key] for key in sorted(block) if key != "cache_control" and block[key] is not None}


def _breakpoint(block: dict[str, Any]) -> float | None:
    """Return the lifetime of the breakpoint on a block or inside a tool result."""
    inner = block.get("content") if block["type"] == "tool_result" else None
    found = [part.get("cache_control") for part in inner] if isinstance(inner, list) else []
    return next((_lifetime(control) for control in [block.get("cache_control"), *found] if control), None)


def _lifetime(control: Any) -> float | None:
    return None if not control else LONG if control.get("ttl") == "1h" else SHORT
