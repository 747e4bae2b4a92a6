"""`keep`: tool results that stay whole through every pass until let go."""

from typing import Annotated

from msgspec import Meta, Struct

from outlive.tools.protocol import SHORT, Tool, ToolContext, ToolOutcome


class KeepInput(Struct, frozen=True, forbid_unknown_fields=True):
    refs: Annotated[
        tuple[str, ...], Meta(description="Handles (@h12) or call ids of the tool results to keep whole.")
    ] = ()
    let_go: Annotated[tuple[str, ...], Meta(description="Handles or call ids that need not be kept any longer.")] = ()


class Keep(Tool[KeepInput]):
    name = "keep"
    description = (
        "Keep tool results whole through every compaction, because you will need them to the letter for long: a "
        "specification, a list to work through. Answers with all that is kept and what it takes of the window; "
        "without arguments it only shows that. Rarely needed: what was compacted can be recalled. Let go of what "
        "is used up."
    )
    input = KeepInput
    longest = SHORT
    effect = "state"

    def subject(self, given: KeepInput) -> str:
        return " ".join(given.refs or given.let_go)

    async def run(self, given: KeepInput, context: ToolContext) -> ToolOutcome:
        if given.refs or given.let_go:
            context.session.keep(given.refs, given.let_go)
        kept, room = context.session.kept()
        if not kept:
            return ToolOutcome(f"nothing is kept whole; {room:,} tokens can be")
        rows = [f"kept whole: {sum(one.tokens for one in kept):,} of {room:,} tokens"]
        for one in kept:
            names = " ".join(dict.fromkeys([one.ref, *one.handles]))
            later = "" if one.in_view else " · not in view: back with the next compaction, recall it to read it now"
            later = later if one.fits else " · too large for the window as it is now: let go of something"
            rows.append(f"- {one.what} · {names} · {one.tokens:,} tokens{later}")
        return ToolOutcome("\n".join(rows))
