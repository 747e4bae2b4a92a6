"""`task_create`: a new task of the shared graph."""

from typing import Annotated

from msgspec import Meta, Struct, field

from outlive.tasks.refs import Ref
from outlive.tools.builtin.task_context import asked, find_all, in_a_line, looks_like_id, made_here, saw, work_of
from outlive.tools.protocol import Tool, ToolContext, ToolError, ToolOutcome

LONGEST_KEY = 60


class TaskCreateInput(Struct, frozen=True, forbid_unknown_fields=True):
    subject: Annotated[str, Meta(description="What is to be done, in one line.")]
    description: Annotated[str, Meta(description="All that is needed to do it.")] = ""
    add_blocked_by: Annotated[
        tuple[Ref, ...],
        Meta(description="Tasks that must be finished first: ids (12, #12), keys, or exact subjects."),
    ] = field(default=(), name="addBlockedBy")
    add_blocks: Annotated[
        tuple[Ref, ...], Meta(description="Tasks that have to wait for this one: ids, keys, or exact subjects.")
    ] = field(default=(), name="addBlocks")
    key: Annotated[
        str | None,
        Meta(description="A short name of your choice; later calls of this session may use it in place of the id."),
    ] = None


class TaskCreate(Tool[TaskCreateInput]):
    name = "task_create"
    description = (
        "Add a task to the project's task graph, which outlives this conversation and is shared with other agents. "
        "To create a plan in one answer, give each task a key and name earlier ones by key in addBlockedBy. Does "
        "not start the task (use task_claim)."
    )
    input = TaskCreateInput
    about = "subject"
    effect = "tasks"

    async def run(self, given: TaskCreateInput, context: ToolContext) -> ToolOutcome:
        key = _checked_key(given.key, context)
        before, after = find_all(context, given.add_blocked_by), find_all(context, given.add_blocks)
        task = asked(
            lambda: context.graph.create(
                given.subject,
                description=given.description,
                blocked_by=before,
                blocks=after,
                metadata=made_here(context, key),
            )
        )
        if key is not None:
            work_of(context).keys[key] = task.id
        saw(context, task)
        return ToolOutcome(f"created {in_a_line(context.graph.get(task.id))}" + (f", key {key}" if key else ""))


def _checked_key(key: str | None, context: ToolContext) -> str | None:
    key = (key or "").strip()
    if not key:
        return None
    if looks_like_id(key) or len(key) > LONGEST_KEY or not key.isprintable():
        raise ToolError(f"{key[:LONGEST_KEY]!r} cannot be a key: a short name that does not look like an id")
    if (taken := work_of(context).keys.get(key)) is not None:
        raise ToolError(f"the key {key!r} belongs to task #{taken} already; take another one")
    return key
