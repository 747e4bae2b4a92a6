"""Names, ids and texts in a form that every provider takes, whoever wrote them first."""

import hashlib
import re
from collections import Counter
from typing import Any

from outlive.messages import Block, Message, ToolCall, ToolResult, tool_calls

_OTHER = re.compile(r"[^a-zA-Z0-9_-]")


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
