"""`task_update`: change the text, the status or the dependencies of a task."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field

from outlive.stores.tasks.records import Status, Task
from outlive.tasks import rules
from outlive.tasks.refs import Ref
from outlive.tools.builtin.task_context import asked, claimed, find, find_all, in_a_line, saw, work_of
from outlive.tools.protocol import Tool, ToolContext, ToolError, ToolOutcome


class TaskUpdateInput(Struct, frozen=True, forbid_unknown_fields=True):
    task_id: Annotated[Ref, Meta(description="The task: its id (12, #12), its key, or its exact subject.")]
    subject: Annotated[str | UnsetType, Meta(description="The new subject.")] = UNSET
    description: Annotated[str | UnsetType, Meta(description="The new description.")] = UNSET
    status: Annotated[
        Status | UnsetType, Meta(description="in_progress claims it; pending gives it back, or reopens it.")
    ] = UNSET
    add_blocked_by: Annotated[tuple[Ref, ...], Meta(description="Further tasks it has to wait for.")] = field(
        default=(), name="addBlockedBy"
    )
    add_blocks: Annotated[tuple[Ref, ...], Meta(description="Further tasks that have to wait for it.")] = field(
        default=(), name="addBlocks"
    )
    remove_blocked_by: Annotated[tuple[Ref, ...], Meta(description="Tasks it no longer waits for.")] = field(
        default=(), name="removeBlockedBy"
    )


class TaskUpdate(Tool[TaskUpdateInput]):
    name = "task_update"
    description = (
        "Change a task: only what is given changes. Refused when another agent holds the task. To finish one with a "
        "note on its result, use task_complete. Does not delete tasks; cancelled means that it will not be done."
    )
    input = TaskUpdateInput
    about = "task_id"
    effect = "tasks"

    async def run(self, given: TaskUpdateInput, context: ToolContext) -> ToolOutcome:
        fields = _fields(given, context)
        if not fields and given.status is UNSET:
            raise ToolError("nothing to change: give a subject, a description, a status or dependencies")
        task = asked(lambda: _change(given, context, fields))
        saw(context, task)
        return ToolOutcome(f"updated {in_a_line(context.graph.get(task.id))}")


def _fields(given: TaskUpdateInput, context: ToolContext) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if given.subject is not UNSET:
        fields["subject"] = given.subject
    if given.description is not UNSET:
        fields["description"] = given.description
    for name in ("add_blocked_by", "add_blocks", "remove_blocked_by"):
        if refs := getattr(given, name):
            fields[name] = find_all(context, refs)
    return fields


def _change(given: TaskUpdateInput, context: ToolContext, fields: dict[str, Any]) -> Task:
    """Apply the change; a claim is a separate operation and is released if the rest is refused."""
    task = context.graph.get(find(context, given.task_id))
    token = work_of(context).tokens.get(task.id)
    if given.status == "in_progress":
        started, ours_before = claimed(context, task.id)
        try:
            return context.graph.update(task.id, **fields) if fields else started
        except BaseException:
            if not ours_before:
                context.graph.release(task.id, owner=context.owner)
            raise
    if given.status is not UNSET:
        rules.may_act(task, owner=context.owner, token=token, verb=f"make {given.status}")
        fields = {**fields, "status": given.status}
    return context.graph.update(task.id, **fields)
