"""Names, ids and texts in a form that every provider accepts."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from outlive.messages import Block, Message, Opaque, Text, ToolCall, ToolResult, tool_calls
from outlive.models.protocol import unreadable

_OTHER = re.compile(r"[^a-zA-Z0-9_-]")
MAX_NAME_CHARS = 200
"""Characters of a tool's name that are kept; an invented one must not fill the window."""
HIDDEN_SUMMARY = "[a summary that cannot be shown here]"
MAX_DEPTH = 64
"""Nesting of an input; deeper ones could not be serialized again."""


def kept_call(id: str, name: str, given: dict[str, Any]) -> ToolCall:
    """A call of a model; an input that is nested too deep is replaced by an error."""
    if is_deeper(given, MAX_DEPTH):
        given = unreadable(f"they are nested deeper than {MAX_DEPTH} levels")
    return ToolCall(id, name[:MAX_NAME_CHARS], given)


def own_ids(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """An answer with unique ids for its calls: some servers repeat one."""
    used: Counter[str] = Counter()
    told: list[Block] = []
    for block in blocks:
        if isinstance(block, ToolCall):
            used[block.id] += 1
            again = "" if used[block.id] == 1 else f"~{used[block.id]}"
            block = ToolCall(block.id + again, block.name, block.input)
        told.append(block)
    return tuple(told)


def is_deeper(value: object, levels: int) -> bool:
    """Whether a value has more levels than that; without recursion, which could overflow."""
    here = [value]
    for _ in range(levels):
        below = [item for value in here for item in _items(value)]
        if not below:
            return False
        here = below
    return True


def _items(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def legal_id(given: str, longest: int) -> str:
    """The id, or if providers would refuse it, a valid one derived from it."""
    if given and len(given) <= longest and not _OTHER.search(given):
        return given
    mark = hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{_OTHER.sub('_', given)[: longest - 17]}_{mark}"


def own_summary(messages: tuple[Message, ...], provider: str) -> tuple[Message, ...]:
    """The conversation without another provider's summary in front; the digest has its content too."""
    first = messages[0]
    if first.role == "user" or all(
        isinstance(block, Opaque) and block.provider == provider for block in first.blocks[:1]
    ):
        return messages
    rest = first.blocks[1:]
    return (
        (Message("user", (Text(HIDDEN_SUMMARY),)), Message(first.role, rest), *messages[1:]) if rest else messages[1:]
    )


def apart(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """A conversation with unique call ids: recordings of other programs may repeat one."""
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


def valid_name(given: str, longest: int) -> str:
    """The name of a tool in a form that can be sent back, even if a model invented it."""
    return _OTHER.sub("_", given)[:longest] or "_"


def writable(form: Any) -> Any:
    """The same form without lone surrogates, which cannot be encoded as UTF-8."""
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
    """A number that a server reported; 0 for anything but a non-negative integer."""
    return figure if isinstance(figure, int) and 0 <= figure < 2**53 else 0
