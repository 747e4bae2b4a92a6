"""The interface of an engine that stores the task graph. The rules of the graph are in `outlive.tasks`.

An engine stores tasks and answers questions about them; it derives `blocked_by`, `blocks` and readiness from
`depends_on` and `status`. `outlive.testing.TaskStoreConformance` is the executable form of this page.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Literal, Protocol, TypeVar

import msgspec

from outlive.stores.tasks.records import Status, Task, TaskChange

T = TypeVar("T")

SortKey = Literal["priority", "id", "created", "updated", "status"]


class TaskQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which tasks to list, and in which order. Conditions are joined by "and"."""

    statuses: frozenset[Status] | None = None
    owner: str | None = None
    labels: tuple[str, ...] = ()
    """The task has all of these."""
    blocked: bool | None = None
    """True: open tasks with unfinished dependencies. False: tasks without any."""
    text: str | None = None
    """Text that subject or description contains, ignoring case."""
    archived: bool = False
    """Include archived tasks."""
    sort: SortKey = "priority"
    descending: bool = False
    limit: int | None = None

    def matches(self, task: Task) -> bool:
        return (
            (self.statuses is None or task.status in self.statuses)
            and (self.owner is None or task.owner == self.owner)
            and set(self.labels) <= set(task.labels)
            and (self.blocked is None or self.blocked == (bool(task.blocked_by) and not task.finished))
            and (self.archived or task.archived_at is None)
            and self.mentioned(task.subject, task.description)
        )

    def mentioned(self, subject: str, description: str) -> bool:
        return self.text is None or self.text.casefold() in f"{subject}\n{description}".casefold()


class Fit(msgspec.Struct, frozen=True):
    """Which ready tasks suit a worker."""

    labels: tuple[str, ...] = ()
    """The task has all of these."""
    capabilities: tuple[str, ...] | None = None
    """The task has only labels among these; None means any task fits."""
    without: tuple[str, ...] = ()
    """The task has none of these labels."""

    def suits(self, labels: Collection[str]) -> bool:
        return (
            set(self.labels) <= set(labels)
            and (self.capabilities is None or set(labels) <= set(self.capabilities))
            and set(self.without).isdisjoint(labels)
        )


ANY_TASK = Fit()


class Problem(msgspec.Struct, frozen=True):
    """A problem that the store found in itself."""

    where: str
    """The file, table or row."""
    what: str
    remedy: str
    """The way out, without commands; a face adds those for the code."""
    repairable: bool = False
    """`repair` fixes it."""
    harmless: bool = False
    """Worth reporting, but nothing is lost or hidden."""
    lost: bool = False
    """The audit trail mentions the task, but it is missing."""
    task: int | None = None
    code: str = ""
    data: dict[str, str | int | tuple[int, ...]] = {}


class TaskReader(Protocol):
    """A consistent snapshot of the graph."""

    @property
    def now(self) -> datetime:
        """The store's clock, the only one used for leases."""

    def get(self, ids: Collection[int]) -> dict[int, Task]:
        """The tasks that exist, archived ones included. Raises DamagedRecord for one that cannot be read."""

    def find(self, query: TaskQuery) -> list[Task]: ...

    def count(self, query: TaskQuery) -> int:
        """The number of matches, ignoring the limit of the query."""

    def ready(self, fit: Fit = ANY_TASK, limit: int | None = None) -> list[Task]:
        """Pending tasks without unfinished dependencies: most urgent first, then oldest."""

    def expired(self) -> list[int]:
        """Tasks in progress with an expired lease."""

    def next_expiry(self) -> datetime | None:
        """When the next lease expires."""

    def depends_on(self, ids: Collection[int]) -> dict[int, tuple[int, ...]]: ...

    def dependents(self, ids: Collection[int], *, archived: bool = False) -> dict[int, tuple[int, ...]]:
        """Tasks that depend on these. Archived tasks are left out, as in `Task.blocks`, unless asked for."""

    def history(self, task: int | None = None) -> list[TaskChange]:
        """The audit trail of one task, or of all, oldest first."""

    def high_water(self) -> int:
        """The largest id ever given out."""


class TaskWriter(TaskReader, Protocol):
    """An atomic change of the graph."""

    def lock(self, ids: Collection[int], *, edges: bool = False) -> dict[int, Task]:
        """Like `get`, and no one else changes these tasks before this change is done.

        `edges=True` also keeps other writers from adding dependencies: needed to rule out cycles.
        """

    def pick(self, fit: Fit = ANY_TASK) -> Task | None:
        """Lock and return the first ready task that no other writer is taking."""

    def new_ids(self, count: int) -> Sequence[int]:
        """Ids that were never given out before and never will be again."""

    def reserve(self, high_water: int) -> None:
        """Make `new_ids` start above this from now on."""

    def put(self, task: Task, change: TaskChange) -> None:
        """Create or replace. `blocked_by` and `blocks` of the argument are ignored."""

    def remove(self, task: int, change: TaskChange) -> None: ...

    def record(self, changes: Sequence[TaskChange]) -> None:
        """Import an audit trail."""


class Watch(Protocol):
    """Notices changes made after it was opened."""

    def wait(self, timeout: float) -> bool:
        """Wait until something may have changed (True) or the timeout is over (False)."""


class TaskStore(Protocol):
    """The interface of a task store. Safe to use from several threads; several processes may have it open at once."""

    @property
    def url(self) -> str: ...

    def read(self, work: Callable[[TaskReader], T]) -> T: ...

    def write(self, work: Callable[[TaskWriter], T]) -> T:
        """Run `work` and commit once. If it raises, nothing happened.

        It may run again after a conflict or a lost connection, so it must have no side effects of its own.
        """

    def watch(self) -> AbstractContextManager[Watch]: ...

    def left_out(self) -> list[str]:
        """Records that the last read could not understand, with place and reason. Costs nothing."""

    def check(self) -> list[Problem]:
        """Check every record and every derived value."""

    def repair(self) -> list[str]:
        """Repair what `check` calls repairable, never by deleting; returns what was done."""

    def close(self) -> None: ...
