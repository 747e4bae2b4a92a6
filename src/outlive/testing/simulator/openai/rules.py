"""Rules of the chat completions API. docs/simulator.md says how certain they are."""

from collections.abc import Mapping
from typing import Any

from outlive.testing.simulator.models import ALWAYS, NEVER, SimulatedModel
from outlive.testing.simulator.openai.checks import (
    MAX_ID_CHARS,
    check_breakpoint,
    check_cache_options,
    check_name,
    check_schema,
    choice,
    content_parts,
    known_model,
    known_only,
    needed,
    refuse_empty,
    refused,
    short,
    wanted,
)
from outlive.testing.simulator.openai.output import check_response_format
from outlive.testing.simulator.verdict import RuleBroken

FIELDS = frozenset(
    (
        *("messages", "model", "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs"),
        *("max_completion_tokens", "max_tokens", "metadata", "modalities", "moderation", "n", "parallel_tool_calls"),
        *("prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"),
        *("reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier", "stop", "store"),
        *("stream", "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user"),
        *("verbosity", "web_search_options"),
    )
)
ROLES: dict[str, frozenset[str]] = {
    "system": frozenset({"name"}),
    "developer": frozenset({"name"}),
    "user": frozenset({"name"}),
    "assistant": frozenset({"audio", "function_call", "name", "refusal", "tool_calls", "annotations"}),
    "tool": frozenset({"tool_call_id"}),
    "function": frozenset({"name"}),
}
PARTS: dict[str, frozenset[str]] = {
    "system": frozenset({"text"}),
    "developer": frozenset({"text"}),
    "user": frozenset({"text", "image_url", "input_audio", "file"}),
    "assistant": frozenset({"text", "refusal"}),
    "tool": frozenset({"text"}),
    "function": frozenset({"text"}),
}


def check_request(body: dict[str, Any], models: Mapping[str, SimulatedModel]) -> None:
    """Raise the first error of a request."""
    _check_fields(body)
    model = known_model(body["model"], models)
    _check_length(body, model)
    for index, message in enumerate(body["messages"]):
        _check_message(message, index, model)
    _check_pairs(body["messages"])
    _check_tools(body)
    _check_reasoning(body, model)
    check_cache_options(body, model)
    check_response_format(body)
    _check_options(body)


def _check_fields(body: dict[str, Any]) -> None:
    unknown = [name for name in body if name not in FIELDS]
    if unknown:
        several = "s" if len(unknown) > 1 else ""
        raise RuleBroken(f"Unrecognized request argument{several} supplied: {', '.join(unknown)}")
    needed(body, "model", kind=str)
    if not needed(body, "messages", kind=list):
        refuse_empty("messages")


def _check_length(body: dict[str, Any], model: SimulatedModel) -> None:
    old, new = body.get("max_tokens"), body.get("max_completion_tokens")
    if old is not None and model.reasoning:
        raise refused(
            "max_tokens",
            "unsupported_parameter",
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
            "instead.",
        )
    for name, value in (("max_tokens", old), ("max_completion_tokens", new)):
        if value is None:
            continue
        wanted(value, name, int)
        if value < 1:
            raise refused(
                name,
                "integer_below_min_value",
                f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {value} instead.",
            )
        if value > model.max_output:
            raise refused(
                name,
                "invalid_value",
                f"max_tokens is too large: {value}. This model supports at most {model.max_output} completion "
                f"tokens, whereas you provided {value}.",
            )


def _check_message(message: Any, index: int, model: SimulatedModel) -> None:
    where = f"messages[{index}]"
    wanted(message, where, dict)
    role = needed(message, "role", where, str)
    if role not in ROLES:
        raise refused(
            f"{where}.role",
            "invalid_value",
            f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and "
            "'developer'.",
        )
    known_only(message, ROLES[role] | {"role", "content"}, where)
    _check_content(message, role, index, model)
    if role == "function" and "name" not in message:
        raise RuleBroken(
            "Missing parameter 'name': messages with role 'function' must have a 'name'.",
            param=f"messages.[{index}].name",
        )
    if role == "tool":
        needed(message, "tool_call_id", where, str)
    if message.get("tool_calls") is not None:
        _check_calls(message["tool_calls"], f"{where}.tool_calls")


