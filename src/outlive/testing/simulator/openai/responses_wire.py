"""Wire format of the Responses API: answers, and the events of a stream in their order."""

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

from outlive.testing.simulator.answer import Answer, SentPart, SentSummary, WireToolCall, chunks
from outlive.testing.simulator.openai.wire import CREATED
from outlive.testing.simulator.steps import Say, Think

PREFIX = "resp_"
PREFIXES: dict[type, str] = {Think: "rs", Say: "msg", WireToolCall: "fc", SentSummary: "cmp"}
"""What the ids of items start with."""
REASONS = {"length": "max_output_tokens", "refusal": "content_filter"}
"""Why an answer is incomplete."""
Event: TypeAlias = tuple[str, dict[str, Any]]


def whole(answer: Answer) -> dict[str, Any]:
    """The answer in one piece."""
    items = [item_body(answer, index, _status(answer, index)) for index in range(len(answer.parts))]
    if answer.compacts:
        envelope = {"id": answer.id, "object": "response.compaction", "created_at": CREATED}
        return envelope | {"output": [*answer.report["users"], *items], "usage": usage_body(answer)}
    done = answer.stop not in REASONS
    return _response(answer, "completed" if done else "incomplete", items) | {"usage": usage_body(answer)}


def events(answer: Answer) -> Iterator[bytes]:
    """Yield the events of a stream."""
    for number, (kind, data) in enumerate(_events(answer)):
        yield _event(kind, {"sequence_number": number, **data})


def error_event(body: dict[str, Any]) -> bytes:
    """An error in the middle of a stream."""
    error = body["error"]
    code = error["code"] or error["type"]
    return _event("error", {"code": code, "message": error["message"], "param": None, "sequence_number": 0})


def usage_body(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": answer.thinking_tokens},
        "total_tokens": usage.prompt + usage.output,
    }


def user_items(items: list[dict[str, Any]], mark: str) -> list[dict[str, Any]]:
    """Return the user's messages of an input, as a compaction sends them back."""
    messages = [item for item in items if item.get("role") == "user"]
    contents = [
        [{"type": "input_text", "text": content}] if isinstance(content, str) else content
        for content in (message["content"] for message in messages)
    ]
    shape = {"type": "message", "status": "completed", "role": "user"}
    return [
        {"id": f"msg_{mark}u{number:02d}", **shape, "content": content} for number, content in enumerate(contents)
    ]


def item_id(answer: Answer, index: int) -> str:
    """Return the id of an item of the answer."""
    mark = answer.id.removeprefix(PREFIX)
    return f"{_prefix(answer.parts[index])}_{mark}{index:02d}"


def item_body(answer: Answer, index: int, status: str) -> dict[str, Any]:
    """An item of the answer; while it is in progress, without its content."""
    part, begun = answer.parts[index], status == "in_progress"
    body: dict[str, Any] = {"id": item_id(answer, index)}
    match part:
        case Think():
            summary = [] if begun or not _summarized(answer) else [_summary(part.text)]
            sealed = {} if begun or not part.signature else {"encrypted_content": part.signature}
            return body | {"type": "reasoning", "summary": summary} | sealed
        case Say():
            content = [] if begun else [_text(part.text)]
            return body | {"type": "message", "status": status, "role": "assistant", "content": content}
        case WireToolCall(custom=True):
            custom = {"call_id": part.id, "name": part.name, "input": "" if begun else part.arguments}
            return body | {"type": "custom_tool_call", "status": status, **custom}
        case WireToolCall():
            call = {"call_id": part.id, "name": part.name, "arguments": "" if begun else part.arguments}
            return body | {"type": "function_call", "status": status, **call}
        case SentSummary():
            return body | {"type": "compaction", "encrypted_content": part.signature}


def _events(answer: Answer) -> Iterator[Event]:
    begun = {"response": _response(answer, "in_progress", []) | {"usage": None}}
    yield "response.created", begun
    yield "response.in_progress", begun
    for index, part in enumerate(answer.parts):
        where = {"output_index": index}
        yield "response.output_item.added", where | {"item": item_body(answer, index, "in_progress")}
        yield from _inside(answer, part, where | {"item_id": item_id(answer, index)})
        yield "response.output_item.done", where | {"item": item_body(answer, index, _status(answer, index))}
    ended = whole(answer)
    yield f"response.{ended['status']}", {"response": ended}


def _inside(answer: Answer, part: SentPart, where: dict[str, Any]) -> Iterator[Event]:
    """Yield the events between the begin and the end of an item."""
    match part:
        case Think():
            if _summarized(answer):
                place = where | {"summary_index": 0}
                yield "response.reasoning_summary_part.added", place | {"part": _summary("")}
                yield from _deltas("response.reasoning_summary_text", part.text, place, "text")
                yield "response.reasoning_summary_part.done", place | {"part": _summary(part.text)}
        case Say():
            place = where | {"content_index": 0}
            yield "response.content_part.added", place | {"part": _text("")}
            yield from _deltas("response.output_text", part.text, place | {"logprobs": []}, "text")
            yield "response.content_part.done", place | {"part": _text(part.text)}
        case WireToolCall(custom=True):
            yield from _deltas("response.custom_tool_call_input", part.arguments, where, "input")
        case WireToolCall():
            yield from _deltas("response.function_call_arguments", part.arguments, where, "arguments")


def _deltas(kind: str, text: str, place: dict[str, Any], name: str) -> Iterator[Event]:
    for piece in chunks(text):
        yield f"{kind}.delta", place | {"delta": piece}
    yield f"{kind}.done", place | {name: text}


def _status(answer: Answer, index: int) -> str:
    cut = answer.stop == "length" and index == len(answer.parts) - 1
    return "incomplete" if cut else "completed"


def _summarized(answer: Answer) -> bool:
    return bool((answer.report.get("reasoning") or {}).get("summary"))


def _prefix(part: SentPart) -> str:
    return "ctc" if isinstance(part, WireToolCall) and part.custom else PREFIXES[type(part)]


def _text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def _summary(text: str) -> dict[str, Any]:
    return {"type": "summary_text", "text": text}


def _response(answer: Answer, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    incomplete = {"reason": REASONS[answer.stop]} if status == "incomplete" else None
    return {
        "id": answer.id,
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": None,
        "incomplete_details": incomplete,
        "model": answer.model,
        "output": output,
        "parallel_tool_calls": True,
        "store": False,
        "tool_choice": "auto",
        "tools": [],
        **answer.report,
    }


def _event(kind: str, data: dict[str, Any]) -> bytes:
    body = json.dumps({"type": kind, **data}, separators=(",", ":"))
    return f"event: {kind}\ndata: {body}\n\n".encode()
