"""Compaction on demand: the field `compaction` of a request, and the signed block that replaces earlier messages."""

from typing import Any

from outlive.testing.simulator.anthropic.checks.edits import COMPACT
from outlive.testing.simulator.anthropic.checks.fields import check_fields, one_of
from outlive.testing.simulator.anthropic.signing import Signer
from outlive.testing.simulator.models import SimulatedModel
from outlive.testing.simulator.verdict import RuleBroken

COMPACTION = "compaction"
MAX_INSTRUCTIONS_CHARS = 16_384  # as the API
FIELDS: dict[str, type | None] = {
    "cache_control": dict,
    "content": str,
    "encrypted_content": str,
    "signature": str,
    "tool_changes": list,
}


def check_compaction(body: dict[str, Any], model: SimulatedModel) -> None:
    """Refuse a compaction request of another shape, with fields that only shape a reply, or of an older model."""
    config = body.get("compaction")
    if config is None:
        return
    check_fields(config, "compaction.", {"type": str}, {"instructions": str})
    one_of(config["type"], "compaction.type", ("summarize",))
    if len(config.get("instructions") or "") > MAX_INSTRUCTIONS_CHARS:
        raise RuleBroken(f"compaction.instructions: String should have at most {MAX_INSTRUCTIONS_CHARS} characters")
    if not model.compacts:
        raise RuleBroken(f"compaction: compaction is not supported on {model.name}")
    forced = (body.get("tool_choice") or {}).get("type") in ("any", "tool")
    unwanted = {
        "context_management": body.get("context_management") is not None,
        "stop_sequences": bool(body.get("stop_sequences")),
        "tool_choice": forced,
        "output_config.format": (body.get("output_config") or {}).get("format") is not None,
    }
    for name, given in unwanted.items():
        if given:
            kind = " of type 'any' or 'tool'" if name == "tool_choice" else ""
            raise RuleBroken(f"compaction: `{name}`{kind} cannot be combined with `compaction`")


def check_block_alone(body: dict[str, Any]) -> None:
    """Refuse a compaction block beside an edit that compacts at a threshold."""
    edits = (body.get("context_management") or {}).get("edits") or []
    if starts_with_block(body["messages"]) and any(edit["type"] == COMPACT for edit in edits):
        raise RuleBroken(f"messages.0.content.0: `compaction` blocks cannot be combined with a `{COMPACT}` edit")


def check_compaction_block(block: dict[str, Any], where: str, role: str, signer: Signer) -> None:
    """Refuse a block that is not the first of the messages, has other fields, or was not made by this API."""
    if where != "messages.0.content.0" or role != "assistant":
        raise RuleBroken(
            f"{where}: a `compaction` block must be the first content block of the first message, which is an "
            "`assistant` message",
            code="compaction_block_misplaced",
        )
    inside = {key: value for key, value in block.items() if key != "type"}
    check_fields(inside, f"{where}.{COMPACTION}.", {}, FIELDS)
    if is_noop(block):
        return
    if not block["content"]:
        raise RuleBroken(f"{where}.{COMPACTION}.content: String should have at least 1 character")
    if not signer.valid(signed_text(block["content"]), block.get("signature") or ""):
        raise RuleBroken(f"{where}: Invalid `signature` in `compaction` block", code="compaction_signature_invalid")
    if block.get("tool_changes"):
        raise RuleBroken(
            f"{where}: `tool_changes` differs from what was returned with the `compaction` block",
            code="compaction_tool_changes_mismatch",
        )


def starts_with_block(messages: list[dict[str, Any]]) -> bool:
    """Whether the first block of the messages is a compaction block."""
    content = messages[0].get("content")
    return isinstance(content, list) and bool(content) and content[0].get("type") == COMPACTION


def is_noop(block: dict[str, Any]) -> bool:
    """Whether a block is a failed compaction, which the model is not shown."""
    return block["type"] == COMPACTION and block.get("content") is None


def signed_text(summary: str) -> str:
    """Return what the signature of a summary covers, so that it fits no thinking block."""
    return f"{COMPACTION}\n{summary}"
