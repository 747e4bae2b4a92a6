"""Token counts: characters of the content divided by 3.2, rounded up."""

from collections.abc import Iterator
from typing import Any

import msgspec

IMAGE_CHARS = 4800
"""An image counts as 1,500 tokens, whatever its size."""
_encode = msgspec.json.Encoder().encode


def tokens_of(characters: int) -> int:
    """Return the tokens of a number of characters, in integer arithmetic."""
    return -(-characters * 5 // 16)


def compact(value: object) -> bytes:
    """Encode a value as JSON without spaces, keys in order."""
    return _encode(value)


def json_characters(value: object) -> int:
    return len(compact(value).decode())


def content_characters(content: Any) -> int:
    """Count the characters of a message content in either provider's form: a string, blocks, or None."""
    if isinstance(content, list):
        return sum(map(block_characters, content))
    return len(content) if isinstance(content, str) else 0


def block_characters(block: Any) -> int:
    """Count the characters of one block; a block without text counts as its JSON."""
    match block:
        case {"type": "text", "text": str(text)}:
            return len(text)
        case {"type": "tool_use", "name": str(name), "input": given}:
            return len(name) + json_characters(given)
        case {"type": "tool_result"}:
            return content_characters(block.get("content"))
        case {"type": "thinking", "thinking": str(text)} | {"type": "compaction", "content": str(text)}:
            return len(text)
        case {"type": "image" | "image_url"}:
            return IMAGE_CHARS
        case _:
            return json_characters(block)


def tool_characters(tool: Any) -> int:
    return json_characters({key: value for key, value in tool.items() if key != "cache_control"})


def texts(value: Any) -> Iterator[str]:
    """Yield every string inside a value except keys, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
