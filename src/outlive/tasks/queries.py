"""Queries within a transaction: find and lock tasks, or say why there are none."""

from collections.abc import Callable, Collection

from outlive.errors import NothingReady
from outlive.stores.tasks.protocol import Fit, TaskQuery, TaskReader, TaskWriter
from outlive.stores.tasks.records import Task
from outlive.tasks import rules, shape
from outlive.tasks.refs import Ref, parse_id, unknown

OPEN_TASKS = TaskQuery(statuses=frozenset({"pending", "in_progress"}))


def any_open(tx: TaskReader) -> bool:
    """Whether a task is not finished. Asks for one of each status: that costs the same however many there are."""
    return any(tx.find(TaskQuery(statuses=frozenset({status}), limit=1)) for status in OPEN_TASKS.statuses or ())


def find_id(tx: TaskReader, ref: Ref) -> int:
    return parse_id(ref, lambda: tx.find(OPEN_TASKS))


def find_one(tx: TaskReader, ref: Ref) -> Task:
    number = find_id(tx, ref)
    found = tx.get([number])
    if number not in found:
        raise unknown([number])
    return found[number]


def lock_one(tx: TaskWriter, ref: Ref) -> Task:
    number = find_id(tx, ref)
    found = tx.lock([number])
    if number not in found:
        raise unknown([number])
    return found[number]


def lock_with_dependents(
    tx: TaskWriter, ref: Ref, *, archived: bool = False, edges: bool = False, substitute: Task | None = None
) -> tuple[Task, list[Task]]:
    """Lock a task and its dependents, for changes that affect readiness. `substitute` replaces a missing task."""
    number = find_id(tx, ref)
    dependents = tx.dependents([number], archived=archived).get(number, ())
    found = tx.lock({number, *dependents}, edges=edges)
    if substitute is not None:
        found.setdefault(number, substitute)
    if number not in found:
        raise unknown([number])
    return found[number], [found[other] for other in dependents if other in found]


def lost_task(tx: TaskReader, ref: Ref) -> Task | None:
    """Rebuild from the audit trail a task that is missing though it was never deleted."""
    number = find_id(tx, ref)
    changes = tx.history(number)
    if not changes or tx.get([number]) or any(change.op == "delete" for change in changes):
        return None
    first, last = changes[0], changes[-1]
    subject = first.changed.get("subject", (None, "lost"))[1]
    return Task(id=number, subject=str(subject), created_at=first.at, updated_at=last.at, revision=last.revision)


def closure(
    tx: TaskReader, ref: Ref, neighbours: Callable[[Collection[int]], dict[int, tuple[int, ...]]]
) -> list[Task]:
    start = find_one(tx, ref)
    found = shape.explored([start.id], neighbours)
    tasks = tx.get(found.keys())
    return [tasks[number] for number in found if number in tasks]


def nothing_ready(tx: TaskReader, fit: Fit) -> NothingReady:
    """Say why there is nothing to claim."""
    if fit != Fit() and tx.ready(limit=1):
        return NothingReady("no ready task fits the labels asked for", hint="others are ready", code="nothing_fits")
    waiting = tx.count(TaskQuery(statuses=frozenset({"pending"})))
    running = tx.find(TaskQuery(statuses=frozenset({"in_progress"})))
    if stale := next((task for task in running if task.lease and task.lease.stale(tx.now)), None):
        message = f"nothing is ready; of task {stale.id} {rules.stale_lease(stale, tx.now)}"
        return NothingReady(
            message,
            hint=rules.RELEASE_HINT.format(stale.owner),
            code="stale_lease",
            id=stale.id,
            owner=str(stale.owner),
        )
    if waiting or running:
        message = f"nothing is ready: {waiting} pending and blocked, {len(running)} in progress"
        return NothingReady(message, code="nothing_ready_yet" if running else "all_blocked")
    finished = tx.count(TaskQuery(statuses=frozenset({"completed", "cancelled"})))
    return NothingReady("nothing is ready: no open tasks are left", code="nothing_open" if finished else "no_tasks")


def last_token(tx: TaskReader, task: Task) -> int | None:
    """Return the token under which the task was finished, to recognise a retry."""
    for change in reversed(tx.history(task.id)):
        lease = change.changed.get("lease", (None, None))[0]
        if "status" in change.changed:
            return lease.get("token") if isinstance(lease, dict) else None
    return None
