"""`remember`: keep something for later sessions."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from outlive.tools.builtin.memory_protocol import notebook
from outlive.tools.protocol import SHORT, Tool, ToolContext, ToolOutcome


class RememberInput(Struct, forbid_unknown_fields=True):
    text: Annotated[
        str,
        Meta(
            description="What to remember, complete in itself. What the user said, in their exact words: else it is "
            "kept as your reading, and cannot say who they are or how they want things done.",
            min_length=8,
        ),
    ]
    name: Annotated[str, Meta(description="A few words to call it by.")] = ""
    type: Annotated[
        Literal["user", "feedback", "project", "reference"],
        Meta(description="About the user, how they want things done, the project, or where to look something up."),
    ] = "project"
    scope: Annotated[Literal["project", "user"], Meta(description="For this project, or for all of the user's.")] = (
        "project"
    )


class Remember(Tool[RememberInput]):
    name = "remember"
    description = (
        "Remember something for later sessions: who the user is, how they want things done, why the project is as it "
        "is. Not what the code says anyway, not steps of this task, never a secret. The user is told and can undo it."
    )
    input = RememberInput
    longest = SHORT
    effect = "tasks"

    async def run(self, given: RememberInput, context: ToolContext) -> ToolOutcome:
        return ToolOutcome(notebook(context).remember(given.text, given.name, given.type, given.scope))

    def subject(self, given: RememberInput) -> str:
        return given.name or given.text[:60]
