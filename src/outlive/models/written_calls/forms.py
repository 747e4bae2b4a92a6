"""The shapes in which models write the name and the arguments of a call, and whether they fit the tool."""

import json
import re
from collections.abc import Mapping
from typing import Any

from outlive.models.protocol import UNREADABLE_KEY
from outlive.models.repair import Input, object_at

Schemas = Mapping[str, Mapping[str, Any]]
_NAME_KEYS = ("name", "tool_name", "tool", "function", "function_name", "action")
_INPUT_KEYS = ("arguments", "parameters", "args", "params", "input", "tool_input", "action_input")
_OTHER_KEYS = {"type", "id", "tool_call_id", "thought", "reasoning"}
_USUAL_KEYS = {"name", "arguments", "parameters", "type", "id"}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int, str),
    "number": (int, float, str),
    "boolean": (bool, str),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_PYTHON_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+')|(?P<bracket>[()\[\]{}])|[^"'()\[\]{}]++""", re.DOTALL
)
_KEYWORD = re.compile(r"(^|,)\s*+([A-Za-z_]\w{0,63})\s*+=(?!=)")
decode = json.JSONDecoder(strict=False).raw_decode


def named(form: object, tools: Schemas) -> tuple[str, object] | None:
    """Name and arguments of an object with the shape of a call. Unusual keys count only with a known tool."""
    if not isinstance(form, dict):
        return None
    inner = form.get("function")
    if isinstance(inner, dict) and form.keys() <= {"type", "id", "function"}:
        form = inner
    names = [key for key in _NAME_KEYS if isinstance(form.get(key), str)]
    inputs = [key for key in _INPUT_KEYS if isinstance(form.get(key), (dict, str))]
    if len(names) != 1 or len(inputs) != 1 or not form.keys() <= {*names, *inputs, *_OTHER_KEYS}:
        return None
    usual = form.keys() <= _USUAL_KEYS
    return (form[names[0]], form[inputs[0]]) if usual or form[names[0]] in tools else None


def keyed(form: object, tools: Schemas) -> tuple[str, object] | None:
    """Name and arguments of `{"tool": {…}}`."""
    if not isinstance(form, dict) or len(form) != 1:
        return None
    ((name, given),) = form.items()
    return (name, given) if name in tools and isinstance(given, dict) else None


def problem_with(name: str, given: Input, tools: Schemas) -> str:
    """Why a call does not fit the schema of its tool; empty if it does."""
    schema = tools.get(name)
    if schema is None:
        return f"there is no tool {name[:64]!r}"
    if UNREADABLE_KEY in given:
        return f"the arguments of the call to {name} are not a JSON object"
    properties = schema.get("properties", {})
    if missing := [key for key in schema.get("required", ()) if key not in given]:
        return f"the call to {name} lacks {', '.join(missing)}"
    for key, value in given.items():
        if key not in properties:
            return f"{name} has no argument {key[:64]!r}"
        if not isinstance(value, _types(properties[key])):
            return f"{key} of the call to {name} has the wrong type"
    return ""


def typed(text: str, schema: Mapping[str, Any]) -> object:
    """The value of a parameter between tags: JSON, unless its type is string."""
    text = text.removeprefix("\n").removesuffix("\n")
    if schema.get("type") == "string":
        return text
    try:
        value, end = decode(text.strip())
    except (ValueError, RecursionError):
        return text
    return value if end == len(text.strip()) else text


def keyword_arguments(text: str, at: int) -> tuple[object, int]:
    """The object that `key=value, …)` stands for, and the end behind its bracket; (None, 0) if it cannot be read."""
    parts, depth, start = ["{"], 0, at
    while token := _PYTHON_TOKEN.match(text, at):
        piece, at = token[0], token.end()
        if token["bracket"]:
            depth += 1 if piece in "([{" else -1
            if depth < 0:
                break
        elif depth == 0 and not token["string"]:
            piece = _KEYWORD.sub(r'\1"\2":', piece)
        parts.append(piece)
    if depth >= 0 or text[at - 1 : at] != ")" or at <= start:
        return None, 0
    found = object_at("".join([*parts, "}"]))
    return (found[0], at) if found else (None, 0)


def _types(schema: Mapping[str, Any]) -> tuple[type, ...]:
    """The Python types that a property may have; numbers may come as text."""
    names = [part.get("type", "") for part in schema.get("anyOf") or [schema]]
    return tuple(kind for name in names for one in _listed(name) for kind in _TYPES.get(one, (object,)))


def _listed(name: str | list[str]) -> list[str]:
    return [name] if isinstance(name, str) else name
