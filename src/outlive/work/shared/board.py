"""Reads and changes the documents of a fleet."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from outlive.errors import DamagedRecord, LeaseError
from outlive.stores.fleet.protocol import FleetStore
from outlive.stores.tasks.records import Task
from outlive.work.shared.records import MAX_ENDINGS, Ending, FleetDocument, TaskRun

D = TypeVar("D", bound=FleetDocument)
MAX_ENDING_CHARS = 2_000  # a run keeps several, in one document of the store
ACTIVE = ("working", "checking", "landing")
"""Phases in which a worker is at it."""


class FleetBoard:
    """The documents of one store. Its methods may be called from any thread."""

    def __init__(self, store: FleetStore) -> None:
        self.store = store

    def now(self) -> datetime:
        """The store's clock, the only one that decides."""
        return self.store.now()

    def get(self, kind: type[D], id: str) -> D | None:
        return self._decoded(kind, id, self.store.get(kind.kind, id))

    def all(self, kind: type[D]) -> dict[str, D]:
        found = {id: self._decoded(kind, id, raw) for id, raw in self.store.all(kind.kind).items()}
        return {id: document for id, document in found.items() if document is not None}

    def change(
        self, kind: type[D], id: str, work: Callable[[D | None, datetime], D | None], *, announce: bool = False
    ) -> D | None:
        """Replace one document by what `work` makes of it; see `FleetStore.change`."""

        def changed(raw: bytes | None, now: datetime) -> bytes | None:
            new = work(self._decoded(kind, id, raw), now)
            return None if new is None else msgspec.json.encode(new)

        return self._decoded(kind, id, self.store.change(kind.kind, id, changed, announce=announce))

    def _decoded(self, kind: type[D], id: str, raw: bytes | None) -> D | None:
        try:
            return None if raw is None else msgspec.json.decode(raw, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DamagedRecord(f"{self.store.url}: the {kind.kind} {id!r} of the fleet: {error}") from None

    # -- the work on a task

    def run(self, task: int) -> TaskRun:
        """The work on a task; a new record if nobody has worked on it."""
        return self.get(TaskRun, str(task)) or TaskRun()

    def begin(self, task: Task, *, worker: str, machine: str) -> tuple[TaskRun, TaskRun]:
        """Begin an attempt at a task whose lease we hold; returns the record before and after it.

        An attempt that never ended has died.
        """
        assert task.lease is not None  # noqa: S101 - it was claimed just now
        token, earlier = task.lease.token, TaskRun()

        def work(old: TaskRun | None, now: datetime) -> TaskRun:
            nonlocal earlier
            earlier = old or TaskRun()
            _refuse_stale(task.id, earlier, token)
            died = earlier.phase in ACTIVE
            ending = Ending(now, earlier.worker, "expired", "it died, or lost its connection")
            return replace(
                earlier,
                worker=worker,
                machine=machine,
                token=token,
                phase="working",
                started=now,
                attempts=earlier.attempts + 1,
                died=earlier.died + died,
                endings=(*earlier.endings, *([ending] if died else ()))[-MAX_ENDINGS:],
                activity="",
            )

        new = self.change(TaskRun, str(task.id), work)
        assert new is not None  # noqa: S101 - `work` returns one
        return earlier, new

    def update(self, task: int, token: int, **fields: Any) -> TaskRun:
        """Change the record of a task as the holder of its lease. Raises LeaseError if another attempt has begun."""

        def work(old: TaskRun | None, now: datetime) -> TaskRun:
            run = old or TaskRun()
            _refuse_stale(task, run, token)
            return replace(run, **fields)

        new = self.change(TaskRun, str(task), work)
        assert new is not None  # noqa: S101 - `work` returns one
        return new

    def end(self, task: int, token: int, why: str, text: str = "", *, counts: bool = True, **fields: Any) -> TaskRun:
        """End an attempt that did not complete its task; one that does not count is no step towards giving up."""

        def work(old: TaskRun | None, now: datetime) -> TaskRun:
            run = old or TaskRun()
            _refuse_stale(task, run, token)
            ending = Ending(now, run.worker, why, text[:MAX_ENDING_CHARS])
            changed = {"phase": "", "failed": run.failed + counts, "endings": (*run.endings, ending)[-MAX_ENDINGS:]}
            return replace(run, **(changed | fields))

        new = self.change(TaskRun, str(task), work, announce=True)
        assert new is not None  # noqa: S101 - `work` returns one
        return new


def _refuse_stale(task: int, run: TaskRun, token: int) -> None:
    if run.token > token:
        raise LeaseError(f"task {task}: {run.worker} works on it now; this attempt has lost its lease")
