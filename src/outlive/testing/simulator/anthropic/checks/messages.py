"""Rules for messages one by one: their fields, their content, and the place of system messages."""

from collections.abc import Collection
from typing import Any

from outlive.testing.simulator.anthropic.checks.betas import CLEAR_AT, COMPACT_ON_DEMAND, SYSTEM_OUTPUT_CONFIG
from outlive.testing.simulator.anthropic.checks.blocks import check_block, check_cache_control
from outlive.testing.simulator.anthropic.checks.fields import check_fields, check_type, one_of
from outlive.testing.simulator.anthropic.checks.output import EFFORTS
from outlive.testing.simulator.anthropic.checks.tool_changes import ADDITION, REMOVAL
from outlive.testing.simulator.anthropic.compaction import COMPACTION, check_compaction_block, starts_with_block
from outlive.testing.simulator.anthropic.signing import Signer
from outlive.testing.simulator.models import SimulatedModel
from outlive.testing.simulator.verdict import RuleBroken

NEXT_USER_MESSAGE = "next_user_message"
TURN_SCOPED = f"a turn-scoped system message (clear_at: '{NEXT_USER_MESSAGE}')"
ELSEWHERE = "; the directive-only form (content: [] with output_config) is accepted at any position"


def turn_scoped(message: dict[str, Any]) -> bool:
    """Whether a message is shown only until the next message of the user."""
    return message["role"] == "system" and message.get("clear_at") == NEXT_USER_MESSAGE


def cleared(messages: list[dict[str, Any]]) -> frozenset[int]:
    """Return the indexes of turn-scoped messages that are no longer shown."""
    last = max((index for index, message in enumerate(messages) if message["role"] == "user"), default=-1)
    return frozenset(index for index, message in enumerate(messages[: last + 1]) if turn_scoped(message))


def check_messages(
    messages: list[Any], model: SimulatedModel, version: str, betas: Collection[str], signer: Signer
) -> None:
    """Refuse a message that the API refuses; what holds across turns is in `turns.py`."""
    if not messages:
        raise RuleBroken("messages: at least one message is required")
    for index, message in enumerate(messages):
        _check_message(message, index, model, version, betas, signer)
        last = index + 1 == len(messages)
        may_be_empty = (last and message["role"] == "assistant") or _directive_only(message)
        if not message["content"] and not may_be_empty:
            raise RuleBroken(
                f"messages.{index}: all messages must have non-empty content except for the optional final "
                "assistant message"
            )
    for index, message in enumerate(messages):
        if message["role"] == "system" and not _directive_only(message):
            _check_place(messages, index)
    first = next((message for message in messages if not _directive_only(message)), messages[0])
    if first["role"] != "user" and not starts_with_block(messages):
        raise RuleBroken('messages: first message must use the "user" role')


def _check_message(
    message: Any, index: int, model: SimulatedModel, version: str, betas: Collection[str], signer: Signer
) -> None:
    where = f"messages.{index}"
    optional: dict[str, type | None] = {"content": None}
    if CLEAR_AT in betas:
        optional["clear_at"] = None
    if SYSTEM_OUTPUT_CONFIG.intersection(betas):
        optional["output_config"] = dict
    check_fields(message, f"{where}.", {"role": str}, optional)
    if message["role"] not in ("user", "assistant", "system"):
        raise RuleBroken(f'messages: Unexpected role "{message["role"]}". Allowed roles are "user" or "assistant"')
    if message["role"] == "system" and not model.system_turns:
        raise RuleBroken(f"{where}: role 'system' is not supported on this model")
    _check_clear_at(message, where)
    _check_output_config(message, where)
    content = message.get("content")
    if content is None:
        raise RuleBroken(f"{where}.content: Field required")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) and content else content
    if not isinstance(blocks, str):
        check_type(blocks, f"{where}.content", list)
        for number, block in enumerate(blocks):
            place = f"{where}.content.{number}"
            if COMPACT_ON_DEMAND in betas and isinstance(block, dict) and block.get("type") == COMPACTION:
                check_compaction_block(block, place, message["role"], signer)
                check_cache_control(block.get("cache_control"), f"{place}.{COMPACTION}.cache_control")
            else:
                check_block(block, place, message["role"], version, signer)
        _check_texts(message, blocks, where)


def _check_clear_at(message: dict[str, Any], where: str) -> None:
    if message.get("clear_at") is None:
        return
    if message["role"] != "system":
        raise RuleBroken(f"{where}.clear_at: clear_at is only permitted on role 'system' messages")
    one_of(message["clear_at"], f"{where}.clear_at", (NEXT_USER_MESSAGE, "never"))


def _check_output_config(message: dict[str, Any], where: str) -> None:
    config = message.get("output_config")
    if config is None:
        return
    if message["role"] != "system":
        raise RuleBroken(f"{where}.output_config: output_config is only permitted on role 'system' messages")
    check_fields(config, f"{where}.output_config.", {}, {"effort": None})
    if config.get("effort") is not None:
        one_of(config["effort"], f"{where}.output_config.effort", EFFORTS)


def _directive_only(message: dict[str, Any]) -> bool:
    """Whether a system message has no text, only settings for the turns after it."""
    return message["role"] == "system" and message["content"] == [] and bool(message.get("output_config"))


def _check_texts(message: dict[str, Any], blocks: list[dict[str, Any]], where: str) -> None:
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    if texts and not any(text.strip() for text in texts):
        raise RuleBroken("messages: text content blocks must contain non-whitespace text")
    changes = sum(block["type"] in (ADDITION, REMOVAL) for block in blocks)
    if message["role"] == "system" and len(texts) + changes < len(blocks):
        raise RuleBroken(f"{where}: role 'system' supports text, tool_addition, and tool_removal blocks only")
    for number, block in enumerate(blocks if turn_scoped(message) else ()):
        if block.get("cache_control"):
            raise RuleBroken(f"{where}.content.{number}: cache_control is not permitted on {TURN_SCOPED}")


def _check_place(messages: list[dict[str, Any]], index: int) -> None:
    """Refuse a system message that is not directly after a user message, or is before anything but an answer."""
    where = f"messages.{index}"
    if not index:
        raise RuleBroken(f"{where}: use the top-level 'system' parameter for the initial system prompt{ELSEWHERE}")
    if messages[index - 1]["role"] != "user":
        raise RuleBroken(
            f"{where}: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool "
            f"result{ELSEWHERE}"
        )
    if index + 1 < len(messages) and messages[index + 1]["role"] != "assistant":
        raise RuleBroken(f"{where}: role 'system' must precede an 'assistant' message or end the array{ELSEWHERE}")
