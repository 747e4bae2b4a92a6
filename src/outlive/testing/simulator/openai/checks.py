"""What all rules of OpenAI's APIs are made of: one check of one value each."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from outlive.testing.simulator.models import SimulatedModel
from outlive.testing.simulator.verdict import RuleBroken, is_schema

NAME = re.compile(r"[a-zA-Z0-9_-]+")
MAX_ID_CHARS = 40  # as the API, also of the name below
MAX_NAME_CHARS = 64  # of a tool
CALLED = {
    str: "a string",
    int: "an integer",
    dict: "an object",
    list: "an array",
    bool: "a boolean",
    float: "a decimal",
}


def refused(param: str, code: str, message: str) -> RuleBroken:
    return RuleBroken(message, param=param, code=code)


def wanted(value: Any, param: str, kind: type) -> None:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        got = "null" if value is None else CALLED.get(type(value), "something else")
        raise refused(
            param, "invalid_type", f"Invalid type for '{param}': expected {CALLED[kind]}, but got {got} instead."
        )


def needed(thing: dict[str, Any], name: str, where: str = "", kind: type = object) -> Any:
    """Return a required field, which has to be of that type."""
    param = f"{where}.{name}" if where else name
    if name not in thing:
        raise refused(param, "missing_required_parameter", f"Missing required parameter: '{param}'.")
    wanted(thing[name], param, kind)
    return thing[name]


def known_only(thing: Any, fields: frozenset[str], where: str) -> None:
    wanted(thing, where, dict)
    for name in thing:
        if name not in fields:
            param = f"{where}.{name}"
            raise refused(param, "unknown_parameter", f"Unknown parameter: '{param}'.")


def refuse_empty(param: str) -> None:
    raise refused(
        param,
        "empty_array",
        f"Invalid '{param}': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    )


def content_parts(content: Any, where: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Check that content is a list of typed parts; yield the place, the part and its type."""
    wanted(content, where, list)
    if not content:
        refuse_empty(where)
    for number, part in enumerate(content):
        place = f"{where}[{number}]"
        wanted(part, place, dict)
        yield place, part, needed(part, "type", place, str)


def short(text: str, param: str, longest: int) -> None:
    if len(text) > longest:
        raise refused(
            param,
            "string_above_max_length",
            f"Invalid '{param}': string too long. Expected a string with maximum length {longest}, but got a string "
            f"with length {len(text)} instead.",
        )


def check_name(function: dict[str, Any], where: str) -> None:
    name, param = needed(function, "name", where, str), f"{where}.name"
    short(name, param, MAX_NAME_CHARS)
    if not NAME.fullmatch(name):
        raise refused(
            param,
            "invalid_value",
            f"Invalid '{param}': string does not match pattern. Expected a string that matches the pattern "
            "'^[a-zA-Z0-9_-]+$'.",
        )


def choice(value: Any, param: str, choices: tuple[str, ...]) -> None:
    """Refuse a value (or the type of an object) that is not one of the choices."""
    if (value.get("type") if isinstance(value, dict) else value) not in choices:
        listed = ", ".join(f"'{choice}'" for choice in choices)
        raise refused(param, "invalid_value", f"Invalid value: '{value}'. Supported values are: {listed}.")


def check_schema(function: dict[str, Any], param: str) -> None:
    schema = function.get("parameters")
    if schema is None:
        return
    wanted(schema, param, dict)
    if schema and schema.get("type") != "object":
        got = f'"{schema["type"]}"' if schema.get("type") else '"None"'
        raise refused(
            param,
            "invalid_function_parameters",
            f"Invalid schema for function '{function['name']}': schema must be a JSON Schema of 'type: \"object\"', "
            f"got 'type: {got}'.",
        )
    if not is_schema(schema):
        raise refused(
            param,
            "invalid_function_parameters",
            f"Invalid schema for function '{function['name']}': {schema} is not valid under any given schema.",
        )


def known_model(name: str, models: Mapping[str, SimulatedModel]) -> SimulatedModel:
    """Return the model of this name. Raises RuleBroken if there is none."""
    model = models.get(name)
    if model is None or model.provider != "openai":
        message = f"The model `{name}` does not exist or you do not have access to it."
        raise RuleBroken(message, 404, code="model_not_found")
    return model


def check_breakpoint(part: dict[str, Any], where: str, model: SimulatedModel) -> None:
    """Check the breakpoint of a part, if it has one."""
    mark = part.get("prompt_cache_breakpoint")
    if mark is None:
        return
    param = f"{where}.prompt_cache_breakpoint"
    if not model.breakpoints:
        message = f"Unsupported parameter: '{param}' is not supported with this model."
        raise refused(param, "unsupported_parameter", message)
    known_only(mark, frozenset({"mode", "ttl"}), param)
    choice(needed(mark, "mode", param, str), f"{param}.mode", ("explicit",))
    choice(mark.get("ttl", "30m"), f"{param}.ttl", ("30m", "12h"))


def check_cache_options(body: dict[str, Any], model: SimulatedModel) -> None:
    """Check `prompt_cache_options`, which only models with breakpoints take."""
    options = body.get("prompt_cache_options")
    if options is None:
        return
    if not model.breakpoints:
        message = "Unsupported parameter: 'prompt_cache_options' is not supported with this model."
        raise refused("prompt_cache_options", "unsupported_parameter", message)
    known_only(options, frozenset({"mode", "ttl", "comparison_response_id", "prewarm"}), "prompt_cache_options")
    choice(options.get("mode", "implicit"), "prompt_cache_options.mode", ("implicit", "explicit"))
