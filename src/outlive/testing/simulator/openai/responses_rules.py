"""Rules of the Responses API. docs/simulator.md says how certain they are."""

from collections.abc import Callable, Mapping
from typing import Any

from outlive.testing.simulator.models import SimulatedModel
from outlive.testing.simulator.openai.checks import (
    check_breakpoint,
    check_cache_options,
    check_name,
    check_schema,
    choice,
    content_parts,
    known_model,
    known_only,
    needed,
    refused,
    short,
    wanted,
)
from outlive.testing.simulator.openai.output import check_text
from outlive.testing.simulator.verdict import RuleBroken

FIELDS = frozenset(
    (
        *("access_programs", "background", "context_management", "conversation", "image", "include", "input"),
        *("instructions", "max_output_tokens", "max_tool_calls", "metadata", "model", "moderation"),
        *("parallel_tool_calls", "previous_response_id", "prompt", "prompt_cache_key", "prompt_cache_options"),
        *("prompt_cache_retention", "reasoning", "safety_identifier", "service_tier", "store", "stream"),
        *("stream_options", "temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation"),
        *("user", "client_metadata"),  # the SDK does not list the last one, and Codex sends it
    )
)
COMPACTED = frozenset(
    (
        *("image", "input", "instructions", "model", "previous_response_id", "prompt_cache_key"),
        *("prompt_cache_options", "prompt_cache_retention", "service_tier"),
    )
)
"""The fields of a compaction request."""
CALL_FIELDS = frozenset({"type", "id", "call_id", "name", "status", "namespace", "caller", "async"})
OUTPUT_FIELDS = frozenset({"type", "id", "call_id", "output", "status", "caller", "name", "namespace"})
ITEMS: dict[str, frozenset[str]] = {
    "message": frozenset({"type", "id", "role", "content", "status", "phase"}),
    "function_call": CALL_FIELDS | {"arguments"},
    "function_call_output": OUTPUT_FIELDS,
    "custom_tool_call": CALL_FIELDS | {"input"},
    "custom_tool_call_output": OUTPUT_FIELDS,
    "additional_tools": frozenset({"type", "id", "role", "tools"}),
    "reasoning": frozenset({"type", "id", "summary", "content", "encrypted_content", "status"}),
    "compaction": frozenset({"type", "id", "encrypted_content"}),
}
ROLES = ("assistant", "system", "developer", "user")
INPUT_PARTS, OUTPUT_PARTS = ("input_text", "input_image", "input_file"), ("output_text", "refusal")
TOOL_FIELDS = frozenset(
    (
        *("type", "name", "description", "parameters", "strict", "allowed_callers", "defer_loading"),
        *("output_schema", "async"),
    )
)
OTHER_TOOLS = ("custom", "namespace", "tool_search", "local_shell", "web_search", "image_generation")
"""Tools that Codex sends, accepted unchecked; the simulated model calls functions and custom tools."""
INCLUDABLE = (
    *("web_search_call.action.sources", "code_interpreter_call.outputs", "computer_call_output.output.image_url"),
    *("file_search_call.results", "message.input_image.image_url", "message.output_text.logprobs"),
    "reasoning.encrypted_content",
)
ENCRYPTED = "reasoning.encrypted_content"
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
MIN_OUTPUT_TOKENS, MAX_ID_CHARS = 16, 64
NO_INPUT = "One of 'input' or 'previous_response_id' or 'prompt' or 'conversation_id' must be provided."
CheckReasoning = Callable[[dict[str, Any], dict[str, Any] | None], None]


def check_request(body: dict[str, Any], models: Mapping[str, SimulatedModel]) -> None:
    """Raise the first error of a request, except of its reasoning."""
    model = _known_request(body, FIELDS, models)
    _check_input(body.get("input"), model)
    _check_tools(body)
    check_text(body)
    _check_options(body, model)
    check_cache_options(body, model)


def check_compact_request(body: dict[str, Any], models: Mapping[str, SimulatedModel]) -> None:
    """Raise the first error of a compaction request, except of its reasoning."""
    model = _known_request(body, COMPACTED, models)
    _check_stateless(body)
    _check_input(body.get("input"), model)
    for name in ("instructions", "prompt_cache_key"):
        if body.get(name) is not None:
            wanted(body[name], name, str)
    check_cache_options(body, model)


def _known_request(
    body: dict[str, Any], fields: frozenset[str], models: Mapping[str, SimulatedModel]
) -> SimulatedModel:
    for name in body:
        if name not in fields:
            raise refused(name, "unknown_parameter", f"Unknown parameter: '{name}'.")
    return known_model(needed(body, "model", kind=str), models)


def _check_input(given: Any, model: SimulatedModel) -> None:
    if given is None or given == []:
        raise refused("input", "missing_required_parameter", NO_INPUT)
    if not isinstance(given, str):
        wanted(given, "input", list)
        for index, item in enumerate(given):
            _check_item(item, f"input[{index}]", model)
        _check_pairs(given)


