"""The tools of an agent, their schemas, and the check of calls against them."""

from collections.abc import Container, Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from msgspec import Struct

from outlive.messages import ToolCall
from outlive.models.protocol import UNREADABLE_KEY
from outlive.secrets import mask
from outlive.tools.protocol import Tool, ToolError
from outlive.tools.schema import brief_schema, checked_input, first_sentence, schema, takes

MAX_NAME_CHARS = 80
"""Characters that are shown of an unknown tool name."""


class Toolbox:
    """Tools by name, in the order in which the model sees them."""

    def __init__(self, tools: Iterable[Tool[Any]], *, brief: bool = False, hidden: Container[str] = ()) -> None:
        """`brief`: the model sees only the first sentences of descriptions. `hidden`: tools that it does not see."""
        self._tools = {tool.name: tool for tool in tools}
        self._brief = brief
        self._hidden = hidden

    def __iter__(self) -> Iterator[Tool[Any]]:
        return iter(self._tools.values())

    def narrowed(self, names: Iterable[str] | None) -> "Toolbox":
        """A toolbox with only those of `names` that this one has; None for all."""
        wanted = None if names is None else set(names)
        return Toolbox(
            (tool for tool in self if wanted is None or tool.name in wanted), brief=self._brief, hidden=self._hidden
        )

    def without(self, *names: str) -> "Toolbox":
        return self._with(tool for tool in self if tool.name not in names)

    def _with(self, tools: Iterable[Tool[Any]]) -> "Toolbox":
        return Toolbox(tools, brief=self._brief, hidden=self._hidden)

    def schemas(self) -> tuple[dict[str, Any], ...]:
        """Name, description and JSON schema of each tool."""
        return tuple(self._schema(tool) for tool in self if tool.name not in self._hidden)

    def _schema(self, tool: Tool[Any]) -> dict[str, Any]:
        description, form = tool.description, schema(tool.input)
        if self._brief:
            description, form = first_sentence(description), brief_schema(form)
        return {"name": tool.name, "description": description, "input_schema": form}

    def find(self, name: str) -> Tool[Any] | None:
        return self._tools.get(name)

    def read(self, call: ToolCall) -> tuple[Tool[Any], Struct]:
        """The tool and its checked input. Raises ToolError with the mistake and the expected form."""
        tool = self._tools.get(call.name)
        if tool is None:
            similar = get_close_matches(call.name, self._tools, n=1, cutoff=0.5)
            hint = f"; did you mean {similar[0]}?" if similar else ""
            raise ToolError(
                f"there is no tool {call.name[:MAX_NAME_CHARS]!r}{hint} The tools are: {', '.join(self._tools)}"
            )
        if UNREADABLE_KEY in call.input:
            raise ToolError(
                f"the arguments of {call.name} are not a JSON object: "
                f"{mask(str(call.input[UNREADABLE_KEY]))[:200]!r}; it takes {takes(tool.input)}"
            )
        return tool, checked_input(tool.name, tool.input, call.input, tool.longest)
