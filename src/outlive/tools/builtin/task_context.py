"""Shared by the task tools: keys beside ids, claims of the session, and the tasks in the state block."""

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from outlive.errors import LeaseError, StoreError, UnknownTask
from outlive.events import OpenTask, TasksSeen
from outlive.printable import some
from outlive.stores.tasks.protocol import TaskQuery, TaskReader
from outlive.stores.tasks.records import Task
from outlive.tasks.refs import Ref, parse_id
from outlive.tools.protocol import ToolContext, ToolError

LEASE_DURATION = timedelta(hours=1)
RENEW_SECONDS = 600.0
"""Seconds between two renewals of claims."""
MAX_OPEN_SHOWN = 36
"""Open tasks in the state block."""
MAX_READY_SHOWN = 12  # in the state block; `task_list` shows all
MAX_COMPLETED_KEPT = 200
"""Completed tasks that are kept in mind."""


@dataclass(slots=True)
class TaskWork:
    """What the running session knows of its tasks; the rest is in the graph."""

    keys: dict[str, int] = field(default_factory=dict)
    tokens: dict[int, int] = field(default_factory=dict)
    """Lease tokens of claimed tasks, which prove that the claim is still ours."""
    touched: dict[int, None] = field(default_factory=dict)
    renewed: float = field(default_factory=time.monotonic)


def work_of(context: ToolContext) -> TaskWork:
    """The session's task work, created on first use."""
    work = context.extras.get("tasks")
    if not isinstance(work, TaskWork):
        work = context.extras["tasks"] = TaskWork(tokens=_earlier_claims(context))
    return work


def _earlier_claims(context: ToolContext) -> dict[int, int]:
    """Claims that this session made before it was resumed; only an owner named after it proves that."""
    if context.session.id not in context.owner:
        return {}
    held = context.graph.find(TaskQuery(statuses=frozenset({"in_progress"}), owner=context.owner))
    return {task.id: task.lease.token for task in held if task.lease is not None}


def is_id(ref: Ref) -> bool:
    """Whether it has the form of an id, such as `12` or `#12`."""
    try:
        return bool(parse_id(ref))
    except UnknownTask:
        return False


def resolve(context: ToolContext, ref: Ref) -> Ref:
    """The id for an id, for a key of this session, or for the exact subject of one task."""
    if isinstance(ref, int) or is_id(ref):
        return ref
    name = ref.strip()
    if (known := work_of(context).keys.get(name)) is not None:
        return known
    tasks = context.graph.find(TaskQuery(sort="id"))
    made_here = (task for task in tasks if task.metadata.get("session") == context.session.id)
    if keyed := [task.id for task in made_here if task.metadata.get("key") == name]:
        return keyed[-1]
    exact = [task.id for task in tasks if task.subject == name]
    if len(exact) > 1:
        listed = ", ".join(f"#{number}" for number in exact[:10])
        raise ToolError(f"{len(exact)} tasks have the subject {name!r}: {listed}; give the id")
    return exact[0] if exact else ref


def resolve_all(context: ToolContext, refs: Iterable[Ref]) -> tuple[Ref, ...]:
    return tuple(resolve(context, ref) for ref in refs)


def claim(context: ToolContext, ref: Ref | None) -> tuple[Task, bool]:
    """Claim a task for the session; returns it and whether it was ours already (then the lease is extended)."""
    work = work_of(context)
    if ref is not None:
        task = context.graph.get(ref)
        token = work.tokens.get(task.id)
        if token is not None and task.lease is not None and task.lease.token == token:
            return context.graph.heartbeat(task.id, owner=context.owner, token=token, ttl=LEASE_DURATION), True
    task = context.graph.claim(ref, owner=context.owner, ttl=LEASE_DURATION)
    if task.lease is not None:
        work.tokens[task.id] = task.lease.token
    return task, False


def keep_claims(context: ToolContext) -> list[str]:
    """Extend the leases of this session if `RENEW_SECONDS` has passed. Returns messages about lost claims."""
    work = work_of(context)
    if not work.tokens or time.monotonic() - work.renewed < RENEW_SECONDS:
        return []
    work.renewed = time.monotonic()
    lost = []
    for number, token in list(work.tokens.items()):
        try:
            context.graph.heartbeat(number, owner=context.owner, token=token, ttl=LEASE_DURATION)
        except (LeaseError, UnknownTask) as error:
            del work.tokens[number]
            lost.append(str(error))
    return lost


def note_task(context: ToolContext, touched: Task) -> None:
    """Record a task as touched, and log the open tasks of the session if they changed."""
    work = work_of(context)
    work.touched.pop(touched.id, None)
    work.touched[touched.id] = None
    if touched.status != "in_progress":
        work.tokens.pop(touched.id, None)
    _note_open(context)


def catch_up(context: ToolContext, *, interrupted: bool = False) -> None:
    """Log the open tasks of the session if they changed since it looked: others work on them too.

    `interrupted`: the process died during a call of a task tool, perhaps before it could log what it had done.
    """
    with suppress(StoreError):  # the tools say so when the tasks are needed
        if interrupted:
            made_here = (t.id for t in context.graph.find() if t.metadata.get("session") == context.session.id)
            work_of(context).touched.update(dict.fromkeys(made_here))
        if interrupted or context.session.state.tasks:
            _note_open(context)


def _note_open(context: ToolContext) -> None:
    work, state = work_of(context), context.session.state
    earlier = [*(task.id for task in state.tasks), *state.tasks_done]
    found, done = context.graph.store.read(lambda tx: _concerning(tx, context.owner, work.touched, earlier))
    now = tuple(OpenTask(task.id, task.subject, task.status) for task in found)
    if (now, done) != (state.tasks, state.tasks_done):
        context.session.log(TasksSeen, tasks=now, done=done)


def _concerning(
    tx: TaskReader, owner: str, touched: Iterable[int], earlier: Iterable[int]
) -> tuple[list[Task], tuple[int, ...]]:
    """Open tasks in progress by us, touched by this session (newest first), seen before, then ready ones; and which
    of those that were touched or seen are completed."""
    mine = tx.find(TaskQuery(statuses=frozenset({"in_progress"}), owner=owner, sort="id"))
    wanted = list(dict.fromkeys([*reversed(list(touched)), *earlier]))
    tasks = tx.get(wanted)
    known = [tasks[number] for number in wanted if number in tasks]
    done = sorted(task.id for task in known if task.status == "completed")[-MAX_COMPLETED_KEPT:]
    ours = set(touched)
    open_ones = [
        task
        for task in [*mine, *known, *tx.ready(limit=MAX_READY_SHOWN)]
        if not task.finished and (task.status == "pending" or task.owner in (None, owner) or task.id in ours)
    ]
    return list({task.id: task for task in open_ones}.values())[:MAX_OPEN_SHOWN], tuple(done)


def one_line(task: Task) -> str:
    """`#12 Write the parser (in_progress, waits for #3)`."""
    about = [task.status, *([f"owner {task.owner}"] if task.owner else [])]
    if task.blocked_by and not task.finished:
        about.append(f"waits for {_ids(task.blocked_by)}")
    if task.blocks:
        about.append(f"blocks {_ids(task.blocks)}")
    return f"#{task.id} {task.subject} ({', '.join(about)})"


def _ids(numbers: tuple[int, ...]) -> str:
    return some([f"#{number}" for number in numbers], 8)
