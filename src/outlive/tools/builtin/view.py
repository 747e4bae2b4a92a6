"""Tools for the model's own context: `compact` it, `recall` what left it, `keep` results whole in it."""

from typing import Annotated

from msgspec import Meta, Struct

from outlive.tools.protocol import SHORT_RESULT_CHARS, Tool, ToolContext, ToolError, ToolOutcome

MAX_FOCUS_CHARS = 500  # it goes into the request for the summary


class CompactInput(Struct, frozen=True, forbid_unknown_fields=True):
    focus: Annotated[str, Meta(description="What will matter next.")] = ""


class Compact(Tool[CompactInput]):
    name = "compact"
    description = "Make room in the context. Rarely needed: it also happens by itself."
    input = CompactInput
    longest = SHORT_RESULT_CHARS
    effect = "state"

    async def run(self, given: CompactInput, context: ToolContext) -> ToolOutcome:
        focus = given.focus.strip()
        if len(focus) > MAX_FOCUS_CHARS:
            raise ToolError(
                f"the focus has {len(focus):,} characters, at most {MAX_FOCUS_CHARS} fit; say it in a line"
            )
        context.session.ask_to_compact(focus)
        return ToolOutcome(
            "the conversation is compacted before the next request" + (f", focus: {focus}" if focus else "")
        )


class RecallInput(Struct, frozen=True, forbid_unknown_fields=True):
    handle: Annotated[str, Meta(description="Such as @h12.")] = ""
    query: Annotated[str, Meta(description="Words to look for; with a handle, in that text.")] = ""


class Recall(Tool[RecallInput]):
    name = "recall"
    description = (
        "Get back what left the conversation, exactly, by its handle, or search this session's past by words. For a "
        "file as it is now use read_file."
    )
    input = RecallInput
    longest = SHORT_RESULT_CHARS
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
        return ToolOutcome(matching_lines(text, query, handle) if query else text, images=pictures)


def matching_lines(text: str, query: str, handle: str) -> str:
    """The lines of a page that contain the query, numbered."""
    wanted = query.casefold()
    rows = [f"{n:>5}\t{line}" for n, line in enumerate(text.split("\n"), 1) if wanted in line.casefold()]
    return "\n".join(rows) or f"{handle} does not say {query!r}; leave out the query to see all of it"


class KeepInput(Struct, frozen=True, forbid_unknown_fields=True):
    refs: Annotated[tuple[str, ...], Meta(description="Handles (@h12) or call ids.")] = ()
    let_go: Annotated[tuple[str, ...], Meta(description="What need not be kept any longer.")] = ()


class Keep(Tool[KeepInput]):
    name = "keep"
    description = (
        "Keep tool results whole through every compaction, such as a specification. Shows all that is kept. Rarely "
        "needed: recall gives back the rest."
    )
    input = KeepInput
    longest = SHORT_RESULT_CHARS
    effect = "state"

    def subject(self, given: KeepInput) -> str:
        return " ".join(given.refs or given.let_go)

    async def run(self, given: KeepInput, context: ToolContext) -> ToolOutcome:
        if given.refs or given.let_go:
            context.session.keep(given.refs, given.let_go)
        kept, room = context.session.kept()
        if not kept:
            return ToolOutcome(f"nothing is kept whole; {room:,} tokens can be")
        rows = [f"kept whole: {sum(item.tokens for item in kept):,} of {room:,} tokens"]
        for item in kept:
            names = " ".join(dict.fromkeys([item.ref, *item.handles]))
            later = "" if item.in_view else " · not in view: back with the next compaction, recall it to read it now"
            later = later if item.fits else " · too large for the window as it is now: let go of something"
            rows.append(f"- {item.what} · {names} · {item.tokens:,} tokens{later}")
        return ToolOutcome("\n".join(rows))
