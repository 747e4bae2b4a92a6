"""A count of tokens that anyone can do by hand: characters of the content divided by 3.2, rounded up."""

from collections.abc import Iterator
from typing import Any

import msgspec

IMAGE_CHARACTERS = 4800
"""An image counts as 1,500 tokens, whatever its size."""
_encode = msgspec.json.Encoder().encode


def tokens_of(characters: int) -> int:
    """Tokens for a number of characters: exact arithmetic, so that the same request always counts the same."""
    return -(-characters * 5 // 16)


def compact(value: object) -> bytes:
    """A value as JSON without spaces, its keys in their order."""
    return _encode(value)


def json_characters(value: object) -> int:
    return len(compact(value).decode())


def content_characters(content: Any) -> int:
    """Characters of a message's content, in either provider's form: a string, a list of blocks, or nothing."""
    if isinstance(content, list):
        return sum(map(block_characters, content))
    return len(content) if isinstance(content, str) else 0


def block_characters(block: Any) -> int:
    """Characters of one block; what has no text of its own counts as its JSON."""
    match block:
        case {"type": "text", "text": str(text)}:
            return len(text)
        case {"type": "tool_use", "name": str(name), "input": given}:
            return len(name) + json_characters(given)
        case {"type": "tool_result"}:
            return content_characters(block.get("content"))
        case {"type": "thinking", "thinking": str(text)}:
            return len(text)
        case {"type": "image" | "image_url"}:
            return IMAGE_CHARACTERS
        case _:
            return json_characters(block)


def tool_characters(tool: Any) -> int:
    return json_characters({key: value for key, value in tool.items() if key != "cache_control"})


def texts(value: Any) -> Iterator[str]:
    """Every string inside of a value, except the names of its fields; in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
