"""`subagent`: hand a piece of work to another agent with a context of its own."""

from typing import Annotated

from msgspec import Meta, Struct

from outlive.tools.protocol import Tool, ToolContext, ToolError, ToolOutcome


class SubagentInput(Struct, frozen=True, forbid_unknown_fields=True):
    prompt: Annotated[
        str, Meta(description="The whole task: the agent sees nothing of this conversation. Say what to report.")
    ]
    description: Annotated[str, Meta(description="The task in a few words, for people.")]
    tools: Annotated[
        tuple[str, ...] | None, Meta(description="Names of the tools it may use; all of yours when not given.")
    ] = None


class SubagentTool(Tool[SubagentInput]):
    name = "subagent"
    description = (
        "Let another agent do a piece of work in a fresh context and return its report. Several in one answer run at "
        "the same time. Good for searches that would fill this conversation. It cannot ask you, does not see what "
        "was said here, has no more rights than you, and cannot start agents itself."
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
