"""Output formats that providers enforce: the part of JSON schema that all of them support."""

import re
from collections.abc import Mapping
from typing import Any

from outlive.request import OutputFormat

_STRING_FORMATS = frozenset({"date", "date-time", "duration", "email", "time", "uuid"})
_ENUM_TYPES: dict[type, str] = {str: "string", int: "integer"}


def enforceable(name: str, schema: Mapping[str, Any]) -> OutputFormat | None:
    """The format for a schema; None if providers cannot enforce its shape: not an object, open mappings, any value.

    Bounds and patterns are left out and all fields are required, as providers want it. The caller checks the answer.
    """
    try:
        strict = _strict(schema)
    except LookupError:
        return None
    named = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "answer"
    return OutputFormat(named, strict) if strict.get("type") == "object" else None


def _strict(part: Any) -> dict[str, Any]:
    """The enforceable form of a schema without references. Raises LookupError if there is none."""
    if not isinstance(part, Mapping):
        raise LookupError
    form: dict[str, Any] = {"description": part["description"]} if "description" in part else {}
    if "anyOf" in part:
        return form | {"anyOf": [_strict(choice) for choice in part["anyOf"]]}
    if "enum" in part:
        kinds = {_ENUM_TYPES[type(value)] for value in part["enum"]}
        if len(kinds) != 1:
            raise LookupError
        return form | {"type": kinds.pop(), "enum": list(part["enum"])}
    form["type"] = kind = part["type"]
    if kind == "object":
        if not part["properties"]:  # an open mapping, which would be enforced as an empty object
            raise LookupError
        fields = {name: _strict(field) for name, field in part["properties"].items()}
        return form | {"properties": fields, "required": list(fields), "additionalProperties": False}
    if kind == "array":
        return form | {"items": _strict(part["items"])}
    if kind == "string" and part.get("format") in _STRING_FORMATS:
        form["format"] = part["format"]
    return form
