"""JSON schemas of inputs, and the check of an input against its type."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from outlive.tools.errors import ToolError

Given = TypeVar("Given", bound=Struct)


def checked_input(name: str, kind: type[Given], given: Mapping[str, Any], longest: int = 0) -> Given:
    """The input of a call. Raises ToolError with the mistake and the expected form; `longest` as in `Tool`."""
    size = max((len(str(value)) for value in given.values()), default=0) if longest else 0
    if size > longest:
        raise ToolError(f"{name}: a text in its input has {size:,} characters, at most {longest:,} can be")
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        where = str(error).replace("`$.", "`").replace(" - at `$`", "")
        raise ToolError(f"{name}: {where}; it takes {takes(kind)}") from None


def schema(kind: Any) -> dict[str, Any]:
    """The JSON schema of an input, as short as it can be: every request carries it.

    It has no references, which some servers do not follow, no defaults, and no null: a field that may be null may as
    well be left out. That there are no other fields is checked and not said.
    """
    whole = full_schema(kind)
    whole.pop("additionalProperties", None)
    whole["properties"] = {name: _short(form) for name, form in whole.get("properties", {}).items()}
    if not whole.get("required"):
        whole.pop("required", None)
    return whole


def full_schema(kind: Any) -> dict[str, Any]:
    """The complete JSON schema of a type, without references."""
    (main,), parts = msgspec.json.schema_components([kind], ref_template="{name}")
    whole: dict[str, Any] = _inlined(main, parts)
    whole.pop("title", None)
    return whole


def _short(form: dict[str, Any]) -> dict[str, Any]:
    form = {key: value for key, value in form.items() if key != "default"}
    if "items" in form:
        form["items"] = _short(form["items"])
    kinds = [_short(one) for one in form.pop("anyOf", ()) if one != {"type": "null"}]
    if len(kinds) == 1:
        return form | kinds[0]
    if all(one.keys() == {"type"} for one in kinds):
        return form | ({"type": [one["type"] for one in kinds]} if kinds else {})
    return form | {"anyOf": kinds}


def brief_schema(form: dict[str, Any]) -> dict[str, Any]:
    """A schema with the first sentence of each description, for small windows."""
    properties = {
        name: {key: first_sentence(value) if key == "description" else value for key, value in field.items()}
        for name, field in form["properties"].items()
    }
    return form | {"properties": properties}


def first_sentence(text: str) -> str:
    return re.split(r"(?<=[.:;]) ", text, maxsplit=1)[0].rstrip(":;")


def _inlined(part: Any, parts: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_inlined(item, parts) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _inlined(parts[part["$ref"]], parts)
    return {key: _inlined(value, parts) for key, value in part.items()}


def takes(kind: type[Struct]) -> str:
    """The names of the fields, those that may be left out with a question mark."""
    form = schema(kind)
    required = form.get("required", [])
    names = [name if name in required else f"{name}?" for name in form.get("properties", {})]
    return "{" + ", ".join(names) + "}"
