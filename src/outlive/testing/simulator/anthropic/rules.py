"""Rules of the Messages API. docs/simulator.md says how certain each rule is."""

import re
from collections.abc import Mapping
from typing import Any

from outlive.testing.simulator.anthropic.blocks import check_block, check_cache_control
from outlive.testing.simulator.anthropic.fields import check_fields, check_type, one_of
from outlive.testing.simulator.anthropic.signing import Signer
from outlive.testing.simulator.anthropic.turns import MergedTurn, check_pairs, check_thinking_kept, turns_of
from outlive.testing.simulator.models import ADAPTIVE, BETWEEN, BUDGET, OFF, SimulatedModel
from outlive.testing.simulator.refusal import RuleBroken, is_schema

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
MOST_BREAKPOINTS = 4


class AnthropicRules:
    """Checks requests; remembers which thinking was sent with which call."""

    def __init__(self, models: Mapping[str, SimulatedModel], signer: Signer) -> None:
        self._models = models
        self._signer = signer
        self._thinking_of: dict[str, frozenset[str]] = {}

    def remember(self, call_ids: list[str], signatures: list[str]) -> None:
        """Record that these calls were sent with this thinking and must come back with it."""
        self._thinking_of |= dict.fromkeys(call_ids, frozenset(signatures))

    def check(self, body: dict[str, Any], version: str, *, counting: bool = False) -> None:
        """Raise the first error of a request."""
        self._check_shape(body, version, counting)
        model = self._model(body["model"])
        _check_system(body.get("system"))
        self._check_messages(body["messages"], model, version)
        _check_tools(body.get("tools") or [])
        _check_choice(body)
        if not counting:
            _check_length(body["max_tokens"], model)
        _check_thinking(body, model)
        _check_breakpoints(body)
        turns = turns_of(body["messages"])
        check_pairs(turns)
        if thinks(body, model):
            budgeted = (body.get("thinking") or {}).get("type") == BUDGET
            check_thinking_kept(turns, self._thinking_of, budgeted=budgeted)
        _check_end(turns, model, body)

    def _check_shape(self, body: dict[str, Any], version: str, counting: bool) -> None:
        required = REQUIRED if counting else {**REQUIRED, "max_tokens": int}
        optional = COUNTED if counting else CREATED
        if version < "2026-10-21" and not counting:
            optional = {**optional, **SAMPLING}
        check_fields(body, "", required, optional)

    def _model(self, name: str) -> SimulatedModel:
        model = self._models.get(name)
        if model is None or model.provider != "anthropic":
            raise RuleBroken(f"model: {name}", 404)
        return model

    def _check_messages(self, messages: list[Any], model: SimulatedModel, version: str) -> None:
        if not messages:
            raise RuleBroken("messages: at least one message is required")
        for index, message in enumerate(messages):
            self._check_message(message, index, model, version)
            if message["role"] == "system" and (not index or messages[index - 1]["role"] != "user"):
                raise RuleBroken(f"messages.{index}: `system` messages must come directly after a `user` message")
            last = index + 1 == len(messages)
            if not message["content"] and not (last and message["role"] == "assistant"):
                raise RuleBroken(
                    f"messages.{index}: all messages must have non-empty content except for the optional final "
                    "assistant message"
                )
        if messages[0]["role"] != "user":
            raise RuleBroken('messages: first message must use the "user" role')

    def _check_message(self, message: Any, index: int, model: SimulatedModel, version: str) -> None:
        where = f"messages.{index}"
        check_fields(message, f"{where}.", {"role": str}, {"content": None})
        if message["role"] not in ("user", "assistant", "system"):
            raise RuleBroken(
                f'messages: Unexpected role "{message["role"]}". Allowed roles are "user" or "assistant"'
            )
        if message["role"] == "system" and not model.system_turns:
            raise RuleBroken(f"{where}: role 'system' is not supported on this model")
        content = message.get("content")
        if content is None:
            raise RuleBroken(f"{where}.content: Field required")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) and content else content
        if not isinstance(blocks, str):
            check_type(blocks, f"{where}.content", list)
            for number, block in enumerate(blocks):
                check_block(block, f"{where}.content.{number}", message["role"], version, self._signer)
            said = [block["text"] for block in blocks if block["type"] == "text"]
            if said and not any(text.strip() for text in said):
                raise RuleBroken("messages: text content blocks must contain non-whitespace text")


def thinks(body: dict[str, Any], model: SimulatedModel) -> bool:
    """Whether a request has thinking on."""
    asked = (body.get("thinking") or {}).get("type")
    return asked in (BUDGET, ADAPTIVE, BETWEEN) if asked else model.thinks_unasked


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


def _check_tools(tools: list[Any]) -> None:
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


def _check_choice(body: dict[str, Any]) -> None:
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


def _check_length(max_tokens: int, model: SimulatedModel) -> None:
    if max_tokens < 0:
        raise RuleBroken("max_tokens: Input should be greater than or equal to 0")
    if max_tokens > model.max_output:
        raise RuleBroken(
            f"max_tokens: {max_tokens} > {model.max_output}, which is the maximum allowed number of output tokens "
            f"for {model.name}"
        )


def _check_thinking(body: dict[str, Any], model: SimulatedModel) -> None:
    thinking = body.get("thinking")
    if thinking is None:
        return
    one_of(thinking.get("type"), "thinking.type", (ADAPTIVE, BETWEEN, OFF, BUDGET))
    kind = thinking["type"]
    if kind not in model.thinking:
        advice = ' Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        raise RuleBroken(f'"thinking.type.{kind}" is not supported for this model.{advice if kind == BUDGET else ""}')
    budget: dict[str, type] = {"budget_tokens": int} if kind == BUDGET else {}
    shown: dict[str, type | None] = {"display": str} if kind in (BUDGET, ADAPTIVE) else {}
    check_fields(thinking, f"thinking.{kind}.", {"type": str, **budget}, shown)
    if kind == BUDGET and thinking["budget_tokens"] < 1024:
        raise RuleBroken("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    if kind == BUDGET and "max_tokens" in body and body["max_tokens"] <= thinking["budget_tokens"]:
        raise RuleBroken(
            "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at "
            "https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size"
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
    if count > MOST_BREAKPOINTS:
        raise RuleBroken(f"A maximum of {MOST_BREAKPOINTS} blocks with cache_control may be provided. Found {count}.")
    if "5m" in found and "1h" in found[found.index("5m") :]:
        raise RuleBroken(
            "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
            "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
        )


def _check_end(turns: list[MergedTurn], model: SimulatedModel, body: dict[str, Any]) -> None:
    last = turns[-1]
    if last.role != "assistant":
        return
    if not model.prefill or thinks(body, model):
        raise RuleBroken(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    if last.blocks and last.blocks[-1]["type"] == "text" and last.blocks[-1]["text"][-1:].isspace():
        raise RuleBroken("messages: final assistant content cannot end with trailing whitespace")
