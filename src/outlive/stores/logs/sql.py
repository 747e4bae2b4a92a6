"""Session logs in a SQL database: an event is a row, a large text is a row of its own.

The row of a session names its writer, and only that one can append. A writer whose process is gone makes way for the
next, so no lock has to be broken after a crash.
"""

import hashlib
import os
import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from outlive.errors import StoreError
from outlive.events import Event
from outlive.stores.logs.blobs import verified
from outlive.stores.logs.lines import decoded, from_lines, refuse_too_large, session_info, to_lines
from outlive.stores.logs.names import file_name
from outlive.stores.logs.protocol import (
    Log,
    LogWriter,
    SessionBusy,
    SessionExists,
    SessionInfo,
    UnknownSession,
)
from outlive.stores.sql.database import Connection, Database, repeat
from outlive.stores.sql.migrations import bring_up_to_date

T = TypeVar("T")

SILENT_SECONDS = 900.0
"""A writer on another machine that was not heard of for so long is taken for gone."""
_HEAD = 40
"""Events that are read to tell what a session is about."""
_BEGIN = "INSERT INTO outlive_sessions (id, writer, heard) VALUES (:id, :writer, :now)"
_HOLD = "UPDATE outlive_sessions SET writer = :writer, heard = :now WHERE id = :id"
_FREE = "UPDATE outlive_sessions SET writer = '' WHERE id = :id AND writer = :writer"
_KEEP = "INSERT INTO outlive_blobs (id, data) VALUES (:id, :data) ON CONFLICT (id) DO UPDATE SET data = excluded.data"
_INSERT = "INSERT INTO outlive_session_events (session, id, time, body) VALUES (:session, :id, :time, :body)"


class SQLLogStore:
    def __init__(self, database: Database) -> None:
        self.database = database

    @property
    def url(self) -> str:
        return self.database.url

    def sessions(self) -> list[SessionInfo]:
        def work(connection: Connection) -> list[SessionInfo]:
            names = [name for (name,) in connection.rows("SELECT id FROM outlive_sessions")]
            return [_info(connection, name) for name in names]

        return sorted(self._read(work), key=lambda info: (-info.updated, info.id))

    def info(self, session: str) -> SessionInfo:
        def work(connection: Connection) -> SessionInfo:
            self._known(connection, session)
            return _info(connection, session)

        return self._read(work)

    def read(self, session: str) -> Log:
        def work(connection: Connection) -> list[tuple[int, bytes]]:
            self._known(connection, session)
            size = connection.first(
                "SELECT sum(length(body)) FROM outlive_session_events WHERE session = :session", session=session
            )
            refuse_too_large(f"{self.url}, session {session!r}", size or 0)
            rows = connection.rows(
                "SELECT id, body FROM outlive_session_events WHERE session = :session ORDER BY id", session=session
            )
            return [(number, bytes(body)) for number, body in rows]

        rows = self._read(work)
        named = ((f"{self.url}, session {session!r}, row {number}", body) for number, body in rows)
        events, damage = from_lines(named, self.get_blob)
        return Log(session, events, damage)

    def create(self, session: str) -> "SQLLogWriter":
        file_name(session)  # the same names are refused as everywhere
        me = new_writer()

        def work(connection: Connection) -> None:
            connection.run(f"{_BEGIN} ON CONFLICT (id) DO NOTHING", id=session, writer=me, now=self._now(connection))
            if _writer(connection, session) != me:
                raise SessionExists(f"there is a session {session!r} already in {self.url}")

        self._write(work, landed=lambda connection: _writer(connection, session) == me)
        return SQLLogWriter(self, session, me)

    def writer(self, session: str) -> "SQLLogWriter":
        me = new_writer()

        def work(connection: Connection) -> None:
            self._known(connection, session)
            _refuse_busy(connection, session, self._now(connection))
            connection.run(_HOLD, id=session, writer=me, now=self._now(connection))

        self._write(work, landed=lambda connection: _writer(connection, session) == me)
        return SQLLogWriter(self, session, me)

    def release(self, session: str, writer: str) -> None:
        """For a writer that closes."""
        self._write(lambda connection: connection.run(_FREE, id=session, writer=writer))

    def replace(self, session: str, events: Sequence[Event]) -> None:
        file_name(session)
        rows = self._rows(session, events)
        me = new_writer()

        def work(connection: Connection) -> None:
            _refuse_busy(connection, session, self._now(connection))
            connection.run("DELETE FROM outlive_session_events WHERE session = :session", session=session)
            connection.run("DELETE FROM outlive_sessions WHERE id = :id", id=session)
            connection.run(_BEGIN, id=session, writer=me, now=self._now(connection))
            connection.run_many(_INSERT, rows)

        self._write(work, landed=lambda connection: _writer(connection, session) == me)
        self.release(session, me)

    def left_out(self) -> list[str]:
        """A row is whole or not there at all."""
        return []

    def append(self, session: str, writer: str, events: Sequence[Event]) -> None:
        """For the writer that holds the session."""
        rows = self._rows(session, events)

        def work(connection: Connection) -> None:
            held = connection.first("SELECT writer FROM outlive_sessions WHERE id = :id FOR UPDATE", id=session)
            if held != writer:
                raise SessionBusy(
                    f"session {session!r} was taken over by another process; fork it to go on from here"
                )
            last = _last(connection, session)
            for row in rows:
                if row["id"] <= last:
                    raise StoreError(f"session {session!r}: event {row['id']} cannot follow event {last}")
                last = row["id"]
            connection.run_many(_INSERT, rows)
            connection.run(_HOLD, id=session, writer=writer, now=self._now(connection))

        def landed(connection: Connection) -> bool:
            return _writer(connection, session) == writer and _last(connection, session) == rows[-1]["id"]

        if rows:
            self._write(work, landed=landed)

    def put_blob(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()

        def work(connection: Connection) -> None:
            found = connection.first("SELECT data FROM outlive_blobs WHERE id = :id", id=digest)
            if found is None or bytes(found) != data:
                connection.run(_KEEP, id=digest, data=data)

        self._write(work)
        return digest

    def get_blob(self, digest: str) -> bytes:
        found = self._read(lambda c: c.first("SELECT data FROM outlive_blobs WHERE id = :id", id=digest))
        data = None if found is None else bytes(found)
        return verified(data, digest, f"{self.url}, row {digest!r} of outlive_blobs")

    def close(self) -> None:
        self.database.close()

    def _rows(self, session: str, events: Sequence[Event]) -> list[dict[str, Any]]:
        return [
            {"session": session, "id": event.id, "time": event.time, "body": line}
            for event, line in zip(events, to_lines(events, self.put_blob), strict=True)
        ]

    def _known(self, connection: Connection, session: str) -> None:
        file_name(session)
        if _writer(connection, session) is None:
            raise UnknownSession(f"no session {session!r} in {self.url}; list them with: outlive session list")

    def _now(self, connection: Connection) -> float:
        return self.database.now(connection).timestamp()

    def _read(self, work: Callable[[Connection], T]) -> T:
        bring_up_to_date(self.database)
        return self.database.read(work)

    def _write(self, work: Callable[[Connection], None], landed: Callable[[Connection], bool] = repeat) -> None:
        bring_up_to_date(self.database)
        self.database.write(work, landed=landed)


class SQLLogWriter(LogWriter):
    """Remembers the name that lets it append."""

    def __init__(self, store: SQLLogStore, session: str, name: str) -> None:
        self._store = store
        self.session = session
        self._name = name

    def append(self, events: Sequence[Event]) -> None:
        if not self._name:
            raise StoreError(f"session {self.session!r}: the writer was closed")
        self._store.append(self.session, self._name, events)

    def close(self) -> None:
        name, self._name = self._name, ""
        if name:
            with suppress(StoreError):  # the name makes way anyway once its process is gone
                self._store.release(self.session, name)


def new_writer() -> str:
    """A name that no other writer has, and that tells which process it is."""
    return f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(8)}"


