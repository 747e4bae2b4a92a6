"""Rules of the Messages API. docs/simulator.md says how certain each rule is."""

from collections.abc import Collection, Mapping
from typing import Any

from outlive.testing.simulator.anthropic.binding import mismatches, without
from outlive.testing.simulator.anthropic.checks.betas import (
    BINDING_CONTROLS,
    COMPACT_AT_THRESHOLD,
    COMPACT_ON_DEMAND,
    CONTEXT_MANAGEMENT,
)
from outlive.testing.simulator.anthropic.checks.blocks import check_cache_control
from outlive.testing.simulator.anthropic.checks.edits import check_context_management
from outlive.testing.simulator.anthropic.checks.fields import check_fields, check_type, one_of
from outlive.testing.simulator.anthropic.checks.messages import check_messages
from outlive.testing.simulator.anthropic.checks.output import check_output_config
from outlive.testing.simulator.anthropic.checks.thinking import DROP, check_thinking, mismatch_behavior, thinks
from outlive.testing.simulator.anthropic.checks.tool_changes import check_tool_changes
from outlive.testing.simulator.anthropic.checks.tools import check_choice, check_tools
from outlive.testing.simulator.anthropic.compaction import check_block_alone, check_compaction
from outlive.testing.simulator.anthropic.diagnosis import check_diagnostics
from outlive.testing.simulator.anthropic.signing import Signer
from outlive.testing.simulator.anthropic.turns import MergedTurn, check_pairs, check_thinking_kept, turns_of
from outlive.testing.simulator.models import BUDGET, SimulatedModel
from outlive.testing.simulator.verdict import CheckedRequest, RuleBroken

VERSIONS = ("2023-01-01", "2023-06-01", "2026-10-21")
REQUIRED: dict[str, type] = {"model": str, "messages": list}
COUNTED: dict[str, type | None] = {
    "cache_control": dict,
    "output_config": dict,
    "speed": str,
    "system": None,
    "thinking": dict,
    "tool_choice": dict,
    "tools": list,
}
CREATED: dict[str, type | None] = {
    **COUNTED,
    "container": None,
    "diagnostics": dict,
    "inference_geo": str,
    "metadata": dict,
    "service_tier": str,
    "stop_sequences": list,
    "stream": bool,
}
SAMPLING: dict[str, type | None] = {"temperature": None, "top_p": None, "top_k": int}
MAX_BREAKPOINTS = 4  # as the API


class AnthropicRules:
    """Checks requests; remembers which thinking was sent with which call.

    `enforced`: thinking that fails the binding check is refused unless the request says otherwise.
    """

    def __init__(self, models: Mapping[str, SimulatedModel], signer: Signer, *, enforced: bool) -> None:
        self._models = models
        self._signer = signer
        self._enforced = enforced
        self._thinking_of: dict[str, frozenset[str]] = {}

    def remember(self, call_ids: list[str], signatures: list[str]) -> None:
        """Record that these calls were sent with this thinking and must come back with it."""
        self._thinking_of |= dict.fromkeys(call_ids, frozenset(signatures))

    def check(
        self, body: dict[str, Any], version: str, betas: Collection[str] = (), *, counting: bool = False
    ) -> CheckedRequest:
        """Raise the first error of a request, or return what the model is shown of it."""
        self._check_shape(body, version, betas, counting)
        model = self._model(body["model"])
        check_diagnostics(body.get("diagnostics"))
        check_context_management(body.get("context_management"), betas)
        _check_system(body.get("system"))
        if not counting:
            check_compaction(body, model)
        check_output_config(body.get("output_config"))
        check_messages(body["messages"], model, version, betas, self._signer)
        check_block_alone(body)
        check_tools(body.get("tools") or [])
        check_tool_changes(body, betas)
        check_choice(body)
        if not counting:
            _check_length(body["max_tokens"], model)
        check_thinking(body, model, betas)
        _check_breakpoints(body)
        turns = turns_of(body["messages"])
        check_pairs(turns)
        if thinks(body, model):
            self._check_thinking_kept(body, turns, model)
        _check_end(turns, model, body)
        return self._bound(body, model, betas)

    def _check_shape(self, body: dict[str, Any], version: str, betas: Collection[str], counting: bool) -> None:
        required = REQUIRED if counting else {**REQUIRED, "max_tokens": int}
        optional = COUNTED if counting else CREATED
        if version < "2026-10-21" and not counting:
            optional = {**optional, **SAMPLING}
        if CONTEXT_MANAGEMENT in betas or COMPACT_AT_THRESHOLD in betas:
            optional = {**optional, "context_management": dict}
        if COMPACT_ON_DEMAND in betas:
            optional = {**optional, "compaction": dict}
        check_fields(body, "", required, optional)

    def _check_thinking_kept(self, body: dict[str, Any], turns: list[MergedTurn], model: SimulatedModel) -> None:
        budgeted = (body.get("thinking") or {}).get("type") == BUDGET
        all_left_out = model.binds_thinking and not any(turn.of("thinking") for turn in turns)
        check_thinking_kept(turns, {} if all_left_out else self._thinking_of, budgeted=budgeted)

    def _bound(self, body: dict[str, Any], model: SimulatedModel, betas: Collection[str]) -> CheckedRequest:
        """Check that thinking is where it was made. A request that names a behaviour is always enforced."""
        behavior = mismatch_behavior(body)
        enforced = self._enforced or behavior is not None
        found = mismatches(body, enforced=enforced) if model.binds_thinking else []
        paths = tuple(mismatch.path for mismatch in found)
        if not enforced or not found:
            return CheckedRequest(body, mismatched=paths)
        if behavior == DROP:
            return CheckedRequest(without(body, paths), dropped=paths)
        needs = f" That setting requires the `{BINDING_CONTROLS}` value in the `anthropic-beta` header."
        raise RuleBroken(
            f"{found[0].path}: Invalid `signature` in `thinking` block. The block is bound to a different "
            "conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "
            f'"{DROP}".{"" if BINDING_CONTROLS in betas else needs} {found[0].reason}'
        )

    def _model(self, name: str) -> SimulatedModel:
        model = self._models.get(name)
        if model is None or model.provider != "anthropic":
            raise RuleBroken(f"model: {name}", 404)
        return model


