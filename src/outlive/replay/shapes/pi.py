"""pi: messages with a `role`; `toolResult` is a message of its own. `docs/message-types.md` of pi describes them."""

from collections.abc import Mapping, Sequence

from outlive.messages import Block, Image, Message, Opaque, Origin, Text, Thinking, ToolCall, ToolResult
from outlive.replay.shapes.protocol import Form

FAILED = ("error", "aborted")
"""Answers that pi leaves out of its requests."""
_SUMMARIES = ("branchSummary", "compactionSummary")


class PiShape:
    """Converts the messages of pi."""

    def read(self, message: Form, *, parent: bool) -> list[Message] | None:
        role = message.get("role")
        blocks: list[Block]
        if role == "assistant":
            if message.get("stopReason") in FAILED:
                return None
            blocks = [block for part in _parts(message) if (block := _block(part, "")) is not None]
            return [Message("assistant", tuple(blocks))] if blocks else []
        if role == "toolResult":
            return [Message("user", (_result(message),))]
        if role == "bashExecution":
            if message.get("excludeFromContext"):
                return None
            blocks = [Text(f"Ran `{message.get('command')}`\n{message.get('output')}", "harness")]
        elif role in _SUMMARIES:
            blocks = [Text(str(message.get("summary")), "harness")]
        else:
            origin: Origin = "hook" if role != "user" else "parent" if parent else "user"
            blocks = [block for part in _parts(message) if (block := _block(part, origin)) is not None]
        return [Message("user", tuple(blocks))] if blocks else []

    def time(self, message: Form) -> float | None:
        stamp = message.get("timestamp")
        return stamp / 1000 if isinstance(stamp, int | float) else None

    def prompt_tokens(self, message: Form) -> int:
        usage = message.get("usage")
        if message.get("role") != "assistant" or not isinstance(usage, dict):
            return 0
        return sum(int(usage.get(name) or 0) for name in ("input", "cacheRead", "cacheWrite"))

    def changed(self, message: Form, texts: Mapping[int, str], results: Mapping[str, str], *, thinking: bool) -> Form:
        role = message.get("role")
        if role == "toolResult":
            text = results.get(str(message.get("toolCallId")))
            return message if text is None else {**message, "content": [{"type": "text", "text": text}]}
        if role in ("bashExecution", *_SUMMARIES):
            return {"role": "user", "content": texts[0], "timestamp": message.get("timestamp")} if texts else message
        parts, number = [], 0
        for part in _parts(message):
            if _block(part, "") is None:
                parts.append(part)
                continue
            text = texts.get(number)
            number += 1
            if (text is None or text.strip()) and (thinking or part.get("type") != "thinking"):
                parts.append(part if text is None else {"type": "text", "text": text})
        return message if parts == _parts(message) else {**message, "content": parts}

    def words(self, blocks: Sequence[Block], like: Form) -> Form:
        parts = [
            {"type": "image", "data": block.data, "mimeType": block.media_type}
            if isinstance(block, Image)
            else {"type": "text", "text": block.text}
            for block in blocks
            if isinstance(block, Text) or (isinstance(block, Image) and block.data)
        ]
        return {"role": "user", "content": parts, "timestamp": like.get("timestamp")}


def _parts(message: Form) -> list[Form]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _block(part: Form, origin: Origin) -> Block | None:
    """A part as a block of ours; None if there is nothing in it to read."""
    match part.get("type"):
        case "text":
            text = str(part.get("text") or "")
            return Text(text, origin) if text.strip() else None
        case "image":
            return Image(str(part.get("mimeType") or "image/png"), str(part.get("data") or ""))
        case "thinking":
            text, signature = str(part.get("thinking") or ""), str(part.get("thinkingSignature") or "")
            if text.strip() and not part.get("redacted"):
                return Thinking(text, signature)
            return Opaque("pi", {"type": "reasoning", "data": signature})
        case "toolCall":
            given = part.get("arguments")
            return ToolCall(str(part.get("id")), str(part.get("name")), given if isinstance(given, dict) else {})
        case _:
            return None


def _result(message: Form) -> ToolResult:
    blocks = [block for part in _parts(message) if (block := _block(part, "")) is not None]
    text = "\n".join(block.text for block in blocks if isinstance(block, Text))
    images = tuple(block for block in blocks if isinstance(block, Image))
    return ToolResult(str(message.get("toolCallId")), text, bool(message.get("isError")), images)
