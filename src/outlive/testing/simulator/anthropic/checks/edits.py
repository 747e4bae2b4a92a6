"""The shape of `context_management`. Its edits are checked, and have no effect."""

from collections.abc import Collection
from typing import Any

from outlive.testing.simulator.anthropic.checks.betas import COMPACT_AT_THRESHOLD, CONTEXT_MANAGEMENT
from outlive.testing.simulator.anthropic.checks.fields import check_fields, check_type, one_of
from outlive.testing.simulator.verdict import RuleBroken

CLEAR_TOOL_USES, CLEAR_THINKING, COMPACT = "clear_tool_uses_20250919", "clear_thinking_20251015", "compact_20260112"
FIELDS: dict[str, dict[str, type | None]] = {
    CLEAR_THINKING: {"keep": None},
    CLEAR_TOOL_USES: {
        "clear_at_least": dict,
        "clear_tool_inputs": None,
        "exclude_tools": list,
        "keep": dict,
        "trigger": dict,
    },
    COMPACT: {"instructions": str, "pause_after_compaction": bool, "trigger": dict},
}
BETA = {CLEAR_TOOL_USES: CONTEXT_MANAGEMENT, CLEAR_THINKING: CONTEXT_MANAGEMENT, COMPACT: COMPACT_AT_THRESHOLD}
COUNTS: dict[tuple[str, str], tuple[str, ...]] = {
    (CLEAR_TOOL_USES, "clear_at_least"): ("input_tokens",),
    (CLEAR_TOOL_USES, "keep"): ("tool_uses",),
    (CLEAR_TOOL_USES, "trigger"): ("input_tokens", "tool_uses"),
    (COMPACT, "trigger"): ("input_tokens",),
}
"""Fields of the form `{"type": …, "value": 9}`, and the types that each takes."""


def check_context_management(management: Any, betas: Collection[str]) -> None:
    """Refuse edits of an unknown kind or shape, and those whose beta is not on."""
    if management is None:
        return
    check_fields(management, "context_management.", {}, {"edits": list})
    for index, edit in enumerate(management.get("edits") or []):
        where = f"context_management.edits.{index}"
        check_type(edit, where, dict)
        kind = edit.get("type")
        allowed = sorted(name for name, beta in BETA.items() if beta in betas)
        if not isinstance(kind, str) or kind not in allowed:
            tags = ", ".join(f"'{name}'" for name in allowed)
            raise RuleBroken(
                f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {tags}"
            )
        check_fields(edit, f"{where}.{kind}.", {"type": str}, FIELDS[kind])
        for name, value in edit.items():
            if value is not None and (kind, name) in COUNTS:
                _check_count(value, f"{where}.{kind}.{name}", COUNTS[kind, name])
        if kind == CLEAR_THINKING:
            _check_keep(edit.get("keep"), f"{where}.{kind}.keep")


def _check_count(value: dict[str, Any], where: str, kinds: tuple[str, ...]) -> None:
    check_fields(value, f"{where}.", {"type": str, "value": int})
    one_of(value["type"], f"{where}.type", kinds)


def _check_keep(keep: Any, where: str) -> None:
    """Check which thinking is kept: `"all"`, `{"type": "all"}` or a number of turns."""
    if keep is None or keep == "all" or keep == {"type": "all"}:
        return
    check_type(keep, where, dict)
    _check_count(keep, where, ("thinking_turns",))
