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


def unread(where: str, error: StoreError) -> Problem:
    """What is to be said of a record that cannot be read. What a newer outlive wrote is not broken: it stays."""
    if isinstance(error, FutureVersion):
        return Problem(where, str(error), "upgrade outlive, which reads it; --repair leaves it where it is")
    return Problem(where, str(error), "outlive memory doctor --repair sets it apart", repairable=True)


class MemoryReader(Protocol):
    """One consistent look."""

    def get(self, slug: str) -> Memory | None:
        """The memory of that slug, a forgotten one too."""

    def all(self, *, archived: bool = False) -> list[Memory]:
        """All that can be read, by slug; forgotten ones only when asked for."""

    def steps(self) -> list[MemoryStep]:
        """The change log, oldest first."""

    def changed(self, since: int = -1) -> tuple[int, Mapping[str, Memory | None]]:
        """The moment of this look, and what is other than at the moment of an earlier one of this store object: by
        slug, forgotten ones too, None for what is gone; everything for -1. In a transaction, as it was before it.
        To be read at once."""


class MemoryWriter(MemoryReader, Protocol):
    """A transaction. What it has written, it reads."""

    @property
    def now(self) -> datetime: ...

    def new_slug(self, name: str) -> str:
        """A slug that nothing in the store has or had at hand: not a memory, a forgotten one, or a damaged file."""

    def put(self, memory: Memory) -> None:
        """Write it whole, over what has that slug; `archived` says where it goes. `revision` is kept as given."""

    def remove(self, slug: str) -> None:
        """Take it out altogether. The log still has what it was."""

    def record(self, op: str, *, actor: str = "", note: str = "", undoes: int = 0, **data: Any) -> MemoryStep:
        """One entry of the log for all that was put and removed since the last one."""


class MemoryStore(Protocol):
    """An engine. Several processes may have it open at once."""

    @property
    def url(self) -> str: ...

    def read(self, work: Callable[[MemoryReader], T], *, glance: bool = False) -> T:
        """Run `work`, one at a time in this process. At a glance, what every process has committed is seen and `get`
        is exact; what was changed past all engines (a file in an editor) may be overlooked elsewhere."""

    def write(self, work: Callable[[MemoryWriter], T]) -> T:
        """Run `work` while no other writer is at it, and commit once. It may be run again after a conflict; when it
        raises, nothing has changed. It sees what a glance sees."""

    def publish(self, render: Callable[[MemoryReader], str], *, glance: bool = False) -> bool:
        """Keep the index that `render` makes, where the engine has a place for it. True when it was out of date."""

    def exclusive(self, purpose: str) -> AbstractContextManager[bool]:
        """Hold a lock of that name across processes without waiting; False when another holds it. It goes with the
        process that holds it."""

    def left_out(self) -> list[Problem]:
        """What the last look could not read, each with its place."""

    def check(self) -> list[Problem]:
        """All that is wrong with what is stored."""

    def repair(self) -> list[str]:
        """Set damaged records apart. Nothing is deleted; returns what was done."""

    def set_apart(self, slug: str) -> str:
        """Move one record out of use, readable or not, and say where it went."""

    def adopt(self) -> None:
        """The user vouches for all that is in it, also where it came from elsewhere."""

    def disown(self) -> bool:
        """Take that back; False where there is nothing to take back."""

    def close(self) -> None: ...
