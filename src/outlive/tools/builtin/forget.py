"""`forget`: move a memory to the archive, from which it can be restored."""

from typing import Annotated

from msgspec import Meta, Struct

from outlive.tools.builtin.memory_protocol import notebook
from outlive.tools.protocol import SHORT, Tool, ToolContext, ToolOutcome


class ForgetInput(Struct, forbid_unknown_fields=True):
    memory: Annotated[str, Meta(description="Its name, or scope/slug as a memory block shows it.", min_length=1)]


class Forget(Tool[ForgetInput]):
    name = "forget"
    description = (
        "Forget a memory that the user wants gone, with what was derived from it. What turned out wrong is better "
        "corrected: remember the right thing. The user is asked first."
    )
    input = ForgetInput
    about = "memory"
    longest = SHORT
    effect = "run"

    async def run(self, given: ForgetInput, context: ToolContext) -> ToolOutcome:
        return ToolOutcome(notebook(context).forget(given.memory))
