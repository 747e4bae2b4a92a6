"""The documents of a fleet in a SQL database: one row each."""

import os
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from outlive.stores.fleet.protocol import FleetStore, Work
from outlive.stores.sql.database import Connection, Database
from outlive.stores.sql.migrations import bring_up_to_date

T = TypeVar("T")

_KEY = "kind = :kind AND id = :id"
_READ = f"SELECT form, changes FROM outlive_fleet WHERE {_KEY}"
_UPDATE = f"UPDATE outlive_fleet SET form = :form, changes = :changes WHERE {_KEY}"
_INSERT = """INSERT INTO outlive_fleet (kind, id, form) VALUES (:kind, :id, :form)
    ON CONFLICT (kind, id) DO NOTHING RETURNING id"""
_CHANGE_BYTES, _CHANGES = 4, 8
"""A row names its newest changes: where the answer to a commit is lost, they tell whether it took effect, also after
a restart of the server or on another one that has replaced it. More do not happen until somebody has asked."""


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
        rows = self._read(lambda c: c.rows(_READ, kind=kind, id=id))
        return bytes(rows[0][0]) if rows else None

    def all(self, kind: str) -> dict[str, bytes]:
        rows = self._read(lambda c: c.rows("SELECT id, form FROM outlive_fleet WHERE kind = :kind", kind=kind))
        return {id: bytes(form) for id, form in sorted(rows)}

    def change(self, kind: str, id: str, work: Work, *, announce: bool = False) -> bytes | None:
        bring_up_to_date(self.database)
        name = ""
        removed = False

        def attempt(connection: Connection) -> bytes | None:
            nonlocal name, removed
            old, changes = _held(connection, kind, id)
            new = work(old, self._now(connection))
            name, removed = os.urandom(_CHANGE_BYTES).hex(), new is None
            if removed:
                connection.run(f"DELETE FROM outlive_fleet WHERE {_KEY}", kind=kind, id=id)
            else:
                changes = " ".join([name, *changes.split()][:_CHANGES])
                connection.run(_UPDATE, kind=kind, id=id, form=new, changes=changes)
            if announce:
                self.database.announce(connection)
            return new

        def landed(connection: Connection) -> bool:
            rows = connection.rows(_READ, kind=kind, id=id)
            return name in rows[0][1].split() if rows else removed

        return self.database.write(attempt, landed=landed)

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


def _held(connection: Connection, kind: str, id: str) -> tuple[bytes | None, str]:
    """Lock the row and return its form and changes; None if this transaction made the row.

    An absent row cannot be locked, so it is made: others that make it wait until this transaction ends.
    """
    while True:
        if rows := connection.rows(f"{_READ} FOR UPDATE", kind=kind, id=id):
            return bytes(rows[0][0]), rows[0][1]
        if connection.rows(_INSERT, kind=kind, id=id, form=b""):
            return None, ""