def items_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the input as items."""
    given = body["input"]
    return [{"type": "message", "role": "user", "content": given}] if isinstance(given, str) else given


def check_encrypted(
    body: dict[str, Any],
    required: Mapping[str, str],
    check: CheckReasoning,
    check_summary: Callable[[dict[str, Any]], None],
) -> None:
    """Refuse reasoning that is invalid or misplaced, items that came with reasoning which is left out, and summaries.

    `required`: by the id of an item, the id of the reasoning before it. Items without an id are not checked.
    """
    items = items_of(body)
    given = {item.get("id") for item in items if item.get("type") == "reasoning"}
    for item, following in zip(items, [*items[1:], None], strict=True):
        if item.get("type") == "reasoning":
            if not item.get("encrypted_content"):
                raise RuleBroken(
                    f"Item with id '{item['id']}' not found. Items are not persisted when `store` is set to false. "
                    "Try again with `store` set to true, or remove this item from your input.",
                    404,
                    param="input",
                )
            check(item, following)
        if item.get("type") == "compaction":
            check_summary(item)
        missing = required.get(item.get("id") or "")
        if missing and missing not in given:
            raise RuleBroken(
                f"Item '{item['id']}' of type '{item['type']}' was provided without its required 'reasoning' item: "
                f"'{missing}'.",
                param="input",
            )


def _check_item(item: Any, where: str, model: SimulatedModel) -> None:
    wanted(item, where, dict)
    kind = item.get("type", "message")
    choice(kind, where, tuple(ITEMS)) if isinstance(kind, str) else wanted(kind, f"{where}.type", str)
    known_only(item, ITEMS[kind], where)
    for name in ("id", "status"):
        if name in item and not (kind == "compaction" and item[name] is None):
            wanted(item[name], f"{where}.{name}", str)
    match kind:
        case "message":
            role = needed(item, "role", where, str)
            choice(role, f"{where}.role", ROLES)
            parts = OUTPUT_PARTS if role == "assistant" else INPUT_PARTS
            _check_content(needed(item, "content", where), f"{where}.content", parts, model)
        case "function_call":
            _check_call_id(item, where)
            check_name(item, where)
            needed(item, "arguments", where, str)
        case "custom_tool_call":
            _check_call_id(item, where)
            check_name(item, where)
            needed(item, "input", where, str)
        case "additional_tools":
            choice(needed(item, "role", where, str), f"{where}.role", ("developer",))
            _check_tool_list(needed(item, "tools", where), f"{where}.tools")
        case "function_call_output" | "custom_tool_call_output":
            if item.get("call_id") is not None or not item.get("name"):  # without a call, it names what it comes from
                _check_call_id(item, where)
            _check_content(needed(item, "output", where), f"{where}.output", INPUT_PARTS, model)
        case "compaction":
            needed(item, "encrypted_content", where, str)
        case _:
            _check_reasoning_item(item, where)


def _check_call_id(item: dict[str, Any], where: str) -> None:
    call_id = needed(item, "call_id", where, str)
    short(call_id, f"{where}.call_id", MAX_ID_CHARS)
    if not call_id:
        message = f"Invalid '{where}.call_id': empty string. Expected a string with minimum length 1."
        raise refused(f"{where}.call_id", "empty_string", message)


def _check_reasoning_item(item: dict[str, Any], where: str) -> None:
    needed(item, "id", where, str)
    for number, part in enumerate(needed(item, "summary", where, list)):
        place = f"{where}.summary[{number}]"
        known_only(part, frozenset({"type", "text"}), place)
        choice(needed(part, "type", place, str), f"{place}.type", ("summary_text",))
        needed(part, "text", place, str)
    if item.get("encrypted_content") is not None:
        wanted(item["encrypted_content"], f"{where}.encrypted_content", str)
    if item.get("content") is not None:
        wanted(item["content"], f"{where}.content", list)


def _check_content(content: Any, where: str, kinds: tuple[str, ...], model: SimulatedModel) -> None:
    if isinstance(content, str):
        return
    for place, part, kind in content_parts(content, where):
        choice(kind, place, kinds)
        if kind in ("input_text", "output_text"):
            needed(part, "text", place, str)
        if kind == "input_text":
            known_only(part, frozenset({"type", "text", "prompt_cache_breakpoint"}), place)
        elif kind == "input_image":
            fields = frozenset({"type", "image_url", "file_id", "detail", "prompt_cache_breakpoint"})
            known_only(part, fields, place)
            choice(part.get("detail", "auto"), f"{place}.detail", ("low", "high", "auto", "original"))
            _check_image(part, place)
        elif kind in OUTPUT_PARTS:
            known_only(part, frozenset({"type", "text", "refusal", "annotations", "logprobs"}), place)
        check_breakpoint(part, place, model)


def _check_image(part: dict[str, Any], where: str) -> None:
    url = part.get("image_url")
    if url is not None:
        wanted(url, f"{where}.image_url", str)
    if not url and not part.get("file_id"):
        message = "One of 'file_id' or 'image_url' must be provided."
        raise refused(where, "missing_required_parameter", message)


def _check_pairs(items: list[dict[str, Any]]) -> None:
    """Each output follows its call, and each call has an output."""
    called: list[str] = []
    answered: set[str] = set()
    for item in items:
        match item.get("type"):
            case "function_call" | "custom_tool_call":
                called.append(item["call_id"])
            case "function_call_output" | "custom_tool_call_output" if item.get("call_id") is not None:
                if item["call_id"] not in called:
                    message = f"No tool call found for function call output with call_id {item['call_id']}."
                    raise RuleBroken(message, param="input")
                answered.add(item["call_id"])
    if missing := [call for call in called if call not in answered]:
        raise RuleBroken(f"No tool output found for function call {missing[0]}.", param="input")


def _check_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools")
    if tools is None:
        return
    _check_tool_list(tools, "tools")
    if body.get("tool_choice") is not None:
        choice(body["tool_choice"], "tool_choice", ("none", "auto", "required", "function", "allowed_tools"))


def _check_tool_list(tools: Any, param: str) -> None:
    wanted(tools, param, list)
    for index, tool in enumerate(tools):
        where = f"{param}[{index}]"
        wanted(tool, where, dict)
        choice(needed(tool, "type", where, str), f"{where}.type", ("function", *OTHER_TOOLS))
        if tool["type"] in OTHER_TOOLS:
            continue
        check_name(tool, where)
        known_only(tool, TOOL_FIELDS, where)
        check_schema(tool, f"{where}.parameters")
        if tool.get("strict"):
            _check_strict(tool, f"{where}.parameters")


def _check_strict(tool: dict[str, Any], param: str) -> None:
    schema = tool.get("parameters") or {}
    if schema.get("additionalProperties") is not False:
        message = "In context=(), 'additionalProperties' is required to be supplied and to be false."
    elif {*schema.get("properties", {})} - {*schema.get("required", [])}:
        message = "In context=(), 'required' is required to be supplied and to be an array including every key."
    else:
        return
    raise refused(param, "invalid_function_parameters", f"Invalid schema for function '{tool['name']}': {message}")


def _check_options(body: dict[str, Any], model: SimulatedModel) -> None:
    for name in ("stream", "store", "parallel_tool_calls", "background"):
        if body.get(name) is not None:
            wanted(body[name], name, bool)
    if body.get("instructions") is not None:
        wanted(body["instructions"], "instructions", str)
    _check_stateless(body)
    if body.get("stream_options") is not None:
        if not body.get("stream"):
            message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
            raise RuleBroken(message, param="stream_options")
        known_only(body["stream_options"], frozenset({"include_obfuscation"}), "stream_options")
    _check_length(body.get("max_output_tokens"), model)
    for number, name in enumerate(_listed(body, "include")):
        choice(name, f"include[{number}]", INCLUDABLE)
        if name == ENCRYPTED and not model.reasoning:
            raise RuleBroken("Encrypted content is not supported with this model.", param="include")
    reasoning = body.get("reasoning")
    if reasoning is not None:
        known_only(reasoning, frozenset({"context", "effort", "generate_summary", "mode", "summary"}), "reasoning")
        for name, value in reasoning.items():
            if value is not None and not model.reasoning:
                message = f"Unsupported parameter: 'reasoning.{name}' is not supported with the '{model.name}' model."
                raise refused(f"reasoning.{name}", "unsupported_parameter", message)
        choice(reasoning.get("effort") or "medium", "reasoning.effort", EFFORTS)
        choice(reasoning.get("summary") or "auto", "reasoning.summary", ("auto", "concise", "detailed"))


def _check_stateless(body: dict[str, Any]) -> None:
    """Refuse a request that goes on from a stored response: nothing is stored."""
    if body.get("previous_response_id") is not None:
        message = f"Previous response with id '{body['previous_response_id']}' not found."
        raise RuleBroken(message, param="previous_response_id", code="previous_response_not_found")


def _listed(body: dict[str, Any], name: str) -> list[Any]:
    if body.get(name) is None:
        return []
    wanted(body[name], name, list)
    return list(body[name])


def _check_length(value: Any, model: SimulatedModel) -> None:
    name = "max_output_tokens"
    if value is None:
        return
    wanted(value, name, int)
    if value < MIN_OUTPUT_TOKENS:
        message = f"Expected a value >= {MIN_OUTPUT_TOKENS}, but got {value} instead."
        raise refused(name, "integer_below_min_value", f"Invalid '{name}': integer below minimum value. {message}")
    if value > model.max_output:
        message = f"Expected a value <= {model.max_output}, but got {value} instead."
        raise refused(name, "integer_above_max_value", f"Invalid '{name}': integer above maximum value. {message}")
