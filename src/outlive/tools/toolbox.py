"""The tools of an agent, their schemas, and the check of calls against them."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec import Struct

from outlive.messages import ToolCall
from outlive.models.protocol import UNREADABLE
from outlive.secrets import mask
from outlive.tools.protocol import Input, Tool, ToolError

LONGEST_NAME = 80
"""Characters that are shown of an unknown tool name."""


class Toolbox:
    """Tools by name, in the order in which the model sees them."""

    def __init__(self, tools: Iterable[Tool[Any]]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def __iter__(self) -> Iterator[Tool[Any]]:
        return iter(self._tools.values())

    def narrowed(self, names: Iterable[str] | None) -> "Toolbox":
        """A toolbox with only those of `names` that this one has; None for all."""
        wanted = None if names is None else set(names)
        return Toolbox(tool for tool in self if wanted is None or tool.name in wanted)

    def without(self, *names: str) -> "Toolbox":
        return Toolbox(tool for tool in self if tool.name not in names)

    def schemas(self) -> tuple[dict[str, Any], ...]:
        """Name, description and JSON schema of each tool."""
        return tuple(
            {"name": tool.name, "description": tool.description, "input_schema": schema(tool.input)} for tool in self
        )

    def find(self, name: str) -> Tool[Any] | None:
        return self._tools.get(name)

    def read(self, call: ToolCall) -> tuple[Tool[Any], Struct]:
        """The tool and its checked input. Raises ToolError with the mistake and the expected form."""
        tool = self._tools.get(call.name)
        if tool is None:
            near = get_close_matches(call.name, self._tools, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ToolError(
                f"there is no tool {call.name[:LONGEST_NAME]!r}{hint} The tools are: {', '.join(self._tools)}"
            )
        if UNREADABLE in call.input:
            raise ToolError(
                f"the arguments of {call.name} are not a JSON object: {mask(str(call.input[UNREADABLE]))[:200]!r}; "
                f"it takes {_takes(tool.input)}"
            )
        return tool, checked_input(tool.name, tool.input, call.input, tool.longest)


def checked_input(name: str, kind: type[Input], given: Mapping[str, Any], longest: int = 0) -> Input:
    """The input of a call. Raises ToolError with the mistake and the expected form; `longest` as in `Tool`."""
    size = max((len(str(value)) for value in given.values()), default=0) if longest else 0
    if size > longest:
        raise ToolError(f"{name}: a text in its input has {size:,} characters, at most {longest:,} can be")
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        where = str(error).replace("`$.", "`").replace(" - at `$`", "")
        raise ToolError(f"{name}: {where}; it takes {_takes(kind)}") from None


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


def _takes(kind: type[Struct]) -> str:
    form = schema(kind)
    required = form.get("required", [])
    names = [name if name in required else f"{name}?" for name in form.get("properties", {})]
    return "{" + ", ".join(names) + "}"
