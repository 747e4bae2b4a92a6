"""Messages and blocks in Anthropic's form, both ways. Pure translation: no network, no defaults of a provider."""

import json
from typing import Any

from outlive.messages import Block, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult

PROVIDER = "anthropic"
EMPTY_MESSAGE = "[nothing that can be shown here]"
"""The API refuses a message without content."""
Form = dict[str, Any]


def message_form(message: Message) -> Form:
    """A message as the API takes it."""
    content = [form for block in message.blocks if (form := block_form(block))]
    return {"role": message.role, "content": content or [{"type": "text", "text": EMPTY_MESSAGE}]}


def block_form(block: Block) -> Form | None:
    """A block as the API takes it; None if the API would refuse it (thinking of another provider)."""
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case ToolCall():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        case ToolResult():
            return _result_form(block)
        case Thinking():
            thinking = {"type": "thinking", "thinking": block.text, "signature": block.signature}
            return thinking if block.signature else None
        case Image():
            return _image_form(block)
        case Opaque():
            return block.data if block.provider == PROVIDER else None


def _result_form(result: ToolResult) -> Form:
    content: Any = result.text
    if result.images:
        text = [{"type": "text", "text": result.text}] if result.text.strip() else []
        content = [*text, *map(_image_form, result.images)]
    form = {"type": "tool_result", "tool_use_id": result.call_id, "content": content}
    return form | {"is_error": True} if result.is_error else form


def _image_form(image: Image) -> Form:
    if image.url:
        return {"type": "image", "source": {"type": "url", "url": image.url}}
    return {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": image.data}}


def read_blocks(content: object) -> tuple[Block, ...]:
    """The blocks of a message's content, a string or a list. Unknown blocks are carried unchanged."""
    if content is None:
        return ()
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise ValueError(f"content is {type(content).__name__}, not text or a list of blocks")
    return tuple(map(read_block, content))


def read_block(form: object) -> Block:
    """One block in Anthropic's form. Raises ValueError if it is invalid."""
    if isinstance(form, str):
        return Text(form)
    if not isinstance(form, dict) or not isinstance(kind := form.get("type"), str):
        raise ValueError("a block is not an object with a type")
    if kind == "text":
        return Text(str(form.get("text") or ""))
    if kind == "thinking":
        return Thinking(str(form.get("thinking") or ""), str(form.get("signature") or ""))
    if kind == "tool_use":
        return _read_call(form)
    if kind == "tool_result":
        return _read_result(form)
    if kind == "image" and (image := _read_image(form)):
        return image
    return Opaque(PROVIDER, form)


def _read_call(form: Form) -> ToolCall:
    values = form.get("input")
    if not isinstance(form.get("id"), str) or not isinstance(form.get("name"), str):
        raise ValueError("a tool_use block without id or name")
    return ToolCall(form["id"], form["name"], values if isinstance(values, dict) else {"input": values})


def _read_result(form: Form) -> ToolResult:
    call = form.get("tool_use_id")
    if not isinstance(call, str):
        raise ValueError("a tool_result block without tool_use_id")
    content = form.get("content")
    parts = [content] if not isinstance(content, list) else content
    images = tuple(image for part in parts if isinstance(part, dict) and (image := _read_image(part)))
    text = "\n".join(filter(None, map(_part_text, parts)))
    return ToolResult(call, text, bool(form.get("is_error")), images)


def _part_text(part: object) -> str:
    match part:
        case str():
            return part
        case dict() if part.get("type") == "text":
            return str(part.get("text") or "")
        case None | {"type": "image"}:
            return ""
    return json.dumps(part, ensure_ascii=False)


def _read_image(form: Form) -> Image | None:
    source = form.get("source")
    if form.get("type") != "image" or not isinstance(source, dict):
        return None
    if isinstance(url := source.get("url"), str):
        return Image(url=url)
    if isinstance(data := source.get("data"), str):
        return Image(str(source.get("media_type") or "image/png"), data)
    return None
