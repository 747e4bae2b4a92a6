"""`task_claim`: take a task, or the best ready one, so that nobody else does it."""

from typing import Annotated

from msgspec import Meta, Struct

from outlive.tasks.refs import Ref
from outlive.tools.builtin.task_context import LEASE, asked, claimed, find, in_a_line, saw
from outlive.tools.protocol import SHORT, Tool, ToolContext, ToolOutcome


class TaskClaimInput(Struct, frozen=True, forbid_unknown_fields=True):
    task_id: Annotated[
        Ref | None,
        Meta(description="The task: id, key or exact subject; when not given, the most urgent one that is ready."),
    ] = None


class TaskClaim(Tool[TaskClaimInput]):
    name = "task_claim"
    description = (
        "Take a ready task in your name and start it; exactly one agent gets it. The claim runs out when it is not "
        "renewed. Refused for tasks that are blocked, finished or held by another."
    )
    input = TaskClaimInput
    longest = SHORT
    effect = "tasks"

    def subject(self, given: TaskClaimInput) -> str:
        return "" if given.task_id is None else str(given.task_id)

    async def run(self, given: TaskClaimInput, context: ToolContext) -> ToolOutcome:
        ref = None if given.task_id is None else find(context, given.task_id)
        task, ours_before = asked(lambda: claimed(context, ref))
        saw(context, task)
        minutes = round(LEASE.total_seconds() / 60)
        how = "it is yours already, for another" if ours_before else "claimed, for"
        text = f"{how} {minutes} minutes: {in_a_line(task)}"
        return ToolOutcome(f"{text}\n{task.description}" if task.description else text)
