"""`subagent`: hand a piece of work to another agent with a context of its own."""

from typing import Annotated

from msgspec import Meta, Struct

from outlive.tools.protocol import Tool, ToolContext, ToolError, ToolOutcome


class SubagentInput(Struct, frozen=True, forbid_unknown_fields=True):
    prompt: Annotated[str, Meta(description="The whole task, and what to report.")]
    description: Annotated[str, Meta(description="In a few words.")]
    tools: Annotated[tuple[str, ...] | None, Meta(description="Names of tools; all of yours when not given.")] = None


class SubagentTool(Tool[SubagentInput]):
    name = "subagent"
    description = (
        "Let another agent do a piece of work and return its report: good for searches that would fill this "
        "conversation, of which it sees nothing. Several in one answer run at the same time."
    )
    input = SubagentInput
    about = "description"
    effect = "look"
    """Its own calls are checked one by one."""
    parallel = True

    async def run(self, given: SubagentInput, context: ToolContext) -> ToolOutcome:
        if context.subagent is None:
            raise ToolError("no agent can be started from here; do it yourself")
        if not given.prompt.strip():
            raise ToolError("the prompt is empty; say what is to be done and what to report")
        return await context.subagent(given.prompt, tools=given.tools, description=given.description)
