"""The tools of an agent, their schemas, and the check of calls against them."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from msgspec import Struct

from outlive.messages import ToolCall
from outlive.models.protocol import UNREADABLE
from outlive.secrets import mask
from outlive.tools.protocol import Tool, ToolError
from outlive.tools.schema import checked_input, schema, takes

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
                f"it takes {takes(tool.input)}"
            )
        return tool, checked_input(tool.name, tool.input, call.input, tool.longest)
