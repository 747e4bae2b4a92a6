"""Rules for tools and `tool_choice`."""

import re
from typing import Any

from outlive.testing.simulator.anthropic.checks.blocks import check_cache_control
from outlive.testing.simulator.anthropic.checks.fields import check_fields, check_type, one_of
from outlive.testing.simulator.models import BUDGET
from outlive.testing.simulator.verdict import RuleBroken, is_schema

TOOL: dict[str, type | None] = {
    "allowed_callers": list,
    "cache_control": dict,
    "defer_loading": bool,
    "description": str,
    "eager_input_streaming": bool,
    "input_examples": list,
    "strict": bool,
    "type": str,
}
OF_THE_API = re.compile(
    r"(bash|text_editor|memory|code_execution|web_search|web_fetch|computer|browser|tool_search)[a-z0-9_]*_\d{8}"
)
"""Types of tools that the API defines itself, accepted unchecked."""
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
CHOICES: dict[str, dict[str, type | None]] = {
    "auto": {"disable_parallel_tool_use": bool},
    "any": {"disable_parallel_tool_use": bool},
    "tool": {"disable_parallel_tool_use": bool},
    "none": {},
}


def check_tools(tools: list[Any]) -> None:
    names = []
    for index, tool in enumerate(tools):
        check_type(tool, f"tools.{index}", dict)
        kind = tool.get("type")
        if kind in (None, "custom"):
            _check_tool(tool, f"tools.{index}.custom")
        elif not (isinstance(kind, str) and OF_THE_API.fullmatch(kind)):
            raise RuleBroken(
                f"tools.{index}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
            )
        check_cache_control(tool.get("cache_control"), f"tools.{index}.custom.cache_control")
        names.append(tool.get("name"))
    if len(set(names)) < len(names):
        raise RuleBroken("tools: Tool names must be unique.")


def _check_tool(tool: dict[str, Any], where: str) -> None:
    check_fields(tool, f"{where}.", {"name": str, "input_schema": dict}, TOOL)
    if not TOOL_NAME.fullmatch(tool["name"]):
        raise RuleBroken(f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    schema = tool["input_schema"]
    if "type" not in schema:
        raise RuleBroken(f"{where}.input_schema.type: Field required")
    one_of(schema["type"], f"{where}.input_schema.type", ("object",))
    if not is_schema(schema):
        raise RuleBroken(
            f"{where}.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 "
            "(https://json-schema.org/draft/2020-12). Learn more about tool use at "
            "https://docs.claude.com/en/docs/tool-use."
        )


def check_choice(body: dict[str, Any]) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    one_of(choice.get("type"), "tool_choice.type", tuple(CHOICES))
    kind = choice["type"]
    named: dict[str, type] = {"name": str} if kind == "tool" else {}
    check_fields(choice, f"tool_choice.{kind}.", {"type": str, **named}, CHOICES[kind])
    tools = {tool.get("name") for tool in body.get("tools") or []}
    if not tools and kind != "none":
        raise RuleBroken("tool_choice: tool_choice may only be specified while providing tools")
    if kind == "tool" and choice["name"] not in tools:
        raise RuleBroken(f"tool_choice.tool.name: Tool '{choice['name']}' not found in provided tools")
    if kind in ("any", "tool") and (body.get("thinking") or {}).get("type") == BUDGET:
        raise RuleBroken("Thinking may not be enabled when tool_choice forces tool use.")
