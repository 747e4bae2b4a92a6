"""Rules for the field `thinking`: its kinds, its budget, and what it says of blocks that fail the binding check."""

from collections.abc import Collection
from typing import Any

from outlive.testing.simulator.anthropic.checks.betas import BINDING_CONTROLS
from outlive.testing.simulator.anthropic.checks.fields import check_fields, one_of
from outlive.testing.simulator.models import ADAPTIVE, BETWEEN, BUDGET, OFF, SimulatedModel
from outlive.testing.simulator.verdict import RuleBroken

ERROR, DROP = "error", "drop_block"


def thinks(body: dict[str, Any], model: SimulatedModel) -> bool:
    """Whether a request has thinking on."""
    asked = (body.get("thinking") or {}).get("type")
    return asked in (BUDGET, ADAPTIVE, BETWEEN) if asked else model.thinks_unasked


def mismatch_behavior(body: dict[str, Any]) -> str | None:
    """Return `prefix_mismatch_behavior` of a checked request; None if it is not set."""
    binding = (body.get("thinking") or {}).get("block_binding") or {}
    behavior: str | None = binding.get("prefix_mismatch_behavior")
    return behavior


def check_thinking(body: dict[str, Any], model: SimulatedModel, betas: Collection[str]) -> None:
    thinking = body.get("thinking")
    if thinking is None:
        return
    one_of(thinking.get("type"), "thinking.type", (ADAPTIVE, BETWEEN, OFF, BUDGET))
    kind = thinking["type"]
    if kind not in model.thinking:
        advice = ' Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        raise RuleBroken(f'"thinking.type.{kind}" is not supported for this model.{advice if kind == BUDGET else ""}')
    check_fields(thinking, f"thinking.{kind}.", *_fields(kind, betas))
    _check_block_binding(thinking.get("block_binding"), f"thinking.{kind}.block_binding")
    if kind == BUDGET:
        _check_budget(thinking["budget_tokens"], body.get("max_tokens"))


def _fields(kind: str, betas: Collection[str]) -> tuple[dict[str, type], dict[str, type | None]]:
    """Return the required and the optional fields of a kind of thinking."""
    budget: dict[str, type] = {"budget_tokens": int} if kind == BUDGET else {}
    optional: dict[str, type | None] = {"display": str} if kind in (BUDGET, ADAPTIVE) else {}
    if optional and BINDING_CONTROLS in betas:
        optional["block_binding"] = dict
    return {"type": str, **budget}, optional


def _check_block_binding(binding: Any, where: str) -> None:
    if binding is None:
        return
    check_fields(binding, f"{where}.", {}, {"prefix_mismatch_behavior": str})
    if binding.get("prefix_mismatch_behavior") is not None:
        one_of(binding["prefix_mismatch_behavior"], f"{where}.prefix_mismatch_behavior", (ERROR, DROP))


def _check_budget(budget: int, max_tokens: int | None) -> None:
    if budget < 1024:
        raise RuleBroken("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    if max_tokens is not None and max_tokens <= budget:
        raise RuleBroken(
            "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at "
            "https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size"
        )