def _refuse_busy(connection: Connection, session: str, now: float) -> None:
    rows = connection.rows("SELECT writer, heard FROM outlive_sessions WHERE id = :id FOR UPDATE", id=session)
    if rows and rows[0][0] and is_alive(rows[0][0], rows[0][1], now):
        host, process, _ = rows[0][0].split(" ")
        raise SessionBusy(
            f"session {session!r} is open in another process ({process} on {host}); close it there, or fork it: "
            "outlive session fork"
        )


def is_alive(writer: str, heard: float, now: float) -> bool:
    """On this machine that is known; on another one, a writer that was silent for long makes way, and so does one
    that was last heard in the future, by a wrong clock."""
    host, process, _ = writer.split(" ")
    if host != socket.gethostname():
        return abs(now - heard) < SILENT_SECONDS
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _writer(connection: Connection, session: str) -> str | None:
    found: str | None = connection.first("SELECT writer FROM outlive_sessions WHERE id = :id", id=session)
    return found


def _last(connection: Connection, session: str) -> int:
    last = connection.first("SELECT max(id) FROM outlive_session_events WHERE session = :session", session=session)
    return int(last or 0)


def _info(connection: Connection, session: str) -> SessionInfo:
    bodies = connection.rows(
        "SELECT body FROM outlive_session_events WHERE session = :session ORDER BY id LIMIT :most",
        session=session,
        most=_HEAD,
    )
    ((updated, last, size),) = connection.rows(
        "SELECT max(time), max(id), sum(length(body)) FROM outlive_session_events WHERE session = :session",
        session=session,
    )
    head = decoded(bytes(body) for (body,) in bodies)
    return session_info(session, head, updated or 0.0, last or 0, int(size or 0))
