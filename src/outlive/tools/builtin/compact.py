"""`compact`: ask for a compaction pass."""

from typing import Annotated

from msgspec import Meta, Struct

from outlive.tools.protocol import SHORT, Tool, ToolContext, ToolError, ToolOutcome

LONGEST = 500


class CompactInput(Struct, frozen=True, forbid_unknown_fields=True):
    focus: Annotated[str, Meta(description="What will matter next, so that it is kept in more detail.")] = ""


class Compact(Tool[CompactInput]):
    name = "compact"
    description = (
        "Make room in the context: fold older conversation once the calls of this answer have come back. Goal, plan, "
        "tasks and the user's words stay, and everything folded can be had back with recall. Rarely needed: it also "
        "happens by itself."
    )
    input = CompactInput
    longest = SHORT
    effect = "state"

    async def run(self, given: CompactInput, context: ToolContext) -> ToolOutcome:
        focus = given.focus.strip()
        if len(focus) > LONGEST:
            raise ToolError(f"the focus has {len(focus):,} characters, at most {LONGEST} fit; say it in a line")
        context.session.ask_to_compact(focus)
        return ToolOutcome(
            "the conversation is compacted before the next request" + (f", focus: {focus}" if focus else "")
        )
