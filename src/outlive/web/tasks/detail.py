"""One task in full: its fields, its lease, and the tasks around it."""

from collections.abc import Collection, Mapping

import msgspec

from outlive.stores.tasks.protocol import TaskReader
from outlive.stores.tasks.records import Lease, Status, Task
from outlive.tasks.drawing.marks import State, state
from outlive.tasks.queries import find_one
from outlive.tasks.refs import Ref
from outlive.tasks.shape import explored
from outlive.web.excerpt import Excerpt, excerpt, line

MOST_NEIGHBOURS = 200  # in each direction; the count is sent, too
TEXTS = ("description", "result", "metadata")
"""Fields that may be long; their parts are sent on request."""


class Neighbour(msgspec.Struct, frozen=True):
    id: int
    subject: str
    state: State | None
    """None where there is no such task."""


class LeaseView(msgspec.Struct, frozen=True):
    owner: str
    token: int
    claimed: float
    expires: float
    lapsed: bool
    """Whether another may take the task."""
    stale: bool
    """Whether it ran out so long ago that the clock is doubted first."""


class TaskDetail(msgspec.Struct, frozen=True, kw_only=True):
    now: float
    id: int
    subject: str
    state: State
    status: Status
    priority: int
    labels: list[str]
    owner: str
    created: float
    updated: float
    completed: float | None
    archived: float | None
    revision: int
    lease: LeaseView | None
    description: Excerpt
    result: Excerpt
    metadata: Excerpt
    needs: list[Neighbour]
    needs_count: int
    blocks: list[Neighbour]
    blocks_count: int
    makes_ready: list[int]
    """Tasks that would become ready if this one were finished."""
    holds_up: int
    """Open tasks that wait for it, directly or not."""


def detail(tx: TaskReader, ref: Ref) -> TaskDetail:
    task = find_one(tx, ref)
    dependents = tx.dependents([task.id]).get(task.id, ())
    around = tx.get({*task.depends_on[:MOST_NEIGHBOURS], *dependents})
    waiting = [around[number] for number in dependents if number in around and task.id in around[number].blocked_by]
    return TaskDetail(
        now=tx.now.timestamp(),
        id=task.id,
        subject=line(task.subject),
        state=state(task),
        status=task.status,
        priority=task.priority,
        labels=[line(label, 60) for label in task.labels],
        owner=line(task.owner or "", 60),
        created=task.created_at.timestamp(),
        updated=task.updated_at.timestamp(),
        completed=task.completed_at.timestamp() if task.completed_at else None,
        archived=task.archived_at.timestamp() if task.archived_at else None,
        revision=task.revision,
        lease=_lease(task.lease, tx) if task.lease else None,
        **{field: excerpt(text_of(task, field)) for field in TEXTS},
        needs=_neighbours(task.depends_on, around),
        needs_count=len(task.depends_on),
        blocks=_neighbours(dependents, around),
        blocks_count=len(dependents),
        makes_ready=[other.id for other in waiting if other.status == "pending" and other.blocked_by == (task.id,)],
        holds_up=0 if task.finished else _held_up(tx, task),
    )


def text_of(task: Task, field: str) -> str:
    """One of the long fields as text."""
    if field == "metadata":
        form = {**task.metadata, **task.extra}
        return msgspec.json.format(msgspec.json.encode(form), indent=2).decode() if form else ""
    return str(getattr(task, field) or "")


def _lease(lease: Lease, tx: TaskReader) -> LeaseView:
    return LeaseView(
        owner=line(lease.owner, 60),
        token=lease.token,
        claimed=lease.claimed_at.timestamp(),
        expires=lease.expires_at.timestamp(),
        lapsed=lease.lapsed(tx.now),
        stale=lease.stale(tx.now),
    )


def _neighbours(ids: Collection[int], known: Mapping[int, Task]) -> list[Neighbour]:
    return [
        Neighbour(number, line(known[number].subject), state(known[number]))
        if number in known
        else Neighbour(number, "there is no such task", None)
        for number in list(ids)[:MOST_NEIGHBOURS]
    ]


def _held_up(tx: TaskReader, task: Task) -> int:
    found = tx.get(explored([task.id], tx.dependents).keys() - {task.id})
    return sum(not other.finished for other in found.values())
