"""Wire format of the chat completions API: answers and errors."""

import json
from collections.abc import Iterator
from typing import Any

from outlive.testing.simulator.answer import Answer, WireToolCall, chunks
from outlive.testing.simulator.models import SimulatedModel
from outlive.testing.simulator.steps import Say, Think

STOPS = {"end": "stop", "tools": "tool_calls", "length": "length", "refusal": "content_filter"}
CREATED = 1_767_225_600  # 2026-01-01: fixed, so that answers are the same each time
WORDS = {
    401: "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.",
    429: "Rate limit reached for requests. Please try again later.",
    500: "The server had an error while processing your request. Sorry about that!",
    503: "The server is currently overloaded with other requests. Sorry about that!",
    529: "The server is currently overloaded with other requests. Sorry about that!",
}
CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
KINDS = {429: "requests"}


def error_body(
    status: int, message: str, kind: str = "", param: str | None = None, code: str | None = None
) -> dict[str, Any]:
    """An error, as the API words it."""
    kind = kind or KINDS.get(status, "server_error" if status >= 500 else "invalid_request_error")
    text = message or WORDS.get(status, "")
    return {"error": {"message": text, "type": kind, "param": param, "code": code or CODES.get(status)}}


def whole(answer: Answer) -> dict[str, Any]:
    """The answer in one piece."""
    text = "".join(part.text for part in answer.parts if isinstance(part, Say))
    message: dict[str, Any] = {"role": "assistant", "content": text or None, "refusal": None, "annotations": []}
    calls = [part for part in answer.parts if isinstance(part, WireToolCall)]
    if calls:
        message["tool_calls"] = [_call(call) for call in calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": STOPS[answer.stop]}
    return _envelope(answer, "chat.completion") | {"choices": [choice], "usage": usage_body(answer)}


def events(answer: Answer, *, with_usage: bool) -> Iterator[bytes]:
    """Yield the chunks of a stream; the last one before the end has the usage if it was asked for."""
    for delta in _deltas(answer):
        yield _chunk(answer, [_choice(delta, None)], with_usage)
    yield _chunk(answer, [_choice({}, STOPS[answer.stop])], with_usage)
    if with_usage:
        yield _data(_envelope(answer, "chat.completion.chunk") | {"choices": [], "usage": usage_body(answer)})
    yield b"data: [DONE]\n\n"


def error_event(body: dict[str, Any]) -> bytes:
    """An error in the middle of a stream."""
    return _data(body)


def usage_body(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.prompt + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {"reasoning_tokens": answer.thinking_tokens, "audio_tokens": 0},
    }


def model_body(model: SimulatedModel) -> dict[str, Any]:
    """A model in the list of models."""
    return {"id": model.name, "object": "model", "created": CREATED, "owned_by": "outlive"}


def model_list(models: list[SimulatedModel]) -> dict[str, Any]:
    return {"object": "list", "data": [model_body(model) for model in models]}


def _call(call: WireToolCall) -> dict[str, Any]:
    """Write a call; its id may be missing, as from a sloppy server."""
    body = {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    return {"id": call.id, **body} if call.id else body


def _deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    speaks = any(isinstance(part, Say) for part in answer.parts)
    yield {"role": "assistant", "content": "" if speaks else None, "refusal": None}
    number = -1
    for part in answer.parts:
        match part:
            case Say(text):
                yield from ({"content": piece} for piece in chunks(text))
            case WireToolCall():
                number += 1
                opened = _call(WireToolCall(part.id, part.name, ""))
                yield {"tool_calls": [{"index": number, **opened}]}
                for piece in chunks(part.arguments):
                    yield {"tool_calls": [{"index": number, "function": {"arguments": piece}}]}
            case Think():
                continue


def _choice(delta: dict[str, Any], stop: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": stop}


def _chunk(answer: Answer, choices: list[dict[str, Any]], with_usage: bool) -> bytes:
    body = _envelope(answer, "chat.completion.chunk") | {"choices": choices}
    return _data(body | {"usage": None} if with_usage else body)


def _envelope(answer: Answer, kind: str) -> dict[str, Any]:
    return {
        "id": answer.id,
        "object": kind,
        "created": CREATED,
        "model": answer.model,
        "service_tier": "default",
        "system_fingerprint": "fp_outlive",
    }


def _data(body: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(body, separators=(',', ':'))}\n\n".encode()
