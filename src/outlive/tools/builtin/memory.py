"""The memory tools `remember`, `forget` and `memory_search`, and the interface that they use."""

from typing import Annotated, Protocol, cast

from msgspec import Meta, Struct

from outlive.stores.memories.records import Kind, Scope
from outlive.tools.protocol import SHORT_RESULT_CHARS, Tool, ToolContext, ToolError, ToolOutcome

MEMORIES_KEY = "memories"
"""The key of the notebook in `ToolContext.extras`."""


class Notebook(Protocol):
    """Stores, forgets and finds memories; every answer is a text for the model."""

    def remember(self, text: str, name: str, type: Kind, scope: Scope) -> str: ...

    def forget(self, ref: str) -> str: ...

    def search(self, query: str, limit: int) -> str: ...


def _notebook(context: ToolContext) -> Notebook:
    if MEMORIES_KEY not in context.extras:
        raise ToolError("there is no memory here: only the agent that the user talks to has one")
    return cast(Notebook, context.extras[MEMORIES_KEY])


class RememberInput(Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[
        str,
        Meta(
            description="Complete in itself. Quote the user exactly: else it is kept as your reading.",
            min_length=8,
        ),
    ]
    name: Annotated[str, Meta(description="A name in a few words.")] = ""
    type: Annotated[
        Kind,
        Meta(description="feedback: how things are to be done; reference: where to look something up."),
    ] = "project"
    scope: Annotated[Scope, Meta(description="For this project, or all.")] = "project"


class Remember(Tool[RememberInput]):
    name = "remember"
    description = (
        "Remember something for later sessions: who the user is, how they want things done, why the project is as it "
        "is. Not what the code says, not steps of this task, never a secret."
    )
    input = RememberInput
    longest = SHORT_RESULT_CHARS
    effect = "tasks"

    def subject(self, given: RememberInput) -> str:
        return given.name or given.text[:60]

    async def run(self, given: RememberInput, context: ToolContext) -> ToolOutcome:
        return ToolOutcome(_notebook(context).remember(given.text, given.name, given.type, given.scope))


class ForgetInput(Struct, frozen=True, forbid_unknown_fields=True):
    memory: Annotated[str, Meta(description="Its name, or scope/slug.", min_length=1)]


class Forget(Tool[ForgetInput]):
    name = "forget"
    description = (
        "Forget a memory that the user wants gone. What turned out wrong is better corrected: remember the right "
        "thing."
    )
    input = ForgetInput
    about = "memory"
    longest = SHORT_RESULT_CHARS
    effect = "run"

    async def run(self, given: ForgetInput, context: ToolContext) -> ToolOutcome:
        return ToolOutcome(_notebook(context).forget(given.memory))


class MemorySearchInput(Struct, frozen=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(description="What it is about.", min_length=1)]
    limit: Annotated[int, Meta(description="How many at most.", ge=1, le=20)] = 5


class MemorySearch(Tool[MemorySearchInput]):
    name = "memory_search"
    description = "Find what was remembered in earlier sessions, as data."
    input = MemorySearchInput
    about = "query"
    longest = SHORT_RESULT_CHARS
    parallel = True

    async def run(self, given: MemorySearchInput, context: ToolContext) -> ToolOutcome:
        return ToolOutcome(_notebook(context).search(given.query, given.limit))
