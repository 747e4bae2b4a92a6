"""The task tools: `task_create`, `task_update`, `task_list`, `task_get`, `task_claim` and `task_complete`."""

from abc import abstractmethod
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field

from outlive.errors import OutliveError
from outlive.printable import some
from outlive.stores.tasks.protocol import TaskQuery
from outlive.stores.tasks.records import Status, Task
from outlive.tasks import rules
from outlive.tasks.drawing.marks import MARKS, words
from outlive.tasks.graph import Completion, TaskGraph
from outlive.tasks.listing import DEFAULT_BUDGET_TOKENS, fits, listing
from outlive.tasks.queries import OPEN_TASKS
from outlive.tasks.refs import Ref
from outlive.tools.builtin.task_context import (
    LEASE_DURATION,
    claim,
    is_id,
    note_task,
    one_line,
    resolve,
    resolve_all,
    work_of,
)
from outlive.tools.protocol import SHORT_RESULT_CHARS, Effect, Input, Tool, ToolContext, ToolError, ToolOutcome

MAX_KEY_CHARS = 60  # a key is a short name for a task within a session
MAX_BUDGET_TOKENS = 50_000  # of one list, however large a window is
TaskRef = Annotated[Ref, Meta(description="Its id, key or exact subject.")]
_FOR_MODELS = {
    "unknown_task": "task_list with all",
    "cycle": "task_update with removeBlockedBy",
    "complete_blocked": "task_update with removeBlockedBy",
    "has_dependents": "task_update with removeBlockedBy",
}
"""What helps, by the code of an error."""


class TaskTool(Tool[Input]):
    """Base of the task tools. Errors of the graph name the tool that helps, not the command line."""

    effect: Effect = "tasks"

    @abstractmethod
    def answer(self, given: Input, context: ToolContext) -> str:
        """Do it and say what was done."""

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        try:
            return ToolOutcome(self.answer(given, context))
        except OutliveError as error:
            raise ToolError(error.told(_FOR_MODELS)) from error


class TaskCreateInput(Struct, frozen=True, forbid_unknown_fields=True):
    subject: Annotated[str, Meta(description="What to do, in one line.")]
    description: Annotated[str, Meta(description="What is needed to do it.")] = ""
    add_blocked_by: Annotated[
        tuple[Ref, ...],
        Meta(description="Tasks to finish first: ids, keys or exact subjects."),
    ] = field(default=(), name="addBlockedBy")
    add_blocks: Annotated[tuple[Ref, ...], Meta(description="Tasks that have to wait for this one.")] = field(
        default=(), name="addBlocks"
    )
    key: Annotated[
        str | None,
        Meta(description="A short name, used in place of the id in this session."),
    ] = None


class TaskCreate(TaskTool[TaskCreateInput]):
    name = "task_create"
    description = (
        "Add a task to the project's graph, which outlives this conversation and is shared with other agents. For a "
        "plan in one answer, give each task a key and name earlier keys in addBlockedBy."
    )
    input = TaskCreateInput
    about = "subject"

    def answer(self, given: TaskCreateInput, context: ToolContext) -> str:
        key = _checked_key((given.key or "").strip(), context)
        task = context.graph.create(
            given.subject,
            description=given.description,
            blocked_by=resolve_all(context, given.add_blocked_by),
            blocks=resolve_all(context, given.add_blocks),
            metadata={"session": context.session.id} | ({"key": key} if key else {}),
        )
        if key:
            work_of(context).keys[key] = task.id
        note_task(context, task)
        return f"created {one_line(context.graph.get(task.id))}" + (f", key {key}" if key else "")


def _checked_key(key: str, context: ToolContext) -> str:
    if not key:
        return ""
    if is_id(key) or len(key) > MAX_KEY_CHARS or not key.isprintable():
        raise ToolError(f"{key[:MAX_KEY_CHARS]!r} cannot be a key: a short name that does not look like an id")
    if (taken := work_of(context).keys.get(key)) is not None:
        raise ToolError(f"the key {key!r} belongs to task #{taken} already; take another one")
    return key


class TaskUpdateInput(Struct, frozen=True, forbid_unknown_fields=True):
    task_id: TaskRef
    subject: Annotated[str | UnsetType, Meta(description="The new subject.")] = UNSET
    description: Annotated[str | UnsetType, Meta(description="The new description.")] = UNSET
    status: Annotated[
        Status | UnsetType,
        Meta(description="in_progress claims it, pending gives it back or reopens it, cancelled gives it up."),
    ] = UNSET
    add_blocked_by: Annotated[tuple[Ref, ...], Meta(description="More tasks to finish first.")] = field(
        default=(), name="addBlockedBy"
    )
    add_blocks: Annotated[tuple[Ref, ...], Meta(description="More tasks that wait for it.")] = field(
        default=(), name="addBlocks"
    )
    remove_blocked_by: Annotated[tuple[Ref, ...], Meta(description="Tasks it no longer waits for.")] = field(
        default=(), name="removeBlockedBy"
    )


class TaskUpdate(TaskTool[TaskUpdateInput]):
    name = "task_update"
    description = (
        "Change a task: only what is given changes. Refused while another agent holds it. To finish one, use "
        "task_complete. Does not delete."
    )
    input = TaskUpdateInput
    about = "task_id"

    def answer(self, given: TaskUpdateInput, context: ToolContext) -> str:
        fields: dict[str, Any] = {
            name: text for name in ("subject", "description") if (text := getattr(given, name)) is not UNSET
        }
        for name in ("add_blocked_by", "add_blocks", "remove_blocked_by"):
            if refs := getattr(given, name):
                fields[name] = resolve_all(context, refs)
        if not fields and given.status is UNSET:
            raise ToolError("nothing to change: give a subject, a description, a status or dependencies")
        task = _change(given, context, fields)
        note_task(context, task)
        return f"updated {one_line(context.graph.get(task.id))}"