def _check_content(message: dict[str, Any], role: str, index: int, model: SimulatedModel) -> None:
    where = f"messages[{index}].content"
    content = message.get("content")
    if content is None:
        if role == "assistant" and (
            message.get("tool_calls") or message.get("function_call") or message.get("refusal")
        ):
            return
        raise RuleBroken(
            "Invalid value for 'content': expected a string, got null.", param=f"messages.[{index}].content"
        )
    if isinstance(content, str):
        return
    for place, part, kind in content_parts(content, where):
        choice(kind, f"{place}.type", tuple(sorted(PARTS[role])))
        check_breakpoint(part, place, model)
        if kind == "text":
            needed(part, "text", place, str)
            known_only(part, frozenset({"type", "text", "prompt_cache_breakpoint"}), place)


def _check_calls(calls: Any, where: str) -> None:
    wanted(calls, where, list)
    if not calls:
        refuse_empty(where)
    for number, call in enumerate(calls):
        place = f"{where}[{number}]"
        wanted(call, place, dict)
        short(needed(call, "id", place, str), f"{place}.id", MAX_ID_CHARS)
        kind = needed(call, "type", place)
        if kind == "custom":
            continue
        choice(kind, f"{place}.type", ("function", "custom"))
        known_only(call, frozenset({"id", "type", "function"}), place)
        function = needed(call, "function", place)
        known_only(function, frozenset({"name", "arguments"}), f"{place}.function")
        check_name(function, f"{place}.function")
        needed(function, "arguments", f"{place}.function", str)


def _check_pairs(messages: list[dict[str, Any]]) -> None:
    """Check that tool messages answer all calls of the message directly before them."""
    open_calls: list[str] = []
    answered: set[str] = set()
    for index, message in enumerate([*messages, {"role": "end"}]):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                raise RuleBroken(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                    "'tool_calls'.",
                    param=f"messages.[{index}].role",
                )
            answered.add(message["tool_call_id"])
            continue
        missing = [call for call in open_calls if call not in answered]
        if missing:
            raise RuleBroken(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                "'tool_call_id'. The following tool_call_ids did not have response messages: " + ", ".join(missing),
                param=f"messages.[{index}].role",
            )
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
        answered = set()


def _check_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools")
    if tools is None:
        for name in ("tool_choice", "parallel_tool_calls"):
            if body.get(name) not in (None, "none"):
                raise RuleBroken(
                    f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.", param=name
                )
        return
    wanted(tools, "tools", list)
    if not tools:
        refuse_empty("tools")
    if body.get("tool_choice") is not None:
        choice(
            body["tool_choice"], "tool_choice", ("none", "auto", "required", "function", "custom", "allowed_tools")
        )
    for index, tool in enumerate(tools):
        where = f"tools[{index}]"
        wanted(tool, where, dict)
        kind = needed(tool, "type", where)
        if kind == "custom":
            continue
        choice(kind, f"{where}.type", ("function", "custom"))
        function = needed(tool, "function", where)
        known_only(function, frozenset({"name", "description", "parameters", "strict"}), f"{where}.function")
        check_name(function, f"{where}.function")
        check_schema(function, f"{where}.function.parameters")


def _check_reasoning(body: dict[str, Any], model: SimulatedModel) -> None:
    """Refuse tools that this model offers in the Responses API only, or only there with reasoning."""
    if not body.get("tools") or model.chat_tools == ALWAYS:
        return
    if model.chat_tools == NEVER:
        raise RuleBroken(
            f"Function tools are not supported for {model.name} in /v1/chat/completions. To use function tools, use "
            "/v1/responses.",
            param="tools",
        )
    if body.get("reasoning_effort") != "none":
        raise RuleBroken(
            f"Function tools with reasoning_effort are not supported for {model.name} in /v1/chat/completions. To "
            "use function tools, use /v1/responses or set reasoning_effort to 'none'.",
            param="reasoning_effort",
        )


def _check_options(body: dict[str, Any]) -> None:
    if body.get("stream_options") is not None:
        if not body.get("stream"):
            raise RuleBroken(
                "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param="stream_options"
            )
        known_only(body["stream_options"], frozenset({"include_usage", "include_obfuscation"}), "stream_options")
        for name, value in body["stream_options"].items():
            wanted(value, f"stream_options.{name}", bool)
    if body.get("stream") is not None:
        wanted(body["stream"], "stream", bool)
    if body.get("n", 1) not in (None, 1):
        raise RuleBroken("outlive simulates one answer for each request: leave out 'n'.", param="n")
