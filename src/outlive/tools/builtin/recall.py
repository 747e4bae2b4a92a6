"""`recall`: exact text that left the view, by handle or by search."""

from typing import Annotated

from msgspec import Meta, Struct

from outlive.tools.protocol import SHORT, Tool, ToolContext, ToolError, ToolOutcome


class RecallInput(Struct, frozen=True, forbid_unknown_fields=True):
    handle: Annotated[str, Meta(description="A handle from the conversation, such as @h12.")] = ""
    query: Annotated[
        str, Meta(description="Words to look for in all of this session; with a handle, lines of that text.")
    ] = ""


class Recall(Tool[RecallInput]):
    name = "recall"
    description = (
        "Get back what left the conversation, exactly: by handle (@h12), or search this session's past for words to "
        "find the handle. It shows the past; for a file as it is now use read_file."
    )
    input = RecallInput
    longest = SHORT
    effect = "look"
    parallel = True

    def subject(self, given: RecallInput) -> str:
        return given.handle or given.query

    async def run(self, given: RecallInput, context: ToolContext) -> ToolOutcome:
        handle, query = given.handle.strip(), given.query.strip()
        if not handle and not query:
            raise ToolError("give a handle, such as @h12, or a query to search for")
        if not handle:
            return ToolOutcome(context.session.search(query) or f"nothing in this session says {query!r}")
        text, pictures = context.session.recall(handle)
        return ToolOutcome(_lines(text, query, handle) if query else text, images=pictures)


def _lines(text: str, query: str, handle: str) -> str:
    wanted = query.casefold()
    rows = [f"{n:>5}\t{line}" for n, line in enumerate(text.split("\n"), 1) if wanted in line.casefold()]
    return "\n".join(rows) or f"{handle} does not say {query!r}; leave out the query to see all of it"