def _change(given: TaskUpdateInput, context: ToolContext, fields: dict[str, Any]) -> Task:
    """Apply the change; a claim is a separate operation and is released if the rest is refused."""
    task = context.graph.get(resolve(context, given.task_id))
    token = work_of(context).tokens.get(task.id)
    if given.status == "in_progress":
        started, ours_before = claim(context, task.id)
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


class TaskListInput(Struct, frozen=True, forbid_unknown_fields=True):
    all: Annotated[bool, Meta(description="Also finished and cancelled ones.")] = False
    budget: Annotated[
        int,
        Meta(
            ge=50,
            le=MAX_BUDGET_TOKENS,
            description=f"Tokens at most; {DEFAULT_BUDGET_TOKENS} when not given.",
        ),
    ] = DEFAULT_BUDGET_TOKENS


class TaskList(TaskTool[TaskListInput]):
    name = "task_list"
    description = (
        "List the tasks of the project, most urgent first: state, id, subject, @owner, and after ← the unfinished "
        "tasks it waits for."
    )
    input = TaskListInput
    longest = SHORT_RESULT_CHARS
    effect = "look"

    def answer(self, given: TaskListInput, context: ToolContext) -> str:
        return list_text(context.graph, everything=given.all, budget=given.budget)


def list_text(graph: TaskGraph, *, everything: bool, budget: int) -> str:
    """The open tasks, or all of them, within a token budget; with a legend, and what cannot be read."""
    query = TaskQuery(sort="priority") if everything else OPEN_TASKS
    total = graph.count(query)
    if not total:
        return "there are no tasks" if everything else "there are no open tasks"
    tasks = graph.find(TaskQuery(statuses=query.statuses, sort=query.sort, limit=fits(budget)))
    legend = ", ".join(f"{mark} {words(state)}" for state, mark in MARKS.items())
    damaged = [f"(cannot be read: {what})" for what in graph.store.left_out()[:5]]
    return "\n".join([listing(tasks, total=total, budget=budget), f"[{legend}]", *damaged])


class TaskGetInput(Struct, frozen=True, forbid_unknown_fields=True):
    task_id: TaskRef


class TaskGet(TaskTool[TaskGetInput]):
    name = "task_get"
    description = "Show one task whole, with description, dependencies, holder and result."
    input = TaskGetInput
    about = "task_id"
    longest = SHORT_RESULT_CHARS
    effect = "look"

    def answer(self, given: TaskGetInput, context: ToolContext) -> str:
        return task_text(context.graph.get(resolve(context, given.task_id)))


def task_text(task: Task) -> str:
    """One task whole."""
    rows = [one_line(task)]
    if task.lease is not None:
        rows.append(rules.held(task))
    finished = [number for number in task.depends_on if number not in task.blocked_by]
    if finished:
        rows.append(f"finished dependencies: {', '.join(f'#{number}' for number in finished)}")
    if task.labels:
        rows.append(f"labels: {', '.join(task.labels)}")
    if task.description:
        rows.append(f"description:\n{task.description}")
    if task.result:
        rows.append(f"result:\n{task.result}")
    return "\n".join(rows)


class TaskClaimInput(Struct, frozen=True, forbid_unknown_fields=True):
    task_id: Annotated[
        Ref | None,
        Meta(description="Id, key or exact subject; when not given, the most urgent ready one."),
    ] = None


class TaskClaim(TaskTool[TaskClaimInput]):
    name = "task_claim"
    description = (
        "Take a ready task and start it; exactly one agent gets it. Refused for tasks that are blocked, finished or "
        "held by another."
    )
    input = TaskClaimInput
    about = "task_id"
    longest = SHORT_RESULT_CHARS

    def answer(self, given: TaskClaimInput, context: ToolContext) -> str:
        ref = None if given.task_id is None else resolve(context, given.task_id)
        task, ours_before = claim(context, ref)
        note_task(context, task)
        minutes = round(LEASE_DURATION.total_seconds() / 60)
        how = "it is yours already, for another" if ours_before else "claimed, for"
        text = f"{how} {minutes} minutes: {one_line(task)}"
        return f"{text}\n{task.description}" if task.description else text


class TaskCompleteInput(Struct, frozen=True, forbid_unknown_fields=True):
    task_id: TaskRef
    result: Annotated[str | None, Meta(description="What came of it, for others.")] = None


class TaskComplete(TaskTool[TaskCompleteInput]):
    name = "task_complete"
    description = (
        "Finish a task whose work is really done; says which became ready. Refused while it waits for others or "
        "another agent holds it."
    )
    input = TaskCompleteInput
    about = "task_id"

    def answer(self, given: TaskCompleteInput, context: ToolContext) -> str:
        number = context.graph.get(resolve(context, given.task_id)).id
        token = work_of(context).tokens.get(number)
        done = context.graph.complete(number, result=given.result, owner=context.owner, token=token)
        note_task(context, done.task)
        return completed_text(done)


def completed_text(done: Completion) -> str:
    """What was completed, and what became ready by it."""
    ready = some([f"#{task.id} {task.subject}" for task in done.unblocked], 10)
    return f"completed #{done.task.id} {done.task.subject}" + (f"; now ready: {ready}" if ready else "")
