"""The Responses API for the simulator."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from outlive.testing.simulator.answer import Answer, SentPart, SentSummary, WireToolCall, answer_of
from outlive.testing.simulator.anthropic.signing import Signer
from outlive.testing.simulator.faults import Fault
from outlive.testing.simulator.models import SimulatedModel
from outlive.testing.simulator.openai import responses_wire as wire
from outlive.testing.simulator.openai.prompt import responses_pieces
from outlive.testing.simulator.openai.reasoning import COMPACTION, Sealed, Sealer
from outlive.testing.simulator.openai.responses_rules import (
    ENCRYPTED,
    check_compact_request,
    check_encrypted,
    check_request,
    items_of,
)
from outlive.testing.simulator.openai.side import OpenAISide, with_defect
from outlive.testing.simulator.seen import RESPONSES_COMPACT, SeenRequest
from outlive.testing.simulator.steps import Say, Step, Think
from outlive.testing.simulator.verdict import CheckedRequest, RuleBroken


class ResponsesSide(OpenAISide):
    """The Responses API. Nothing is stored: reasoning comes back in its encrypted form or not at all."""

    whole = staticmethod(wire.whole)
    error_event = staticmethod(wire.error_event)
    pieces = staticmethod(responses_pieces)

    def __init__(self, models: Mapping[str, SimulatedModel], signer: Signer) -> None:
        super().__init__(models)
        self._sealer = Sealer(signer)
        self._required: dict[str, str] = {}
        """By the id of an item that was sent, the id of the reasoning before it."""

    def check(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> CheckedRequest:
        if path == RESPONSES_COMPACT:
            check_compact_request(body, self._models)
        else:
            check_request(body, self._models)
        check_encrypted(body, self._required, self._sealer.check, self._sealer.check_summary)
        return CheckedRequest(body)

    def too_long(self, used: int, limit: int) -> RuleBroken:
        return RuleBroken(
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            param="input",
            code="context_length_exceeded",
        )

    def answer(self, step: Step, mark: str, request: SeenRequest, fault: Fault | None) -> Answer:
        """Make the answer; its reasoning is encrypted if the request asks for it."""
        body = request.body
        answer = answer_of(step, mark, request.model, prefix=wire.PREFIX, call_prefix="call_")
        reasons = self._models[request.model].reasoning and (body.get("reasoning") or {}).get("effort") != "none"
        kept = tuple(
            _as_custom(part, request.tools) for part in answer.parts if reasons or not isinstance(part, Think)
        )
        report = {"reasoning": body["reasoning"]} if body.get("reasoning") else {}
        answer = with_defect(replace(answer, parts=kept, report=report), fault)
        parts = tuple(
            self._sealed(answer, index, encrypted=ENCRYPTED in (body.get("include") or ()))
            for index in range(len(answer.parts))
        )
        return replace(answer, parts=parts)

    def compacted(self, summary: str, mark: str, request: SeenRequest) -> Answer | None:
        """Return the user's messages and an encrypted summary; None if the compaction failed."""
        if not summary:
            return None
        parts = (SentSummary(summary),)
        report = {"users": wire.user_items(items_of(request.body), mark)}
        answer = Answer(wire.PREFIX + mark, request.model, parts, "compaction", report=report, compacts=True)
        content = self._sealer.seal(Sealed(wire.item_id(answer, 0), summary, COMPACTION))
        return replace(answer, parts=(SentSummary(summary, content),))

    def _sealed(self, answer: Answer, index: int, *, encrypted: bool) -> SentPart:
        """Return a part; reasoning with its encrypted content, which names the item that follows."""
        part = answer.parts[index]
        if not isinstance(part, Think):
            return part
        own = wire.item_id(answer, index)
        following = answer.parts[index + 1] if index + 1 < len(answer.parts) else None
        if following is not None:
            self._required[wire.item_id(answer, index + 1)] = own
        sealed = Sealed(own, part.text, _name_of(following))
        return replace(part, signature=self._sealer.seal(sealed) if encrypted else "")

    def most_output(self, body: dict[str, Any]) -> int | None:
        return body.get("max_output_tokens")

    def events(self, answer: Answer, body: dict[str, Any]) -> Iterator[bytes]:
        return wire.events(answer)


def _as_custom(part: SentPart, tools: Mapping[str, Any]) -> SentPart:
    """Return a call of a custom tool with its `input` as plain text; any other part as it is."""
    if not isinstance(part, WireToolCall) or tools.get(part.name, {}).get("type") != "custom":
        return part
    return replace(part, arguments=str(json.loads(part.arguments).get("input", "")), custom=True)


def _name_of(part: SentPart | None) -> str:
    match part:
        case WireToolCall():
            return f"{'custom_tool_call' if part.custom else 'function_call'}:{part.id}"
        case Say():
            return "message"
        case _:
            return "reasoning" if part else ""
