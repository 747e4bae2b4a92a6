"""The prompts of both APIs in cache order, in pieces that can have a breakpoint."""

from collections.abc import Iterator
from typing import Any

from outlive.testing.simulator.cache import HALF_HOUR, CachedPiece
from outlive.testing.simulator.openai.reasoning import hidden_text
from outlive.testing.simulator.tokens import (
    IMAGE_CHARS,
    compact,
    content_characters,
    json_characters,
    tool_characters,
)

MARK = "prompt_cache_breakpoint"
LIFETIMES = {"30m": HALF_HOUR, "12h": 12 * 3600.0}


def chat_pieces(body: dict[str, Any]) -> list[CachedPiece]:
    """Tools, then messages; a message with a list of parts is one piece for each part."""
    pieces = tool_pieces(body)
    for message in body["messages"]:
        functions = [call.get("function", call) for call in message.get("tool_calls") or ()]
        called = sum(
            len(function.get("name", "")) + len(function["arguments"])
            for function in functions
            if "arguments" in function
        )
        called += sum(json_characters(function) for function in functions if "arguments" not in function)
        content = message.get("content")
        ends = message["role"] in ("user", "tool", "function")
        if isinstance(content, list):
            pieces += _parts({**message, "content": None}, content, ends)
            pieces += [CachedPiece(b"", called)] if called else []
        else:
            pieces.append(CachedPiece(compact(message), content_characters(content) + called, ends_message=ends))
    return pieces


def responses_pieces(body: dict[str, Any]) -> list[CachedPiece]:
    """Tools, instructions, then items."""
    pieces = tool_pieces(body)
    if instructions := body.get("instructions"):
        pieces.append(CachedPiece(compact(instructions), len(instructions)))
    given = body["input"]
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        pieces += _item_pieces(item)
    return pieces


def tool_pieces(body: dict[str, Any]) -> list[CachedPiece]:
    return [CachedPiece(compact(tool), tool_characters(tool)) for tool in body.get("tools") or []]


def _item_pieces(item: dict[str, Any]) -> Iterator[CachedPiece]:
    match item.get("type", "message"):
        case "reasoning" | "compaction":
            yield CachedPiece(compact(item), len(hidden_text(item.get("encrypted_content") or "")))
        case "function_call":
            yield CachedPiece(compact(item), len(item["name"]) + len(item["arguments"]))
        case "custom_tool_call":
            yield CachedPiece(compact(item), len(item["name"]) + len(item["input"]))
        case "additional_tools":
            yield from tool_pieces(item)
        case "function_call_output" | "custom_tool_call_output":
            yield from _parts({**item, "output": None}, item["output"], True)
        case _:
            yield from _parts({**item, "content": None}, item["content"], item["role"] == "user")


def _parts(envelope: dict[str, Any], content: Any, ends: bool) -> list[CachedPiece]:
    """The parts of a message, each inside the envelope of its message."""
    if isinstance(content, str):
        return [CachedPiece(compact([envelope, content]), len(content), ends_message=ends)]
    pieces = []
    for number, part in enumerate(content, 1):
        plain = {key: value for key, value in part.items() if key != MARK}
        mark = part.get(MARK)
        lifetime = LIFETIMES[mark.get("ttl", "30m")] if mark else None
        last = ends and number == len(content)
        pieces.append(CachedPiece(compact([envelope, plain]), _characters(plain), lifetime, last))
    return pieces


def _characters(part: dict[str, Any]) -> int:
    match part:
        case {"text": str(text)} | {"refusal": str(text)}:
            return len(text)
        case {"type": "input_image" | "image_url"}:
            return IMAGE_CHARS
        case _:
            return json_characters(part)
