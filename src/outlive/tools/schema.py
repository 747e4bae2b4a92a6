"""JSON schemas of inputs, and the check of an input against its type."""

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
    """The JSON schema of an input without references, which some servers do not follow."""
    (main,), parts = msgspec.json.schema_components([kind], ref_template="{name}")
    whole: dict[str, Any] = _inlined(main, parts)
    whole.pop("title", None)
    return whole


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
