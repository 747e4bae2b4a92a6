"""Rules for single content blocks: their fields, and the role of their message."""

import re
from typing import Any

from outlive.testing.simulator.anthropic.checks.fields import check_fields, check_type, one_of
from outlive.testing.simulator.anthropic.signing import Signer
from outlive.testing.simulator.verdict import RuleBroken

REQUIRED: dict[str, dict[str, type]] = {
    "text": {"text": str},
    "image": {"source": dict},
    "document": {"source": dict},
    "search_result": {"content": list, "source": str, "title": str},
    "thinking": {"signature": str, "thinking": str},
    "redacted_thinking": {"data": str},
    "tool_use": {"id": str, "input": dict, "name": str},
    "tool_result": {"tool_use_id": str},
    "tool_addition": {"tool": dict},
    "tool_removal": {"tool": dict},
}
OPTIONAL: dict[str, dict[str, type | None]] = {
    "text": {"cache_control": dict, "citations": list},
    "image": {"cache_control": dict, "transformations": dict},
    "document": {"cache_control": dict, "citations": dict, "context": str, "title": str},
    "search_result": {"cache_control": dict, "citations": dict},
    "tool_use": {"cache_control": dict, "caller": dict, "toolset_name": str},
    "tool_result": {"cache_control": dict, "content": None, "is_error": bool, "toolset_name": str},
    "tool_addition": {"cache_control": dict},
    "tool_removal": {"cache_control": dict},
}
SERVED_BY_SERVER = (
    *("server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result"),
    *("bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result"),
    *("container_upload", "mid_conv_system"),
)
"""Blocks of server-side tools, accepted unchecked."""
ONLY_OF: dict[str, str] = {
    "tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_result": "user",
    "tool_addition": "system",
    "tool_removal": "system",
}
IN_RESULTS = ("text", "image", "search_result", "document", "tool_reference", "browser_state")
ID = re.compile(r"[a-zA-Z0-9_-]+")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,200}")
MEDIA = ("image/jpeg", "image/png", "image/gif", "image/webp")


def check_block(block: Any, where: str, role: str, version: str, signer: Signer) -> None:
    """Refuse a block that the API refuses regardless of its neighbours."""
    kind = _kind(block, where)
    if kind in SERVED_BY_SERVER:
        return
    inside = {key: value for key, value in block.items() if key != "type"}
    check_fields(inside, f"{where}.{kind}.", REQUIRED[kind], OPTIONAL.get(kind))
    check_cache_control(block.get("cache_control"), f"{where}.{kind}.cache_control")
    if ONLY_OF.get(kind, role) != role:
        raise RuleBroken(f"{where}: `{kind}` blocks can only be in `{ONLY_OF[kind]}` messages")
    match kind:
        case "text":
            _check_text(block, where, role, version)
        case "thinking" | "redacted_thinking":
            _check_thinking(block, where, signer)
        case "tool_use":
            _check_call(block, where)
        case "tool_result":
            _check_result(block, where)
        case "image":
            _check_image(block["source"], f"{where}.image.source")
        case "document" if role == "assistant" and version >= "2026-10-21":
            raise RuleBroken(f"{where}: `document` blocks can only be in `user` messages")


def _kind(block: Any, where: str) -> str:
    if not isinstance(block, dict):
        raise RuleBroken(f"{where}: Input should be a valid dictionary")
    kind = block.get("type")
    if kind is None:
        raise RuleBroken(f"{where}.type: Field required")
    if not isinstance(kind, str) or (kind not in REQUIRED and kind not in SERVED_BY_SERVER):
        tags = ", ".join(f"'{name}'" for name in sorted((*REQUIRED, *SERVED_BY_SERVER)))
        raise RuleBroken(
            f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {tags}"
        )
    return kind


def check_cache_control(control: Any, where: str) -> None:
    """Refuse a breakpoint of an unknown kind or lifetime."""
    if control is None:
        return
    check_fields(control, f"{where}.", {"type": str}, {"ttl": str})
    one_of(control["type"], f"{where}.type", ("ephemeral",))
    if "ttl" in control:
        one_of(control["ttl"], f"{where}.ttl", ("5m", "1h"))


def _check_text(block: dict[str, Any], where: str, role: str, version: str) -> None:
    if not block["text"]:
        if block.get("cache_control"):
            raise RuleBroken(f"{where}.text: cache_control cannot be set for empty text blocks")
        raise RuleBroken(f"{where.split('.')[0]}: text content blocks must be non-empty")
    if block.get("citations") and role == "user" and version >= "2026-10-21":
        raise RuleBroken(f"{where}.text.citations: citations are not allowed in `user` messages")


def _check_thinking(block: dict[str, Any], where: str, signer: Signer) -> None:
    if block["type"] == "redacted_thinking":
        raise RuleBroken(f"{where}: Invalid `data` in `redacted_thinking` block")
    if not signer.valid(block["thinking"], block["signature"]):
        raise RuleBroken(f"{where}: Invalid `signature` in `thinking` block")


def _check_call(block: dict[str, Any], where: str) -> None:
    if not ID.fullmatch(block["id"]):
        raise RuleBroken(f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if not NAME.fullmatch(block["name"]):
        raise RuleBroken(f"{where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,200}}$'")


def _check_result(block: dict[str, Any], where: str) -> None:
    content = block.get("content")
    if block.get("is_error") and not content:
        raise RuleBroken(f"{where}.tool_result: content cannot be empty if `is_error` is true")
    if content is None or isinstance(content, str):
        return
    check_type(content, f"{where}.tool_result.content", list)
    for index, inner in enumerate(content):
        place = f"{where}.tool_result.content.{index}"
        check_type(inner, place, dict)
        if inner.get("type") not in IN_RESULTS:
            tags = ", ".join(f"'{name}'" for name in IN_RESULTS)
            raise RuleBroken(
                f"{place}: Input tag '{inner.get('type')}' found using 'type' does not match any of the expected "
                f"tags: {tags}"
            )
        if inner["type"] == "text":
            check_fields({**inner}, f"{place}.text.", {"type": str, **REQUIRED["text"]}, OPTIONAL["text"])
            check_cache_control(inner.get("cache_control"), f"{place}.text.cache_control")
            _check_text(inner, place, "user", "")


def _check_image(source: dict[str, Any], where: str) -> None:
    one_of(source.get("type"), f"{where}.type", ("base64", "url", "file"))
    if source["type"] == "base64":
        check_fields(source, f"{where}.base64.", {"type": str, "data": str, "media_type": str})
        one_of(source["media_type"], f"{where}.base64.media_type", MEDIA)
    if source["type"] == "url":
        check_fields(source, f"{where}.url.", {"type": str, "url": str})
