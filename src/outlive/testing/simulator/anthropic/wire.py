"""Wire format of the Messages API: answers and errors."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from outlive.testing.simulator.answer import Answer, SentPart, SentSummary, WireToolCall, chunks
from outlive.testing.simulator.models import SimulatedModel
from outlive.testing.simulator.seen import ReportedUsage
from outlive.testing.simulator.steps import Say, Think
from outlive.testing.simulator.tokens import compact

STOPS = {
    "end": "end_turn",
    "tools": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
    "compaction": "compaction",
}
KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
WORDS = {
    401: "invalid x-api-key",
    429: "This request would exceed your organization's rate limit.",
    500: "Internal server error",
    503: "Service unavailable",
    529: "Overloaded",
}


def error_body(status: int, message: str, kind: str, request_id: str, code: str | None = None) -> dict[str, Any]:
    """An error, as the API words it."""
    error: dict[str, Any] = {"type": kind or KINDS.get(status, "api_error" if status >= 500 else KINDS[400])}
    error |= {"message": message or WORDS.get(status, "")} | ({"details": {"error_code": code}} if code else {})
    return {"type": "error", "error": error, "request_id": request_id}


def whole(answer: Answer) -> dict[str, Any]:
    """The answer in one piece."""
    return _message(answer, [block_of(part) for part in answer.parts], STOPS[answer.stop], _usage(answer))


def events(answer: Answer) -> Iterator[bytes]:
    """The answer as the events of a stream."""
    opening = _message(answer, [], None, _usage(answer) | {"output_tokens": 1})
    edits = {name: opening.pop(name) for name in ("context_management",) if name in opening}
    yield _event("message_start", {"message": opening})
    for index, part in enumerate(answer.parts):
        yield _event("content_block_start", {"index": index, "content_block": _opened(part)})
        if not index:
            yield _event("ping", {})
        for delta in _deltas(part):
            yield _event("content_block_delta", {"index": index, "delta": delta})
        yield _event("content_block_stop", {"index": index})
    ending = {"stop_reason": STOPS[answer.stop], "stop_sequence": None, "stop_details": _details(answer)}
    yield _event("message_delta", {"delta": ending, "usage": _final_usage(answer), **edits})
    yield _event("message_stop", {})


def error_event(body: dict[str, Any]) -> bytes:
    """An error in the middle of a stream."""
    return b"event: error\ndata: " + compact(body) + b"\n\n"


def model_body(model: SimulatedModel, window: int) -> dict[str, Any]:
    """A model in the list of models."""
    return {
        "type": "model",
        "id": model.name,
        "display_name": model.name.replace("-", " ").title(),
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": window,
        "max_tokens": model.max_output,
    }


def model_list(models: list[SimulatedModel], window: int) -> dict[str, Any]:
    data = [model_body(model, window) for model in models]
    ends = {"first_id": data[0]["id"], "last_id": data[-1]["id"]} if data else {"first_id": None, "last_id": None}
    return {"data": data, "has_more": False, **ends}


def _event(name: str, data: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data}, separators=(',', ':'))}\n\n".encode()


def _message(answer: Answer, content: list[Any], stop: str | None, usage: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": answer.id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "stop_details": _details(answer) if stop else None,
        "usage": usage,
        **answer.report,
    }


def transformations(dropped: Iterable[str], mismatched: Iterable[str]) -> list[dict[str, str]]:
    """Describe the thinking that failed the binding check, by its paths."""
    kinds = {"thinking_dropped": dropped, "thinking_mismatch_allowed": mismatched}
    reason = "prefix_binding_mismatch"
    return [{"type": kind, "path": path, "reason": reason} for kind, paths in kinds.items() for path in paths]


def _details(answer: Answer) -> dict[str, Any] | None:
    return {"type": "refusal", "category": None, "explanation": None} if answer.stop == "refusal" else None


def _usage(answer: Answer) -> dict[str, Any]:
    usage: ReportedUsage = answer.usage
    short = usage.cache_write - usage.cache_write_1h
    return {
        **_final_usage(answer),
        "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": usage.cache_write_1h},
        "service_tier": "standard",
    }


def _final_usage(answer: Answer) -> dict[str, Any]:
    """The tokens of an answer; a compaction reports them as an iteration too."""
    tokens = {
        "input_tokens": answer.usage.input,
        "cache_creation_input_tokens": answer.usage.cache_write,
        "cache_read_input_tokens": answer.usage.cache_read,
        "output_tokens": answer.usage.output,
    }
    iterations = {"iterations": [{"type": "compaction", **tokens}]} if answer.compacts else {}
    return {**tokens, "output_tokens_details": {"thinking_tokens": answer.thinking_tokens}, **iterations}


def block_of(part: SentPart) -> dict[str, Any]:
    """A part of an answer as a content block."""
    match part:
        case Say(text):
            return {"type": "text", "text": text, "citations": None}
        case Think(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case WireToolCall(call_id, name, arguments):
            return {"type": "tool_use", "id": call_id, "name": name, "input": _whole_or_nothing(arguments)}
        case SentSummary(text, signature):
            signed = {"signature": signature, "tool_changes": []} if text else {}
            return {"type": "compaction", "content": text or None, **signed}


def _whole_or_nothing(arguments: str) -> Any:
    """Parse the input of a call; a call that was cut off has none."""
    try:
        return json.loads(arguments)
    except ValueError:
        return {}


def _opened(part: SentPart) -> dict[str, Any]:
    match part:
        case Say():
            return {"type": "text", "text": ""}
        case Think():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case WireToolCall(call_id, name, _):
            return {"type": "tool_use", "id": call_id, "name": name, "input": {}}
        case SentSummary():
            return block_of(part)


def _deltas(part: SentPart) -> Iterator[dict[str, Any]]:
    match part:
        case Say(text):
            yield from ({"type": "text_delta", "text": piece} for piece in chunks(text))
        case Think(text, signature):
            yield from ({"type": "thinking_delta", "thinking": piece} for piece in chunks(text))
            yield {"type": "signature_delta", "signature": signature}
        case WireToolCall(_, _, arguments):
            yield {"type": "input_json_delta", "partial_json": ""}
            yield from ({"type": "input_json_delta", "partial_json": piece} for piece in chunks(arguments))
        case SentSummary():
            return
