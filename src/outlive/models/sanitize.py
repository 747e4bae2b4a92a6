"""Names, ids and texts in a form that every provider takes, whoever wrote them first."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from outlive.messages import Block, Message, ToolCall, ToolResult, tool_calls
from outlive.models.protocol import unreadable

_OTHER = re.compile(r"[^a-zA-Z0-9_-]")
LONGEST_NAME = 200
"""Characters of a tool's name that are kept; a made-up one must not fill the window."""
DEEPEST = 64
"""Levels of an input. No tool takes more, and what is nested without end cannot be written down again."""


def kept_call(id: str, name: str, given: dict[str, Any]) -> ToolCall:
    """A call of a model as it is kept: what nobody could read again is said instead."""
    if _deeper(given, DEEPEST):
        given = unreadable(f"they are nested deeper than {DEEPEST} levels")
    return ToolCall(id, name[:LONGEST_NAME], given)


def own_ids(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The same answer with an id of its own for every call in it: some servers give one twice."""
    used: Counter[str] = Counter()
    told: list[Block] = []
    for block in blocks:
        if isinstance(block, ToolCall):
            used[block.id] += 1
            again = "" if used[block.id] == 1 else f"~{used[block.id]}"
            block = ToolCall(block.id + again, block.name, block.input)
        told.append(block)
    return tuple(told)


def _deeper(value: object, levels: int) -> bool:
    """Whether it has more levels than that; level by level, for a recursion would not come back."""
    here = [value]
    for _ in range(levels):
        below = [item for one in here for item in _items(one)]
        if not below:
            return False
        here = below
    return True


def _items(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def legal_id(given: str, longest: int) -> str:
    """An id of letters, digits, dashes; another than given only where that would be refused. Same in, same out."""
    if given and len(given) <= longest and not _OTHER.search(given):
        return given
    mark = hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{_OTHER.sub('_', given)[: longest - 17]}_{mark}"


def apart(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The same conversation with an id of its own for every call: recordings of other programs may use one twice."""
    calls = [call.id for message in messages for call in tool_calls(message.blocks)]
    if len(set(calls)) == len(calls):
        return messages
    used: Counter[str] = Counter()
    names: dict[str, str] = {}
    told: list[Message] = []
    for message in messages:
        if message.role == "assistant":
            names = {}
            for call in tool_calls(message.blocks):
                used[call.id] += 1
                names[call.id] = call.id if used[call.id] == 1 else f"{call.id}#{used[call.id]}"
        told.append(Message(message.role, tuple(_renamed(block, names) for block in message.blocks)))
    return tuple(told)


def _renamed(block: Block, names: dict[str, str]) -> Block:
    match block:
        case ToolCall():
            return ToolCall(names[block.id], block.name, block.input)
        case ToolResult():
            return ToolResult(names.get(block.call_id, block.call_id), block.text, block.is_error, block.images)
        case _:
            return block


def legal_name(given: str, longest: int) -> str:
    """The name of a tool as it may be sent back, also when a model made it up."""
    return _OTHER.sub("_", given)[:longest] or "_"


def writable(form: Any) -> Any:
    """The same form without halves of characters, which cannot be sent as UTF-8."""
    match form:
        case str():
            return form.encode("utf-8", "replace").decode()
        case dict():
            return {writable(key): writable(value) for key, value in form.items()}
        case list() | tuple():
            return [writable(value) for value in form]
        case _:
            return form


def whole(figure: object) -> int:
    """A figure that a server reports; 0 for anything but a whole number."""
    return figure if isinstance(figure, int) and 0 <= figure < 2**53 else 0
