"""A request in the form of OpenAI's Responses API. Pure translation: no network, no defaults.

Every block is an item of its own, in the order of the conversation, so that the items of a request are the first
items of the next one; only breakpoints of the prompt cache move along.
"""

from collections.abc import Iterator

from outlive.messages import Block, Image, Message, Opaque, Text, ToolCall, ToolResult
from outlive.models.openai.form import (
    BREAKPOINT,
    EMPTY_MESSAGE,
    MARKED_TURNS,
    MAX_BREAKPOINTS,
    MAX_ID_CHARS,
    MAX_NAME_CHARS,
    PROVIDER,
    Form,
    arguments_form,
    image_url,
    result_text,
)
from outlive.models.sanitize import apart, legal_id, own_summary, valid_name
from outlive.request import Request


def responses_form(request: Request, *, breakpoints: bool = False, reasoning_from: int = 0) -> Form:
    """Instructions, input and tools. Reasoning before message `reasoning_from` is left out.

    Instructions cannot have a breakpoint: with `breakpoints` they are the first message of the input.
    """
    form: Form = {}
    items: list[Form] = []
    if request.system.strip() and breakpoints:
        items.append(_message("developer", _text_part(request.system)))
    elif request.system.strip():
        form["instructions"] = request.system
    marked = [*range(len(items))]
    ends: list[int] = []
    for number, message in enumerate(apart(own_summary(request.messages, PROVIDER))):
        if message.role == "assistant":
            items += assistant_items(message, with_reasoning=number >= reasoning_from)
        else:
            if not ends:
                marked += range(len(items), len(items) + request.segments)
            items += user_items(message, in_parts=breakpoints)
            ends.append(len(items) - 1)
    for place in (marked + ends[-MARKED_TURNS:])[-MAX_BREAKPOINTS:] if breakpoints else ():
        item = items[place]
        (item.get("content") or item["output"])[-1] |= BREAKPOINT
    form["input"] = items
    if tools := request.offered:
        form["tools"] = [tool_form(tool) for tool in tools]
    return form


def tool_form(tool: dict[str, object]) -> Form:
    """The definition of a tool. Not strict: that would require every argument."""
    return {
        "type": "function",
        "name": tool["name"],
        "description": tool.get("description", ""),
        "parameters": tool["input_schema"],
        "strict": False,
    }


def assistant_items(message: Message, *, with_reasoning: bool) -> list[Form]:
    """Text, calls and the reasoning before them; reasoning that nothing follows would be refused."""
    items: list[Form] = []
    for block in reversed(message.blocks):
        match block:
            case Text() if block.text.strip():
                items.append({"type": "message", "role": "assistant", "content": block.text})
            case ToolCall():
                items.append(_call_item(block))
            case Opaque() if is_kind(block, "compaction"):
                items.append(block.data)
            case Opaque() if is_kind(block, "reasoning") and with_reasoning and items:
                items.append(block.data)
            case Opaque() if is_kind(block, "phase") and items and items[-1].get("role") == "assistant":
                items[-1]["phase"] = block.data["phase"]
            case _:
                pass
    return items[::-1] or [{"type": "message", "role": "assistant", "content": EMPTY_MESSAGE}]


def is_kind(block: Opaque, kind: str) -> bool:
    """Whether a block is of this provider and kind."""
    return block.provider == PROVIDER and block.data.get("type") == kind


def user_items(message: Message, *, in_parts: bool) -> list[Form]:
    """Each result, then each text and picture of the user."""
    results = [_result_item(block, in_parts) for block in message.blocks if isinstance(block, ToolResult)]
    words = [_message("user", part) for part in _parts(message.blocks)]
    return [*results, *words] or [_message("user", _text_part(EMPTY_MESSAGE))]


def _parts(blocks: tuple[Block, ...]) -> Iterator[Form]:
    for block in blocks:
        if isinstance(block, Text) and block.text.strip():
            yield _text_part(block.text)
        elif isinstance(block, Image):
            yield _image_part(block)


def _call_item(call: ToolCall) -> Form:
    return {
        "type": "function_call",
        "call_id": legal_id(call.id, MAX_ID_CHARS),
        "name": valid_name(call.name, MAX_NAME_CHARS),
        "arguments": arguments_form(call),
    }


def _result_item(result: ToolResult, in_parts: bool) -> Form:
    text = result_text(result)
    output = [_text_part(text), *map(_image_part, result.images)] if in_parts or result.images else text
    return {"type": "function_call_output", "call_id": legal_id(result.call_id, MAX_ID_CHARS), "output": output}


def _message(role: str, part: Form) -> Form:
    return {"type": "message", "role": role, "content": [part]}


def _text_part(text: str) -> Form:
    return {"type": "input_text", "text": text}


def _image_part(image: Image) -> Form:
    return {"type": "input_image", "image_url": image_url(image), "detail": "auto"}
