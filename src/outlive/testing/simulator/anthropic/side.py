"""The Messages API for the simulator."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from outlive.testing.simulator.answer import Answer, SentPart, SentSummary, WireToolCall, answer_of
from outlive.testing.simulator.anthropic import wire
from outlive.testing.simulator.anthropic.binding import hash_of, prefix_of
from outlive.testing.simulator.anthropic.checks.betas import BINDING_CONTROLS, betas_of
from outlive.testing.simulator.anthropic.checks.thinking import thinks
from outlive.testing.simulator.anthropic.compaction import signed_text
from outlive.testing.simulator.anthropic.diagnosis import CacheDiagnosis
from outlive.testing.simulator.anthropic.prompt import pieces_of
from outlive.testing.simulator.anthropic.rules import VERSIONS, AnthropicRules
from outlive.testing.simulator.anthropic.signing import Signer
from outlive.testing.simulator.anthropic.turns import goes_on, turns_of
from outlive.testing.simulator.cache import CachedPiece, PromptCache
from outlive.testing.simulator.faults import Fault
from outlive.testing.simulator.models import BUDGET, SimulatedModel
from outlive.testing.simulator.seen import ReportedUsage, SeenRequest
from outlive.testing.simulator.steps import Say, Step, Think
from outlive.testing.simulator.tokens import compact
from outlive.testing.simulator.verdict import CheckedRequest, RuleBroken

UNPROMPTED = Think("Let me think about this.")


class AnthropicSide:
    """The Messages API."""

    name = "anthropic"
    pieces = staticmethod(pieces_of)
    whole = staticmethod(wire.whole)
    error_event = staticmethod(wire.error_event)

    def __init__(self, models: Mapping[str, SimulatedModel], signer: Signer, *, enforced: bool = True) -> None:
        self._models = models
        self._signer = signer
        self._rules = AnthropicRules(models, signer, enforced=enforced)
        self._diagnosis = CacheDiagnosis()

    def key_of(self, headers: Mapping[str, str]) -> str | None:
        bearer = headers.get("authorization", "").removeprefix("Bearer ").strip()
        return headers.get("x-api-key") or bearer or None

    def refuse_key(self, key: str | None) -> RuleBroken:
        return RuleBroken("invalid x-api-key" if key else "x-api-key header is required", 401)

    def check(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> CheckedRequest:
        version = headers.get("anthropic-version")
        if not version:
            raise RuleBroken("anthropic-version: header is required")
        if version not in VERSIONS:
            raise RuleBroken(f'anthropic-version: "{version}" is not a valid version')
        betas = betas_of(headers.get("anthropic-beta", ""))
        return self._rules.check(body, version, betas, counting=path.endswith("/count_tokens"))

    def bill(self, cache: PromptCache, salt: str, pieces: list[CachedPiece], body: dict[str, Any]) -> ReportedUsage:
        """Return what the prompt costs. An output format is part of every cached prefix."""
        wanted = (body.get("output_config") or {}).get("format")
        return cache.with_breakpoints(salt + compact(wanted).decode() if wanted else salt, pieces)

    def too_long(self, used: int, limit: int) -> RuleBroken:
        return RuleBroken(f"prompt is too long: {used} tokens > {limit} maximum")

    def answer(self, step: Step, mark: str, request: SeenRequest, fault: Fault | None) -> Answer:
        """Make the answer: signed thinking if thinking is on (always some with a budget), none if it is off."""
        answer = answer_of(step, mark, request.model, prefix="msg_", call_prefix="toolu_")
        answer = replace(answer, report=self._report(request, answer.id))
        body = request.body
        if not thinks(body, self._models[request.model]):
            return replace(answer, parts=tuple(part for part in answer.parts if not isinstance(part, Think)))
        parts = list(answer.parts)
        asked = body.get("thinking") or {}
        opens = not goes_on(turns_of(body["messages"])[-1])
        if asked.get("type") == BUDGET and opens and not (parts and isinstance(parts[0], Think)):
            parts.insert(0, UNPROMPTED)
        signed = self._signed(parts, mark, request)
        calls = [part.id for part in signed if isinstance(part, WireToolCall)]
        self._rules.remember(calls, [part.signature for part in signed if isinstance(part, Think)])
        return replace(answer, parts=signed)

    def compacted(self, summary: str, mark: str, request: SeenRequest) -> Answer:
        """Make the answer of a compaction request: one block, which thinking after its messages stays bound to."""
        part = SentSummary("")
        if summary:
            binds = self._models[request.model].binds_thinking
            record = prefix_of(request.body, request.dropped)[0].summary_record() if binds else ""
            part = SentSummary(summary, self._signer.sign(signed_text(summary), mark, record))
        report = self._report(request, f"msg_{mark}")
        return Answer(f"msg_{mark}", request.model, (part,), "compaction", report=report, compacts=True)

    def _signed(self, parts: list[SentPart], mark: str, request: SeenRequest) -> tuple[SentPart, ...]:
        """Sign the thinking, bound to what comes before it if the model binds."""
        hidden = (request.body.get("thinking") or {}).get("display") == "omitted"
        binds = self._models[request.model].binds_thinking
        prefix, previous = prefix_of(request.body, request.dropped)
        signed: list[SentPart] = []
        for index, part in enumerate(parts):
            if isinstance(part, Think):
                text = "" if hidden else part.text
                record = prefix.record(previous) if binds else ""
                part = Think(text, self._signer.sign(text, f"{mark}{index:02d}", record))
                previous = hash_of(part.signature)
            elif part != Say(""):
                prefix.add("assistant", wire.block_of(part))
            signed.append(part)
        return tuple(signed)

    def _report(self, request: SeenRequest, message_id: str) -> dict[str, Any]:
        """Return the fields of an answer that speak of its request."""
        betas = betas_of(request.headers.get("anthropic-beta", ""))
        report: dict[str, Any] = {"diagnostics": self._diagnosis.of(request.body, betas, message_id)}
        if BINDING_CONTROLS in betas:
            report["input_transformations"] = wire.transformations(request.dropped, request.mismatched)
        if request.body.get("context_management") is not None:
            report["context_management"] = {"applied_edits": []}
        return report

    def most_output(self, body: dict[str, Any]) -> int | None:
        return int(body["max_tokens"])

    def error(self, refused: RuleBroken, request_id: str) -> dict[str, Any]:
        return wire.error_body(refused.status, refused.message, refused.kind, request_id, refused.code)

    def events(self, answer: Answer, body: dict[str, Any]) -> Iterator[bytes]:
        return wire.events(answer)

    def models(self, name: str, window: int) -> dict[str, Any]:
        mine = {model.name: model for model in self._models.values() if model.provider == self.name}
        if not name:
            return wire.model_list(list(mine.values()), window)
        if name not in mine:
            raise RuleBroken(f"model: {name}", 404)
        return wire.model_body(mine[name], window)
