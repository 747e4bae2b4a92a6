"""What an engine must offer to hold the task graph. The rules of the graph are not here: see `outlive.tasks`.

An engine stores tasks and answers questions about them; it keeps `blocked_by`, `blocks` and readiness in
step with `depends_on` and `status` by itself. `outlive.testing.TaskStoreConformance` is the executable form
of this page.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Literal, Protocol, TypeVar

import msgspec

from outlive.stores.tasks.records import Change, Status, Task

T = TypeVar("T")

SortKey = Literal["priority", "id", "created", "updated", "status"]


class TaskQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which tasks to list, and in which order. Conditions are joined by "and"."""

    statuses: frozenset[Status] | None = None
    owner: str | None = None
    labels: tuple[str, ...] = ()
    """Every one of these must be on the task."""
    blocked: bool | None = None
    """True: open tasks with unfinished dependencies. False: tasks without any."""
    text: str | None = None
    """Text that subject or description contains, ignoring case."""
    archived: bool = False
    """Look among archived tasks as well."""
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
    """The task carries all of these."""
    capabilities: tuple[str, ...] | None = None
    """The task carries no label beside these; None means any task suits."""

    def suits(self, labels: Collection[str]) -> bool:
        return set(self.labels) <= set(labels) and (
            self.capabilities is None or set(labels) <= set(self.capabilities)
        )


ANY = Fit()


class Problem(msgspec.Struct, frozen=True):
    """Something the store found wrong with itself."""

    where: str
    """The file, table or row."""
    what: str
    remedy: str
    repairable: bool = False
    """`repair` takes care of it."""
    harmless: bool = False
    """Worth saying, but nothing is lost or hidden."""
    lost: bool = False
    """The audit trail knows the task, and nothing is left of it."""
    task: int | None = None


class TaskReader(Protocol):
    """One consistent look at the graph."""

    @property
    def now(self) -> datetime:
        """The store's clock, the only one that leases are measured with."""

    def get(self, ids: Collection[int]) -> dict[int, Task]:
        """The tasks that exist, archived ones included. Raises DamagedRecord for one that cannot be read."""

    def find(self, query: TaskQuery) -> list[Task]: ...

    def count(self, query: TaskQuery) -> int:
        """How many there are, whatever the limit of the query."""

    def ready(self, fit: Fit = ANY, limit: int | None = None) -> list[Task]:
        """Pending tasks without unfinished dependencies: most urgent first, then oldest."""

    def expired(self) -> list[int]:
        """Tasks in progress whose lease has run out."""

    def next_expiry(self) -> datetime | None:
        """When the next lease runs out."""

    def depends_on(self, ids: Collection[int]) -> dict[int, tuple[int, ...]]: ...

    def dependents(self, ids: Collection[int], *, archived: bool = False) -> dict[int, tuple[int, ...]]:
        """Who depends on these. Archived tasks are left out, as in `Task.blocks`, unless asked for."""

    def history(self, task: int | None = None) -> list[Change]:
        """The audit trail of one task, or of all, oldest first."""

    def high_water(self) -> int:
        """The largest id ever given out."""


class TaskWriter(TaskReader, Protocol):
    """One change of the graph, which happens whole or not at all."""

    def lock(self, ids: Collection[int], *, edges: bool = False) -> dict[int, Task]:
        """Like `get`, and nobody else changes these tasks before this change is done.

        `edges=True` also keeps every other writer from adding dependencies: needed to rule out cycles.
        """

    def pick(self, fit: Fit = ANY) -> Task | None:
        """The first ready task that no other writer is just taking, locked."""

    def new_ids(self, count: int) -> Sequence[int]:
        """Ids that were never given out before, and never will be again."""

    def reserve(self, high_water: int) -> None:
        """From now on `new_ids` starts above this."""

    def put(self, task: Task, change: Change) -> None:
        """Create or replace. `blocked_by` and `blocks` of the argument are ignored."""

    def remove(self, task: int, change: Change) -> None: ...

    def record(self, changes: Sequence[Change]) -> None:
        """Take over an audit trail from elsewhere."""


class Watch(Protocol):
    """Notices changes made after it was opened."""

    def wait(self, timeout: float) -> bool:
        """Sleep until something may have changed (True) or the time is over (False)."""


class TaskStore(Protocol):
    """An engine. Safe to use from several threads; several processes may have it open at once."""

    @property
    def url(self) -> str: ...

    def read(self, work: Callable[[TaskReader], T]) -> T: ...

    def write(self, work: Callable[[TaskWriter], T]) -> T:
        """Run `work` and commit what it did, once. If it raises, nothing happened. It may be run again after a
        conflict or a lost connection, so it must not have side effects of its own."""

    def watch(self) -> AbstractContextManager[Watch]: ...

    def left_out(self) -> list[str]:
        """Records that the last look could not understand, each with its place and the reason. Costs nothing."""

    def check(self) -> list[Problem]:
        """Look at every record and every derived value."""

    def repair(self) -> list[str]:
        """Mend what `check` calls repairable, never by deleting; says what was done."""

    def close(self) -> None: ...
