"""`task_get`: the details of one task."""

from typing import Annotated

from msgspec import Meta, Struct

from outlive.tasks.refs import Ref
from outlive.tasks.rules import held
from outlive.tools.builtin.task_context import asked, find, in_a_line
from outlive.tools.protocol import SHORT, Tool, ToolContext, ToolOutcome


class TaskGetInput(Struct, frozen=True, forbid_unknown_fields=True):
    task_id: Annotated[Ref, Meta(description="The task: its id (12, #12), its key, or its exact subject.")]


class TaskGet(Tool[TaskGetInput]):
    name = "task_get"
    description = (
        "Show one task whole: status, description, what it waits for and what waits for it, who holds it, its result."
    )
    input = TaskGetInput
    about = "task_id"
    longest = SHORT
    effect = "look"

    async def run(self, given: TaskGetInput, context: ToolContext) -> ToolOutcome:
        task = asked(lambda: context.graph.get(find(context, given.task_id)))
        rows = [in_a_line(task)]
        if task.lease is not None:
            rows.append(held(task))
        finished = [number for number in task.depends_on if number not in task.blocked_by]
        if finished:
            rows.append(f"finished dependencies: {', '.join(f'#{number}' for number in finished)}")
        if task.labels:
            rows.append(f"labels: {', '.join(task.labels)}")
        if task.description:
            rows.append(f"description:\n{task.description}")
        if task.result:
            rows.append(f"result:\n{task.result}")
        return ToolOutcome("\n".join(rows))
