"""Messages in the form of OpenAI's chat completions, both ways. Pure translation: no network, no defaults."""

import json
from typing import Any

from outlive.messages import Block, Image, Message, Text, ToolCall, ToolResult
from outlive.models.repair import read_arguments
from outlive.models.sanitize import apart, legal_id, own_summary, valid_name
from outlive.request import Request

PROVIDER = "openai"
MAX_ID_CHARS, MAX_NAME_CHARS = 40, 64
EMPTY_MESSAGE = "[nothing that can be shown here]"
NO_OUTPUT = "[no output]"
EMPTY_ERROR = "[failed]\n"
"""Marks errors, for which the form has no field."""
BREAKPOINT: dict[str, Any] = {"prompt_cache_breakpoint": {"mode": "explicit"}}
"""Where the prompt cache is written and read; on content of the user, of tools and of the system prompt."""
MARKED_TURNS = 2
"""Turns of the user or of tools with a breakpoint at their end: the last one is written, the one before is read."""
MAX_BREAKPOINTS = 4
"""Breakpoints of a request."""
Form = dict[str, Any]
_encode = json.JSONEncoder(ensure_ascii=False).encode


def request_form(request: Request, *, breakpoints: bool = False) -> Form:
    """The messages of a request and, where there are any, its tools; perhaps with breakpoints of the prompt cache."""
    messages: list[Form] = [{"role": "system", "content": request.system}] if request.system.strip() else []
    marked = [(number, -1) for number in range(len(messages))]
    marked += [(len(messages), part) for part in range(request.segments)]
    ends: list[tuple[int, int]] = []
    for number, message in enumerate(apart(own_summary(request.messages, ""))):
        if message.role == "assistant":
            messages += assistant_forms(message)
        else:
            messages += user_forms(message, in_parts=breakpoints and number == 0 and request.segments > 0)
            ends.append((len(messages) - 1, -1))
    if breakpoints:
        messages = [_in_parts(message) for message in messages]
        for place, part in (marked + ends[-MARKED_TURNS:])[-MAX_BREAKPOINTS:]:
            messages[place]["content"][part] |= BREAKPOINT
    form: Form = {"messages": messages}
    if tools := request.offered:
        form["tools"] = [tool_form(tool) for tool in tools]
    return form


def tool_form(tool: dict[str, object]) -> Form:
    """The definition of a tool."""
    function = {"name": tool["name"], "description": tool.get("description", ""), "parameters": tool["input_schema"]}
    return {"type": "function", "function": function}


def assistant_forms(message: Message) -> list[Form]:
    """Text and calls; thinking is not sent."""
    text = _words(message)
    calls = [_call_form(block) for block in message.blocks if isinstance(block, ToolCall)]
    if calls:
        return [{"role": "assistant", "content": text or None, "tool_calls": calls}]
    return [{"role": "assistant", "content": text or EMPTY_MESSAGE}]


def user_forms(message: Message, *, in_parts: bool = False) -> list[Form]:
    """Each result as a message, then the user's text with the images of the results."""
    results = [block for block in message.blocks if isinstance(block, ToolResult)]
    forms = [_result_form(result) for result in results]
    parts: list[Form] = []
    for result in results:
        if result.images:
            parts.append(_text_part(f"[pictures of the result of {legal_id(result.call_id, MAX_ID_CHARS)}]"))
            parts += map(_image_part, result.images)
    pictured = bool(parts) or any(isinstance(block, Image) for block in message.blocks)
    text = _words(message)
    if not pictured and not in_parts:
        words = [{"role": "user", "content": text or EMPTY_MESSAGE}] if text or not forms else []
        return [*forms, *words]
    for block in message.blocks:
        if isinstance(block, Text) and block.text.strip():
            parts.append(_text_part(block.text))
        elif isinstance(block, Image):
            parts.append(_image_part(block))
    return [*forms, {"role": "user", "content": parts}]


def _words(message: Message) -> str:
    texts = (block.text for block in message.blocks if isinstance(block, Text) and block.text.strip())
    return "\n\n".join(texts)


def _in_parts(message: Form) -> Form:
    """A message with a list of parts, which can have a breakpoint; those of the assistant cannot have one."""
    if message["role"] == "assistant" or not isinstance(message["content"], str):
        return message
    return message | {"content": [_text_part(message["content"])]}


def _call_form(call: ToolCall) -> Form:
    function = {"name": valid_name(call.name, MAX_NAME_CHARS), "arguments": arguments_form(call)}
    return {"id": legal_id(call.id, MAX_ID_CHARS), "type": "function", "function": function}


def arguments_form(call: ToolCall) -> str:
    """The arguments of a call as JSON."""
    return _encode(call.input)


def result_text(result: ToolResult) -> str:
    """The text of a result, which says whether the call failed."""
    return (EMPTY_ERROR if result.is_error else "") + (result.text or NO_OUTPUT)


def _result_form(result: ToolResult) -> Form:
    call_id = legal_id(result.call_id, MAX_ID_CHARS)
    return {"role": "tool", "tool_call_id": call_id, "content": result_text(result)}


def _text_part(text: str) -> Form:
    return {"type": "text", "text": text}


def _image_part(image: Image) -> Form:
    return {"type": "image_url", "image_url": {"url": image_url(image)}}


def image_url(image: Image) -> str:
    """The address of a picture, or the picture itself as an address."""
    return image.url or f"data:{image.media_type};base64,{image.data}"


def read_message(form: Form) -> Message:
    """A message of the user, the assistant or a tool. Raises ValueError when it is none."""
    match form.get("role"):
        case "user":
            return Message("user", _read_parts(form.get("content")))
        case "assistant":
            calls = tuple(map(_read_call, form.get("tool_calls") or ()))
            return Message("assistant", (*_read_parts(form.get("content")), *calls))
        case "tool":
            if not isinstance(call := form.get("tool_call_id"), str):
                raise ValueError("a message of a tool without tool_call_id")
            return Message("user", (ToolResult(call, content_text(form.get("content"))),))
    raise ValueError(f"not a message of user, assistant or tool: role is {form.get('role')!r}")


def content_text(content: object) -> str:
    """The words of a content: a string, or a list of parts."""
    return "\n".join(block.text for block in _read_parts(content) if isinstance(block, Text))


def _read_parts(content: object) -> tuple[Block, ...]:
    if not content:
        return ()
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise ValueError(f"content is {type(content).__name__}, not text or a list of parts")
    return tuple(map(_read_part, content))


def _read_part(part: object) -> Block:
    if isinstance(part, dict) and isinstance(text := part.get("text") or part.get("refusal"), str):
        return Text(text)
    image = part.get("image_url") if isinstance(part, dict) else None
    if not isinstance(image, dict) or not isinstance(url := image.get("url"), str):
        raise ValueError("a part of a content that is neither text nor a picture")
    kind, found, data = url.removeprefix("data:").partition(";base64,")
    return Image(kind, data) if url.startswith("data:") and found else Image(url=url)


def _read_call(form: object) -> ToolCall:
    function = form.get("function") if isinstance(form, dict) else None
    if not isinstance(form, dict) or not isinstance(function, dict):
        raise ValueError("a tool call without a function")
    return ToolCall(str(form.get("id")), str(function.get("name")), read_arguments(function.get("arguments")))
