"""opencode: messages with `info` and `parts`; a `tool` part holds a call and its result."""

from collections.abc import Mapping, Sequence
from typing import Any

from outlive.messages import Block, Image, Message, Opaque, Origin, Text, Thinking, ToolCall, ToolResult
from outlive.replay.shapes.protocol import Form

_REMINDER = "<system-reminder>"
"""How a text begins that opencode adds to the user's newest message, and takes away when there is a newer one."""
_RUN_BY_USER = "The following tool was executed by the user"
_INTERRUPTED = "[Tool execution was interrupted]"


class OpencodeShape:
    """Converts the messages of opencode 1.x."""

    def read(self, message: Form, *, parent: bool) -> list[Message] | None:
        parts = _parts(message)
        if _info(message).get("role") == "user":
            if any(part.get("type") == "compaction" for part in parts):
                return None
            blocks = [block for part in parts if (block := _said(part, "parent" if parent else "user")) is not None]
            return [Message("user", tuple(blocks))] if blocks else []
        if _is_left_out(message):
            return None
        blocks = [block for part in parts if (block := _answered(part)) is not None]
        if not blocks:
            return []
        results = tuple(_result(part) for part in parts if part.get("type") == "tool")
        return [Message("assistant", tuple(blocks)), *([Message("user", results)] if results else ())]

    def time(self, message: Form) -> float | None:
        stamp = _dict(_info(message), "time").get("created")
        return stamp / 1000 if isinstance(stamp, int | float) else None

    def prompt_tokens(self, message: Form) -> int:
        tokens = _dict(_info(message), "tokens")
        cache = _dict(tokens, "cache")
        return sum(int(count or 0) for count in (tokens.get("input"), cache.get("read"), cache.get("write")))

    def changed(self, message: Form, texts: Mapping[int, str], results: Mapping[str, str], *, thinking: bool) -> Form:
        is_user = _info(message).get("role") == "user"
        parts, number = [], 0
        for part in _parts(message):
            if (_said(part, "user") if is_user else _answered(part)) is None:
                parts.append(part)
                continue
            text = texts.get(number)
            number += 1
            if part.get("type") == "tool" and str(part.get("callID")) in results:
                parts.append({**part, "state": _shortened(part, results[str(part.get("callID"))])})
            elif part.get("type") == "reasoning":
                parts += [part] if thinking else []
            elif text is None or text.strip():
                parts.append(part if text is None else _text(part, text))
        return message if parts == _parts(message) else {**message, "parts": parts}

    def words(self, blocks: Sequence[Block], like: Form) -> Form:
        base = {"id": "prt_outlive", "messageID": "msg_outlive", "sessionID": _info(like).get("sessionID")}
        parts: list[Form] = []
        for block in blocks:
            if isinstance(block, Text):
                parts.append({**base, "type": "text", "text": block.text, "synthetic": True})
            elif isinstance(block, Image):
                url = block.url or f"data:{block.media_type};base64,{block.data}"
                parts.append({**base, "type": "file", "mime": block.media_type, "url": url})
        return {"info": {**_info(like), "id": "msg_outlive", "role": "user"}, "parts": parts}


def _dict(form: Form, key: str) -> Form:
    found = form.get(key)
    return found if isinstance(found, dict) else {}


def _info(message: Form) -> Form:
    return _dict(message, "info")


def _parts(message: Form) -> list[Form]:
    parts = message.get("parts")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _is_left_out(message: Form) -> bool:
    """Whether opencode does not send the message: its own summaries and failed answers."""
    info = _info(message)
    if info.get("summary"):
        return True
    if not info.get("error"):
        return False
    said = any(part.get("type") not in ("step-start", "reasoning") for part in _parts(message))
    return not (_dict(info, "error").get("name") == "MessageAbortedError" and said)


def _said(part: Form, origin: Origin) -> Block | None:
    """A part of a message in the user's turn."""
    match part.get("type"):
        case "text":
            text, synthetic = str(part.get("text") or ""), bool(part.get("synthetic"))
            if part.get("ignored") or not text.strip() or (synthetic and text.startswith(_REMINDER)):
                return None
            return Text(text, "harness" if synthetic else origin)
        case "file" if part.get("mime") not in ("text/plain", "application/x-directory"):
            return _file(part)
        case "subtask":
            return Text(_RUN_BY_USER, "harness")
        case _:
            return None


def _answered(part: Form) -> Block | None:
    """A part of an answer."""
    match part.get("type"):
        case "text":
            text = str(part.get("text") or "")
            return Text(text) if text.strip() else None
        case "reasoning":
            text = str(part.get("text") or "")
            signature = str(_dict(_dict(part, "metadata"), "anthropic").get("signature") or "")
            return Thinking(text, signature) if text.strip() else Opaque("opencode", {"type": "reasoning"})
        case "tool":
            return ToolCall(str(part.get("callID")), str(part.get("tool")), _dict(_dict(part, "state"), "input"))
        case _:
            return None


def _file(part: Form) -> Block:
    mime, url = str(part.get("mime")), str(part.get("url") or "")
    if not mime.startswith("image/"):
        return Opaque("opencode", {"type": "file", "mime": mime, "filename": str(part.get("filename") or "")})
    head, _, data = url.partition(";base64,")
    return Image(mime, data) if data and head.startswith("data:") else Image(mime, url=url)


def _result(part: Form) -> ToolResult:
    state, call = _dict(part, "state"), str(part.get("callID"))
    if state.get("status") == "completed":
        attached = state.get("attachments")
        files = [_file(file) for file in (attached if isinstance(attached, list) else ()) if isinstance(file, dict)]
        images = tuple(file for file in files if isinstance(file, Image))
        return ToolResult(call, str(state.get("output") or ""), images=images)
    if state.get("status") == "error":
        kept = _dict(state, "metadata").get("output")
        return ToolResult(call, str(kept or state.get("error") or ""), is_error=True)
    return ToolResult(call, _INTERRUPTED, is_error=True)


def _shortened(part: Form, text: str) -> Form:
    """The state of a tool with another result."""
    state: Form = _dict(part, "state")
    if state.get("status") == "completed":
        return {**state, "output": text, "attachments": []}
    return {**state, "status": "error", "error": text, "metadata": {}}


def _text(part: Form, text: str) -> dict[str, Any]:
    """A text part with other words; what the provider signed no longer fits."""
    return {**{key: value for key, value in part.items() if key != "metadata"}, "text": text}
