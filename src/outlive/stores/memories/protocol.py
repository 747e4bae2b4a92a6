"""What an engine must offer to hold memories: transactions on records by slug, and a log of every step.

An engine knows no rules: what may be written, what is selected and what follows from forgetting is decided above it.
It promises that a transaction happens as a whole or not at all, that what was acknowledged is kept, that writers take
turns, and that what cannot be read is named and left out while the rest is used.
`outlive.testing.MemoryStoreConformance` is the executable form of this page.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, TypeVar

from outlive.errors import FutureVersion, StoreError
from outlive.stores.memories.records import Memory, MemoryStep
from outlive.stores.tasks.protocol import Problem

T = TypeVar("T")

REPAIR = "repair_memories"
"""The code of what a repair of the store sets right."""


def unread(where: str, error: StoreError) -> Problem:
    """The report about an unreadable record. A record of a newer outlive is not damaged: it stays."""
    if isinstance(error, FutureVersion):
        return Problem(where, str(error), "upgrade outlive, which reads it; a repair leaves it in place")
    return Problem(where, str(error), "repair it, which sets it apart", repairable=True, code=REPAIR)


class MemoryReader(Protocol):
    """A consistent snapshot."""

    def get(self, slug: str) -> Memory | None:
        """The memory with that slug, forgotten ones included."""

    def all(self, *, archived: bool = False) -> list[Memory]:
        """All readable memories, by slug; forgotten ones only if asked for."""

    def steps(self) -> list[MemoryStep]:
        """The change log, oldest first."""

    def changed(self, since: int = -1) -> tuple[int, Mapping[str, Memory | None]]:
        """The revision of this snapshot, and what changed since an earlier revision of this store object: by slug,
        forgotten ones too, None for removed ones; everything for -1. In a transaction, the state before it. Consume
        it at once."""


class MemoryWriter(MemoryReader, Protocol):
    """A transaction. It reads its own writes."""

    @property
    def now(self) -> datetime: ...

    def new_slug(self, name: str) -> str:
        """A slug that no memory, forgotten memory or damaged file in the store has."""

    def put(self, memory: Memory) -> None:
        """Write a whole memory, replacing the one with its slug; `archived` decides where it goes. `revision` is kept
        as given."""

    def remove(self, slug: str) -> None:
        """Remove a memory completely. The change log still has it."""

    def record(self, op: str, *, actor: str = "", note: str = "", undoes: int = 0, **data: Any) -> MemoryStep:
        """Add one step to the change log for everything put and removed since the last one."""


class MemoryStore(Protocol):
    """The interface of a store of memories. Several processes may have it open at once."""

    @property
    def url(self) -> str: ...

    def read(self, work: Callable[[MemoryReader], T], *, glance: bool = False) -> T:
        """Run `work` on a snapshot, one at a time in this process.

        With `glance`, the commits of every process are seen and `get` is exact; edits outside of the engines (a file
        in an editor) may be missed elsewhere.
        """

    def write(self, work: Callable[[MemoryWriter], T]) -> T:
        """Run `work` as the only writer and commit once. It may run again after a conflict; if it raises, nothing has
        changed. It sees what a glance sees."""

    def publish(self, render: Callable[[MemoryReader], str], *, glance: bool = False) -> bool:
        """Store the index that `render` makes, if the engine has a place for it. Returns True if it was out of
        date."""

    def exclusive(self, purpose: str) -> AbstractContextManager[bool]:
        """Hold a named lock across processes without waiting; False if another process holds it. Released when its
        process dies."""

    def left_out(self) -> list[Problem]:
        """What the last read could not understand, with its place."""

    def check(self) -> list[Problem]:
        """All problems of the stored data."""

    def repair(self) -> list[str]:
        """Quarantine damaged records. Nothing is deleted; returns what was done."""

    def set_apart(self, slug: str) -> str:
        """Quarantine one record, readable or not; returns its new place."""

    def adopt(self) -> None:
        """Record that the user trusts everything in the store, wherever it came from."""

    def disown(self) -> bool:
        """Withdraw that; False if there was nothing to withdraw."""

    def close(self) -> None: ...
