"""Tools that come and go in the middle of a conversation, by blocks of system messages."""

from collections.abc import Collection
from typing import Any

from outlive.testing.simulator.anthropic.checks.betas import INLINE_TOOLS, TOOL_CHANGES
from outlive.testing.simulator.anthropic.checks.fields import check_fields, one_of
from outlive.testing.simulator.anthropic.checks.tools import check_tools
from outlive.testing.simulator.verdict import RuleBroken

ADDITION, REMOVAL = "tool_addition", "tool_removal"
REFERENCE, DEFINITION = "tool_reference", "tool_definition"


def check_tool_changes(body: dict[str, Any], betas: Collection[str]) -> None:
    """Refuse a change without its beta, and one of a tool that is neither declared nor defined before it."""
    known = {tool.get("name") for tool in body.get("tools") or []}
    for where, block in _changes(body):
        if not {TOOL_CHANGES, INLINE_TOOLS}.intersection(betas):
            raise RuleBroken(f"{where}: `{block['type']}` blocks require the `{TOOL_CHANGES}` beta")
        tool, place = block["tool"], f"{where}.{block['type']}.tool"
        kinds = (REFERENCE,) if block["type"] == REMOVAL else (REFERENCE, DEFINITION)
        one_of(tool.get("type"), f"{place}.type", kinds)
        if tool["type"] == DEFINITION:
            if INLINE_TOOLS not in betas:
                raise RuleBroken(f"{place}: `{DEFINITION}` requires the `{INLINE_TOOLS}` beta")
            check_fields(tool, f"{place}.", {"type": str, "definition": dict})
            check_tools([tool["definition"]])
            known.add(tool["definition"]["name"])
            continue
        check_fields(tool, f"{place}.", {"type": str, "name": str})
        if tool["name"] not in known:
            raise RuleBroken(f"{place}.name: Tool '{tool['name']}' not found in provided tools")


def tools_on_offer(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The tools that the model may call at the end of a request."""
    known = {tool.get("name", tool.get("type")): tool for tool in body.get("tools") or []}
    offered = dict(known)
    for _, block in _changes(body):
        tool = block["tool"]
        if tool["type"] == DEFINITION:
            known[tool["definition"]["name"]] = offered[tool["definition"]["name"]] = tool["definition"]
        elif block["type"] == REMOVAL:
            offered.pop(tool["name"], None)
        else:
            offered[tool["name"]] = known[tool["name"]]
    return list(offered.values())


def _changes(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"messages.{index}.content.{number}", block)
        for index, message in enumerate(body["messages"])
        if message["role"] == "system" and isinstance(message["content"], list)
        for number, block in enumerate(message["content"])
        if block["type"] in (ADDITION, REMOVAL)
    ]
