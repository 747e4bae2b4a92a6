"""Rules of the chat completions API. docs/simulator.md says how certain they are."""

import re
from collections.abc import Mapping
from typing import Any

from outlive.testing.simulator.models import SimulatedModel
from outlive.testing.simulator.refusal import RuleBroken, is_schema

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
NAME = re.compile(r"[a-zA-Z0-9_-]+")
LONGEST_ID = 40
LONGEST_NAME = 64
CALLED = {
    str: "a string",
    int: "an integer",
    dict: "an object",
    list: "an array",
    bool: "a boolean",
    float: "a decimal",
}


def _refused(param: str, code: str, message: str) -> RuleBroken:
    return RuleBroken(message, param=param, code=code)


def check_request(body: dict[str, Any], models: Mapping[str, SimulatedModel]) -> None:
    """Raise the first error of a request."""
    _check_fields(body)
    model = models.get(body["model"])
    if model is None or model.provider != "openai":
        message = f"The model `{body['model']}` does not exist or you do not have access to it."
        raise RuleBroken(message, 404, code="model_not_found")
    _check_length(body, model)
    for index, message in enumerate(body["messages"]):
        _check_message(message, index)
    _check_pairs(body["messages"])
    _check_tools(body)
    _check_options(body)


def _wanted(value: Any, param: str, kind: type) -> None:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        got = "null" if value is None else CALLED.get(type(value), "something else")
        raise _refused(
            param, "invalid_type", f"Invalid type for '{param}': expected {CALLED[kind]}, but got {got} instead."
        )


def _needed(thing: dict[str, Any], name: str, where: str = "", kind: type = object) -> Any:
    """Return a required field, which has to be of that type."""
    param = f"{where}.{name}" if where else name
    if name not in thing:
        raise _refused(param, "missing_required_parameter", f"Missing required parameter: '{param}'.")
    _wanted(thing[name], param, kind)
    return thing[name]


def _known(thing: Any, fields: frozenset[str], where: str) -> None:
    _wanted(thing, where, dict)
    for name in thing:
        if name not in fields:
            param = f"{where}.{name}"
            raise _refused(param, "unknown_parameter", f"Unknown parameter: '{param}'.")


def _check_fields(body: dict[str, Any]) -> None:
    unknown = [name for name in body if name not in FIELDS]
    if unknown:
        several = "s" if len(unknown) > 1 else ""
        raise RuleBroken(f"Unrecognized request argument{several} supplied: {', '.join(unknown)}")
    _needed(body, "model", kind=str)
    if not _needed(body, "messages", kind=list):
        _empty("messages")


