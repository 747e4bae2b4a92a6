"""The interface that the memory tools use."""

from typing import Literal, Protocol, cast

from outlive.tools.protocol import ToolContext, ToolError

MEMORIES = "memories"
"""Its key in `ToolContext.extras`."""


class Notebook(Protocol):
    """Stores, forgets and finds memories; every answer is a text for the model."""

    def remember(
        self,
        text: str,
        name: str,
        type: Literal["user", "feedback", "project", "reference"],
        scope: Literal["project", "user"],
    ) -> str: ...

    def forget(self, ref: str) -> str: ...

    def search(self, query: str, limit: int = 5) -> str: ...


def notebook(context: ToolContext) -> Notebook:
    """The notebook of a context. Raises ToolError if there is none, as for a sub-agent."""
    if MEMORIES not in context.extras:
        raise ToolError("there is no memory here: only the agent that the user talks to has one")
    return cast(Notebook, context.extras[MEMORIES])
