"""The documents of a fleet in a SQL database: one row each."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from outlive.stores.fleet.protocol import FleetStore, Work
from outlive.stores.sql.database import Connection, Database
from outlive.stores.sql.migrations import bring_up_to_date

T = TypeVar("T")

_KEY = "kind = :kind AND id = :id"
_HELD = f"SELECT form FROM outlive_fleet WHERE {_KEY} FOR UPDATE"
_INSERT = """INSERT INTO outlive_fleet (kind, id, form) VALUES (:kind, :id, :form)
    ON CONFLICT (kind, id) DO NOTHING RETURNING id"""


class SQLFleetStore(FleetStore):
    """See the module. `clock` replaces the clock of the database, for tests."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime] | None = None) -> None:
        self.database = database
        self.clock = clock

    @property
    def url(self) -> str:
        return self.database.url

    def now(self) -> datetime:
        return self._read(self._now)

    def get(self, kind: str, id: str) -> bytes | None:
        found = self._read(lambda c: c.first(f"SELECT form FROM outlive_fleet WHERE {_KEY}", kind=kind, id=id))
        return None if found is None else bytes(found)

    def all(self, kind: str) -> dict[str, bytes]:
        rows = self._read(lambda c: c.rows("SELECT id, form FROM outlive_fleet WHERE kind = :kind", kind=kind))
        return {id: bytes(form) for id, form in sorted(rows)}

    def change(self, kind: str, id: str, work: Work, *, announce: bool = False) -> bytes | None:
        bring_up_to_date(self.database)
        transaction = ""

        def attempt(connection: Connection) -> bytes | None:
            nonlocal transaction
            old = _held(connection, kind, id)
            new = work(old, self._now(connection))
            if new is None:
                connection.run(f"DELETE FROM outlive_fleet WHERE {_KEY}", kind=kind, id=id)
            else:
                connection.run(f"UPDATE outlive_fleet SET form = :form WHERE {_KEY}", kind=kind, id=id, form=new)
            if announce:
                self.database.announce(connection)
            transaction = self.database.transaction(connection)
            return new

        return self.database.write(attempt, landed=lambda c: self.database.committed(c, transaction))

    def close(self) -> None:
        self.database.close()

    def _now(self, connection: Connection) -> datetime:
        return self.clock() if self.clock else self.database.now(connection)

    def _read(self, work: Callable[[Connection], T]) -> T:
        blank = self.database.blank()
        if blank is None:
            bring_up_to_date(self.database)
            return self.database.read(work)
        try:
            bring_up_to_date(blank)
            return blank.read(work)
        finally:
            blank.close()


def _held(connection: Connection, kind: str, id: str) -> bytes | None:
    """Lock the row and return its form; None if this transaction made the row.

    An absent row cannot be locked, so it is made: others that make it wait until this transaction ends.
    """
    while True:
        if rows := connection.rows(_HELD, kind=kind, id=id):
            return bytes(rows[0][0])
        if connection.rows(_INSERT, kind=kind, id=id, form=b""):
            return None
