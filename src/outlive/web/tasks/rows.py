"""Tasks in a row each: pages of the table, and the columns of the board."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

import msgspec

from outlive.stores.tasks.protocol import SortKey, TaskQuery, TaskReader, TaskStore
from outlive.stores.tasks.records import FINISHED, Status, Task
from outlive.tasks.drawing.marks import STATES, State, state
from outlive.web.excerpt import line

MOST_CHOICES = 100
"""Labels and owners that a filter offers."""
MOST_LEFT_OUT = 20  # damaged files; `outlive task doctor` names all
COLUMNS: tuple[str, ...] = ("ready", "in_progress", "blocked", "done")


STATUSES_OF: dict[str, frozenset[Status]] = {
    "open": frozenset({"pending", "in_progress"}),
    "ready": frozenset({"pending"}),
    "blocked": frozenset({"pending"}),
    "in_progress": frozenset({"in_progress"}),
    "completed": frozenset({"completed"}),
    "cancelled": frozenset({"cancelled"}),
    "done": FINISHED,
}


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """What the table is asked for, as the query of an address says it."""

    state: str = ""
    """A state, `open`, `done`, or empty for all."""
    label: str = ""
    owner: str = ""
    text: str = ""
    archived: bool = False

    def query(self, sort: SortKey = "priority", *, descending: bool = False) -> TaskQuery:
        return TaskQuery(
            statuses=STATUSES_OF.get(self.state),
            blocked={"ready": False, "blocked": True}.get(self.state),
            labels=(self.label,) if self.label else (),
            owner=self.owner or None,
            text=self.text or None,
            archived=self.archived,
            sort=sort,
            descending=descending,
        )


class TaskRow(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    subject: str
    state: State
    priority: int
    labels: list[str]
    owner: str
    expires: float | None
    """When its lease runs out."""
    created: float
    updated: float
    waits_for: list[int]
    """Unfinished dependencies; the first few."""
    blocks: int
    archived: bool


class Facets(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to filter by, each with the number of tasks."""

    states: dict[str, int]
    labels: dict[str, int]
    owners: dict[str, int]


class TaskPage(msgspec.Struct, frozen=True, kw_only=True):
    now: float
    total: int
    tasks: list[TaskRow]
    facets: Facets
    left_out: list[str]


class Column(msgspec.Struct, frozen=True, kw_only=True):
    total: int
    tasks: list[TaskRow]


class Board(msgspec.Struct, frozen=True, kw_only=True):
    now: float
    columns: dict[str, Column]
    facets: Facets
    left_out: list[str]


def row_of(task: Task) -> TaskRow:
    return TaskRow(
        id=task.id,
        subject=line(task.subject),
        state=state(task),
        priority=task.priority,
        labels=[line(label, 60) for label in task.labels[:20]],
        owner=line(task.owner or "", 60),
        expires=task.lease.expires_at.timestamp() if task.lease else None,
        created=task.created_at.timestamp(),
        updated=task.updated_at.timestamp(),
        waits_for=[] if task.finished else list(task.blocked_by[:5]),
        blocks=len(task.blocks),
        archived=task.archived_at is not None,
    )


def page(store: TaskStore, query: TaskQuery, skip: int, limit: int) -> TaskPage:
    """Tasks that match, in the order of the query, and what else could be asked for."""
    now, everything = store.read(lambda tx: _everything(tx, query))
    found = [task for task in everything if query.matches(task)]
    return TaskPage(
        now=now.timestamp(),
        total=len(found),
        tasks=[row_of(task) for task in found[skip : skip + limit]],
        facets=_facets(everything),
        left_out=_left_out(store),
    )


def board(store: TaskStore, query: TaskQuery, limit: int) -> Board:
    """The first tasks of each column: the most urgent of the open ones, the last finished ones."""
    now, everything = store.read(lambda tx: _everything(tx, query))
    columns: dict[str, list[Task]] = {name: [] for name in COLUMNS}
    for task in everything:
        if query.matches(task):
            columns["done" if task.finished else state(task)].append(task)
    columns["done"].sort(key=lambda task: task.completed_at or task.updated_at, reverse=True)
    return Board(
        now=now.timestamp(),
        columns={
            name: Column(total=len(found), tasks=[row_of(task) for task in found[:limit]])
            for name, found in columns.items()
        },
        facets=_facets(everything),
        left_out=_left_out(store),
    )


def _left_out(store: TaskStore) -> list[str]:
    return [line(text) for text in store.left_out()[:MOST_LEFT_OUT]]


def _everything(tx: TaskReader, query: TaskQuery) -> tuple[datetime, list[Task]]:
    order = TaskQuery(archived=query.archived, sort=query.sort, descending=query.descending)
    return tx.now, tx.find(order)


def _facets(tasks: Iterable[Task]) -> Facets:
    states: Counter[str] = Counter(dict.fromkeys(STATES, 0))
    labels: Counter[str] = Counter()
    owners: Counter[str] = Counter()
    for task in tasks:
        states[state(task)] += 1
        labels.update(task.labels)
        if task.owner:
            owners[task.owner] += 1
    return Facets(
        states=dict(states),
        labels={line(name, 60): count for name, count in labels.most_common(MOST_CHOICES)},
        owners={line(name, 60): count for name, count in owners.most_common(MOST_CHOICES)},
    )
