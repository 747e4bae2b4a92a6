"""What an engine must offer to hold the documents of a fleet: read them, and change one at a time.

A document is a few bytes under a kind and an id. `change` is the only way to write one: an atomic read-modify-write
on the time of the database. `outlive.testing.FleetStoreConformance` is the executable form of this page.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol, TypeAlias

Work: TypeAlias = Callable[[bytes | None, datetime], bytes | None]
"""From the present form (None: absent) and the store's time to the new form (None: remove it)."""


class FleetStore(Protocol):
    """The interface of a fleet store. Safe to use from several threads and processes at once."""

    @property
    def url(self) -> str: ...

    def now(self) -> datetime:
        """The store's clock, shared by all machines."""

    def get(self, kind: str, id: str) -> bytes | None:
        """One document; None if it is absent."""

    def all(self, kind: str) -> dict[str, bytes]:
        """All documents of a kind by id, in the order of their ids."""

    def change(self, kind: str, id: str, work: Work, *, announce: bool = False) -> bytes | None:
        """Replace one document by what `work` makes of it, and return that. If `work` raises, nothing happened.

        Changes of one document happen one after the other, also while it is absent. `work` may run again after a
        conflict or a lost connection, so it must have no side effects of its own. `announce` wakes those who watch
        the tasks of the same store.
        """

    def close(self) -> None: ...
