"""`task_complete`: finish a task; tasks that waited for it become ready."""

from typing import Annotated

from msgspec import Meta, Struct

from outlive.tasks.graph import Completion as Finished
from outlive.tasks.refs import Ref
from outlive.tools.builtin.task_context import asked, find, saw, work_of
from outlive.tools.protocol import Tool, ToolContext, ToolOutcome


class TaskCompleteInput(Struct, frozen=True, forbid_unknown_fields=True):
    task_id: Annotated[Ref, Meta(description="The task: its id (12, #12), its key, or its exact subject.")]
    result: Annotated[str | None, Meta(description="What came of it, for those who build on it.")] = None


class TaskComplete(Tool[TaskCompleteInput]):
    name = "task_complete"
    description = (
        "Mark a task as done and say which tasks became ready by it. Only when the work is really finished. Refused "
        "when it still waits for others or when another agent holds it."
    )
    input = TaskCompleteInput
    about = "task_id"
    effect = "tasks"

    async def run(self, given: TaskCompleteInput, context: ToolContext) -> ToolOutcome:
        done = asked(lambda: _complete(given, context))
        saw(context, done.task)
        ready = ", ".join(f"#{task.id} {task.subject}" for task in done.unblocked[:10])
        more = f" and {len(done.unblocked) - 10} more" if len(done.unblocked) > 10 else ""
        text = f"completed #{done.task.id} {done.task.subject}"
        return ToolOutcome(text + (f"; now ready: {ready}{more}" if ready else ""))


def _complete(given: TaskCompleteInput, context: ToolContext) -> Finished:
    number = context.graph.get(find(context, given.task_id)).id
    token = work_of(context).tokens.get(number)
    return context.graph.complete(number, result=given.result, owner=context.owner, token=token)