def _empty(param: str) -> None:
    raise _refused(
        param,
        "empty_array",
        f"Invalid '{param}': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    )


def _check_length(body: dict[str, Any], model: SimulatedModel) -> None:
    old, new = body.get("max_tokens"), body.get("max_completion_tokens")
    if old is not None and model.reasoning:
        raise _refused(
            "max_tokens",
            "unsupported_parameter",
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
            "instead.",
        )
    for name, value in (("max_tokens", old), ("max_completion_tokens", new)):
        if value is None:
            continue
        _wanted(value, name, int)
        if value < 1:
            raise _refused(
                name,
                "integer_below_min_value",
                f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {value} instead.",
            )
        if value > model.max_output:
            raise _refused(
                name,
                "invalid_value",
                f"max_tokens is too large: {value}. This model supports at most {model.max_output} completion "
                f"tokens, whereas you provided {value}.",
            )


def _check_message(message: Any, index: int) -> None:
    where = f"messages[{index}]"
    _wanted(message, where, dict)
    role = _needed(message, "role", where, str)
    if role not in ROLES:
        raise _refused(
            f"{where}.role",
            "invalid_value",
            f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and "
            "'developer'.",
        )
    _known(message, ROLES[role] | {"role", "content"}, where)
    _check_content(message, role, index)
    if role == "function" and "name" not in message:
        raise RuleBroken(
            "Missing parameter 'name': messages with role 'function' must have a 'name'.",
            param=f"messages.[{index}].name",
        )
    if role == "tool":
        _needed(message, "tool_call_id", where, str)
    if message.get("tool_calls") is not None:
        _check_calls(message["tool_calls"], f"{where}.tool_calls")


def _check_content(message: dict[str, Any], role: str, index: int) -> None:
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
    _wanted(content, where, list)
    if not content:
        _empty(where)
    for number, part in enumerate(content):
        place = f"{where}[{number}]"
        _wanted(part, place, dict)
        kind = _needed(part, "type", place, str)
        _choice(kind, f"{place}.type", tuple(sorted(PARTS[role])))
        if kind == "text":
            _needed(part, "text", place, str)
            _known(part, frozenset({"type", "text", "prompt_cache_breakpoint"}), place)


def _check_calls(calls: Any, where: str) -> None:
    _wanted(calls, where, list)
    if not calls:
        _empty(where)
    for number, call in enumerate(calls):
        place = f"{where}[{number}]"
        _wanted(call, place, dict)
        _short(_needed(call, "id", place, str), f"{place}.id", LONGEST_ID)
        kind = _needed(call, "type", place)
        if kind == "custom":
            continue
        _choice(kind, f"{place}.type", ("function", "custom"))
        _known(call, frozenset({"id", "type", "function"}), place)
        function = _needed(call, "function", place)
        _known(function, frozenset({"name", "arguments"}), f"{place}.function")
        _check_name(function, f"{place}.function")
        _needed(function, "arguments", f"{place}.function", str)


def _short(text: str, param: str, longest: int) -> None:
    if len(text) > longest:
        raise _refused(
            param,
            "string_above_max_length",
            f"Invalid '{param}': string too long. Expected a string with maximum length {longest}, but got a string "
            f"with length {len(text)} instead.",
        )


def _check_name(function: dict[str, Any], where: str) -> None:
    name, param = _needed(function, "name", where, str), f"{where}.name"
    _short(name, param, LONGEST_NAME)
    if not NAME.fullmatch(name):
        raise _refused(
            param,
            "invalid_value",
            f"Invalid '{param}': string does not match pattern. Expected a string that matches the pattern "
            "'^[a-zA-Z0-9_-]+$'.",
        )


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
    _wanted(tools, "tools", list)
    if not tools:
        _empty("tools")
    if body.get("tool_choice") is not None:
        _choice(
            body["tool_choice"], "tool_choice", ("none", "auto", "required", "function", "custom", "allowed_tools")
        )
    for index, tool in enumerate(tools):
        where = f"tools[{index}]"
        _wanted(tool, where, dict)
        kind = _needed(tool, "type", where)
        if kind == "custom":
            continue
        _choice(kind, f"{where}.type", ("function", "custom"))
        function = _needed(tool, "function", where)
        _known(function, frozenset({"name", "description", "parameters", "strict"}), f"{where}.function")
        _check_name(function, f"{where}.function")
        _check_schema(function, f"{where}.function.parameters")


def _choice(value: Any, param: str, choices: tuple[str, ...]) -> None:
    """Refuse a value (or the type of an object) that is not one of the choices."""
    if (value.get("type") if isinstance(value, dict) else value) not in choices:
        listed = ", ".join(f"'{choice}'" for choice in choices)
        raise _refused(param, "invalid_value", f"Invalid value: '{value}'. Supported values are: {listed}.")


def _check_schema(function: dict[str, Any], param: str) -> None:
    schema = function.get("parameters")
    if schema is None:
        return
    _wanted(schema, param, dict)
    if schema and schema.get("type") != "object":
        got = f'"{schema["type"]}"' if schema.get("type") else '"None"'
        raise _refused(
            param,
            "invalid_function_parameters",
            f"Invalid schema for function '{function['name']}': schema must be a JSON Schema of 'type: \"object\"', "
            f"got 'type: {got}'.",
        )
    if not is_schema(schema):
        raise _refused(
            param,
            "invalid_function_parameters",
            f"Invalid schema for function '{function['name']}': {schema} is not valid under any given schema.",
        )


def _check_options(body: dict[str, Any]) -> None:
    if body.get("stream_options") is not None:
        if not body.get("stream"):
            raise RuleBroken(
                "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param="stream_options"
            )
        _known(body["stream_options"], frozenset({"include_usage", "include_obfuscation"}), "stream_options")
        for name, value in body["stream_options"].items():
            _wanted(value, f"stream_options.{name}", bool)
    if body.get("stream") is not None:
        _wanted(body["stream"], "stream", bool)
    if body.get("n", 1) not in (None, 1):
        raise RuleBroken("outlive simulates one answer for each request: leave out 'n'.", param="n")