def _check_system(system: Any) -> None:
    if system is None or isinstance(system, str):
        return
    check_type(system, "system", list)
    for index, block in enumerate(system):
        check_fields(
            block, f"system.{index}.", {"type": str, "text": str}, {"cache_control": dict, "citations": list}
        )
        one_of(block["type"], f"system.{index}.type", ("text",))
        check_cache_control(block.get("cache_control"), f"system.{index}.cache_control")
        if not block["text"]:
            wrong = "cache_control cannot be set for empty text blocks" if block.get("cache_control") else ""
            raise RuleBroken(
                f"system.{index}.text: {wrong}" if wrong else "system: text content blocks must be non-empty"
            )


def _check_length(max_tokens: int, model: SimulatedModel) -> None:
    if max_tokens < 0:
        raise RuleBroken("max_tokens: Input should be greater than or equal to 0")
    if max_tokens > model.max_output:
        raise RuleBroken(
            f"max_tokens: {max_tokens} > {model.max_output}, which is the maximum allowed number of output tokens "
            f"for {model.name}"
        )


def breakpoints(body: dict[str, Any]) -> list[str]:
    """Return the lifetimes of all explicit breakpoints, in the order tools, system, messages."""
    things = [*(body.get("tools") or [])]
    things += body["system"] if isinstance(body.get("system"), list) else []
    for message in body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            inner = block.get("content") if block["type"] == "tool_result" else None
            things += [*(inner if isinstance(inner, list) else ()), block]
    return [thing["cache_control"].get("ttl", "5m") for thing in things if thing.get("cache_control")]


def _check_breakpoints(body: dict[str, Any]) -> None:
    check_cache_control(body.get("cache_control"), "cache_control")
    found = breakpoints(body)
    count = len(found) + (1 if body.get("cache_control") else 0)
    if count > MAX_BREAKPOINTS:
        raise RuleBroken(f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. Found {count}.")
    if "5m" in found and "1h" in found[found.index("5m") :]:
        raise RuleBroken(
            "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
            "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
        )


def _check_end(turns: list[MergedTurn], model: SimulatedModel, body: dict[str, Any]) -> None:
    last = turns[-1]
    if last.role != "assistant" or (body.get("compaction") and last.blocks):
        return
    if not model.prefill or thinks(body, model):
        raise RuleBroken(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    if last.blocks and last.blocks[-1]["type"] == "text" and last.blocks[-1]["text"][-1:].isspace():
        raise RuleBroken("messages: final assistant content cannot end with trailing whitespace")
