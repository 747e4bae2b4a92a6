"""The Messages API for the simulator."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from outlive.testing.simulator.answer import Answer, WireToolCall, answer_of
from outlive.testing.simulator.anthropic import wire
from outlive.testing.simulator.anthropic.prompt import pieces_of
from outlive.testing.simulator.anthropic.rules import VERSIONS, AnthropicRules, thinks
from outlive.testing.simulator.anthropic.signing import Signer
from outlive.testing.simulator.anthropic.turns import goes_on, turns_of
from outlive.testing.simulator.faults import Fault
from outlive.testing.simulator.models import BUDGET, SimulatedModel
from outlive.testing.simulator.refusal import RuleBroken
from outlive.testing.simulator.seen import SeenRequest
from outlive.testing.simulator.steps import Step, Think

UNPROMPTED = Think("Let me think about this.")


class AnthropicSide:
    """The Messages API."""

    name = "anthropic"
    pieces = staticmethod(pieces_of)
    whole = staticmethod(wire.whole)
    error_event = staticmethod(wire.error_event)

    def __init__(self, models: Mapping[str, SimulatedModel], signer: Signer) -> None:
        self._models = models
        self._signer = signer
        self._rules = AnthropicRules(models, signer)

    def key_of(self, headers: Mapping[str, str]) -> str | None:
        bearer = headers.get("authorization", "").removeprefix("Bearer ").strip()
        return headers.get("x-api-key") or bearer or None

    def refuse_key(self, key: str | None) -> RuleBroken:
        return RuleBroken("invalid x-api-key" if key else "x-api-key header is required", 401)

    def check(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> None:
        version = headers.get("anthropic-version")
        if not version:
            raise RuleBroken("anthropic-version: header is required")
        if version not in VERSIONS:
            raise RuleBroken(f'anthropic-version: "{version}" is not a valid version')
        self._rules.check(body, version, counting=path.endswith("/count_tokens"))

    def too_long(self, used: int, limit: int) -> RuleBroken:
        return RuleBroken(f"prompt is too long: {used} tokens > {limit} maximum")

    def answer(self, step: Step, mark: str, request: SeenRequest, fault: Fault | None) -> Answer:
        """Make the answer: signed thinking if thinking is on (always some with a budget), none if it is off."""
        answer = answer_of(step, mark, request.model, prefix="msg_", call_prefix="toolu_")
        body = request.body
        if not thinks(body, self._models[request.model]):
            return replace(answer, parts=tuple(part for part in answer.parts if not isinstance(part, Think)))
        parts = list(answer.parts)
        asked = body.get("thinking") or {}
        opens = not goes_on(turns_of(body["messages"])[-1])
        if asked.get("type") == BUDGET and opens and not (parts and isinstance(parts[0], Think)):
            parts.insert(0, UNPROMPTED)
        hidden = asked.get("display") == "omitted"
        signed = tuple(
            self._signed(part, f"{mark}{index:02d}", hidden) if isinstance(part, Think) else part
            for index, part in enumerate(parts)
        )
        calls = [part.id for part in signed if isinstance(part, WireToolCall)]
        self._rules.remember(calls, [part.signature for part in signed if isinstance(part, Think)])
        return replace(answer, parts=signed)

    def _signed(self, thought: Think, nonce: str, hidden: bool) -> Think:
        text = "" if hidden else thought.text
        return Think(text, self._signer.sign(text, nonce))

    def most_output(self, body: dict[str, Any]) -> int | None:
        return int(body["max_tokens"])

    def error(self, refused: RuleBroken, request_id: str) -> dict[str, Any]:
        return wire.error_body(refused.status, refused.message, refused.kind, request_id)

    def events(self, answer: Answer, body: dict[str, Any]) -> Iterator[bytes]:
        return wire.events(answer)

    def models(self, name: str, window: int) -> dict[str, Any]:
        mine = {model.name: model for model in self._models.values() if model.provider == self.name}
        if not name:
            return wire.model_list(list(mine.values()), window)
        if name not in mine:
            raise RuleBroken(f"model: {name}", 404)
        return wire.model_body(mine[name], window)
