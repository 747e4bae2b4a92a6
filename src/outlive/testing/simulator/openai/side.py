"""The chat completions API for the simulator."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from outlive.testing.simulator.answer import Answer, SentPart, WireToolCall, answer_of
from outlive.testing.simulator.cache import CachedPiece, PromptCache
from outlive.testing.simulator.faults import Fault
from outlive.testing.simulator.models import SimulatedModel
from outlive.testing.simulator.openai import wire
from outlive.testing.simulator.openai.output import format_of
from outlive.testing.simulator.openai.prompt import chat_pieces
from outlive.testing.simulator.openai.rules import check_request
from outlive.testing.simulator.seen import ReportedUsage, SeenRequest
from outlive.testing.simulator.steps import Say, Step
from outlive.testing.simulator.tokens import compact
from outlive.testing.simulator.verdict import CheckedRequest, RuleBroken

NO_KEY = (
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
    "(i.e. Authorization: Bearer YOUR_KEY)."
)


class OpenAISide:
    """The chat completions API."""

    name = "openai"
    whole = staticmethod(wire.whole)
    error_event = staticmethod(wire.error_event)
    pieces = staticmethod(chat_pieces)

    def __init__(self, models: Mapping[str, SimulatedModel]) -> None:
        self._models = models

    def key_of(self, headers: Mapping[str, str]) -> str | None:
        return headers.get("authorization", "").removeprefix("Bearer ").strip() or None

    def refuse_key(self, key: str | None) -> RuleBroken:
        if key is None:
            return RuleBroken(NO_KEY, 401, code="missing_api_key")
        shown = f"{key[:4]}{'*' * 8}"
        return RuleBroken(
            f"Incorrect API key provided: {shown}. You can find your API key at "
            "https://platform.openai.com/account/api-keys.",
            401,
            code="invalid_api_key",
        )

    def check(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> CheckedRequest:
        check_request(body, self._models)
        return CheckedRequest(body)

    def bill(self, cache: PromptCache, salt: str, pieces: list[CachedPiece], body: dict[str, Any]) -> ReportedUsage:
        """Return what the prompt costs. An output format is part of every cached prefix."""
        if wanted := format_of(body):
            salt += compact(wanted).decode()
        if not self._models[body["model"]].breakpoints:
            return cache.automatic(salt, pieces)
        mode = (body.get("prompt_cache_options") or {}).get("mode")
        return cache.at_breakpoints(salt, pieces, implicit=mode != "explicit")

    def too_long(self, used: int, limit: int) -> RuleBroken:
        return RuleBroken(
            f"This model's maximum context length is {limit} tokens. However, your messages resulted in {used} "
            "tokens. Please reduce the length of the messages.",
            param="messages",
            code="context_length_exceeded",
        )

    def answer(self, step: Step, mark: str, request: SeenRequest, fault: Fault | None) -> Answer:
        """Make the answer, well formed or with the defect that the fault asks for."""
        answer = answer_of(step, mark, request.model, prefix="chatcmpl-", call_prefix="call_")
        return with_defect(answer, fault)

    def compacted(self, summary: str, mark: str, request: SeenRequest) -> Answer | None:
        """Return None: the chat completions API has no compaction."""
        return None

    def most_output(self, body: dict[str, Any]) -> int | None:
        return body.get("max_completion_tokens") or body.get("max_tokens")

    def error(self, refused: RuleBroken, request_id: str) -> dict[str, Any]:
        return wire.error_body(refused.status, refused.message, refused.kind, refused.param, refused.code)

    def events(self, answer: Answer, body: dict[str, Any]) -> Iterator[bytes]:
        return wire.events(answer, with_usage=bool((body.get("stream_options") or {}).get("include_usage")))

    def models(self, name: str, window: int) -> dict[str, Any]:
        mine = {model.name: model for model in self._models.values() if model.provider == self.name}
        if not name:
            return wire.model_list(list(mine.values()))
        if name not in mine:
            raise RuleBroken(f"The model '{name}' does not exist", 404, param="model", code="model_not_found")
        return wire.model_body(mine[name])


def with_defect(answer: Answer, fault: Fault | None) -> Answer:
    """Return the answer with the defect that a fault asks for."""
    match fault.name if fault else "":
        case "bad arguments":
            return _with_calls(answer, lambda call: replace(call, arguments=_spoilt(call, fault)))
        case "no call ids":
            return _with_calls(answer, lambda call: replace(call, id=""))
        case "call as text":
            return replace(answer, parts=tuple(_written(part, fault) for part in answer.parts), stop="end")
        case _:
            return answer


def _with_calls(answer: Answer, change: Any) -> Answer:
    return replace(
        answer, parts=tuple(change(part) if isinstance(part, WireToolCall) else part for part in answer.parts)
    )


def _spoilt(call: WireToolCall, fault: Fault | None) -> str:
    return (fault.message if fault else "") or call.arguments[:-1]


def _written(part: SentPart, fault: Fault | None) -> SentPart:
    if not isinstance(part, WireToolCall):
        return part
    written = json.dumps({"name": part.name, "arguments": json.loads(part.arguments)})
    return Say((fault.message if fault else "{call}").replace("{call}", written))
