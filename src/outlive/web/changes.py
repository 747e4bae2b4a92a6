"""What changed in the stores of a workspace, also by other processes. One thread looks for all readers."""

import threading
import time
from collections.abc import Callable

import msgspec

from outlive.errors import StoreError
from outlive.stores.logs.protocol import LogStore
from outlive.stores.memories.protocol import MemoryReader
from outlive.stores.tasks.protocol import TaskQuery, TaskReader
from outlive.web.workspaces import ServedWorkspace
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.records import WorkerRecord

LOOK_SECONDS = 0.3
"""Between two looks at logs and memories."""
TASKS_SECONDS = 2.0
"""Between two looks at tasks, unless their store tells of a change."""
MOST_WRITERS = 200
"""Newest sessions that are asked at the start whether a process has them open."""


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """A store that changed: `tasks`, `sessions`, `memories` or `fleet` (its workers)."""

    what: str
    sessions: tuple[str, ...] = ()
    """The sessions that changed."""


BEGUN = Change("")
"""The first message: from now on changes are seen."""


def watch(workspace: ServedWorkspace, stop: threading.Event, send: Callable[[Change], None]) -> None:
    """Report changes until `stop` is set. The task store wakes us; regular looks find what it did not report."""
    stores = workspace.stores
    sessions = SessionWatch(stores.logs)
    looks: dict[str, Callable[[], object]] = {
        "memories": lambda: [store.read(_moment) for store in (stores.memories, stores.user_memories)],
        "tasks": lambda: stores.tasks.read(_newest),
        "fleet": lambda: _workers(FleetBoard(stores.fleet)),
    }
    seen = {what: look() for what, look in looks.items()}
    send(BEGUN)
    looked_at = time.monotonic()
    with stores.tasks.watch() as woken_by_tasks:
        while not stop.is_set():
            woken = woken_by_tasks.wait(LOOK_SECONDS)
            if changed := sessions.changed():
                send(Change("sessions", tuple(sorted(changed))))
            tasks_too = woken or time.monotonic() - looked_at > TASKS_SECONDS
            for what in looks if tasks_too else ("memories",):
                now = looks[what]()
                if now != seen[what]:
                    seen[what] = now
                    send(Change(what))
            looked_at = time.monotonic() if tasks_too else looked_at


def _workers(board: FleetBoard) -> object:
    """The workers without their signs of life, of which there are many."""
    now = board.now()
    return {name: (each.expires > now, each.drain_by, each.slots) for name, each in board.all(WorkerRecord).items()}


class SessionWatch:
    """Finds the sessions that went on, began, or gained or lost their writer, as when its process was killed."""

    def __init__(self, store: LogStore) -> None:
        self._store = store
        self._seen = store.state()
        self._open = {info.id for info in store.sessions()[:MOST_WRITERS] if self._has_writer(info.id)}
        """Sessions that a process has open."""

    def changed(self) -> set[str]:
        """The sessions that changed since the last call."""
        state, before = self._store.state(), self._seen
        self._seen = state
        changed = {one for one in {*state, *before} if state.get(one) != before.get(one)}
        now_open = {one for one in changed | self._open if one in state and self._has_writer(one)}
        changed |= self._open ^ now_open
        self._open = now_open
        return changed

    def _has_writer(self, session: str) -> bool:
        try:
            return self._store.has_writer(session)
        except StoreError:  # it is gone, or its file is not a session
            return False


def _moment(tx: MemoryReader) -> int:
    return tx.changed()[0]


def _newest(tx: TaskReader) -> object:
    """Differs after any change of the graph, and when a lease runs out."""
    newest = tx.find(TaskQuery(archived=True, sort="updated", descending=True, limit=1))
    return [(task.id, task.revision) for task in newest], tx.count(TaskQuery(archived=True)), tx.expired()
