"""Session logs in a SQL database: one row per event, one row per large text.

The row of a session names its writer and counts its writers (the epoch); only the last one can append. A writer whose
process is gone is replaced by the next one, so no lock has to be broken after a crash.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from outlive.errors import StoreError
from outlive.events import Event
from outlive.stores.logs.blobs import verified
from outlive.stores.logs.leases import is_alive, new_writer, open_elsewhere, owner_here, parts, taken_over
from outlive.stores.logs.lines import LineReader, decoded, refuse_too_large, session_info, to_lines
from outlive.stores.logs.names import file_name
from outlive.stores.logs.protocol import (
    Log,
    LogWriter,
    SessionExists,
    SessionInfo,
    SessionLease,
    SessionReplaced,
    UnknownSession,
)
from outlive.stores.sql.database import Connection, Database, repeat
from outlive.stores.sql.migrations import bring_up_to_date

T = TypeVar("T")

_HEAD_EVENTS = 40
"""Events that are read to describe a session in a list."""
_BEGIN = """INSERT INTO outlive_sessions (id, writer, heard, owner, epoch)
    VALUES (:id, :writer, :now, :owner, :epoch)"""
_TAKE = """UPDATE outlive_sessions SET writer = :writer, heard = :now, owner = :owner, epoch = :epoch
    WHERE id = :id"""
_HEARD = "UPDATE outlive_sessions SET heard = :now WHERE id = :id"
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
        return self.tail(session).read()

    def state(self) -> Mapping[str, object]:
        rows = self._read(lambda connection: connection.rows("SELECT id, writer, heard FROM outlive_sessions"))
        return {session: (writer, heard) for session, writer, heard in rows}

    def tail(self, session: str) -> "SQLLogTail":
        self._read(lambda connection: self._known(connection, session))
        return SQLLogTail(self, session)

    def has_writer(self, session: str) -> bool:
        lease = self.lease(session)
        return lease is not None and lease.alive

    def lease(self, session: str) -> SessionLease | None:
        def work(connection: Connection) -> SessionLease | None:
            self._known(connection, session)
            writer, heard, epoch, owner = _row(connection, session)
            if not writer:
                return None
            return SessionLease(owner, *parts(writer), epoch, heard, is_alive(writer, heard, self._now(connection)))

        return self._read(work)

    def rows_from(self, session: str, first: int) -> list[tuple[int, bytes]]:
        """For a tail: the rows of a session from an event on."""

        def work(connection: Connection) -> list[tuple[int, bytes]]:
            self._known(connection, session)
            of = {"session": session, "first": first}
            where = "FROM outlive_session_events WHERE session = :session AND id >= :first"
            refuse_too_large(
                f"{self.url}, session {session!r}", connection.first(f"SELECT sum(length(body)) {where}", **of) or 0
            )
            return [
                (number, bytes(body))
                for number, body in connection.rows(f"SELECT id, body {where} ORDER BY id", **of)
            ]

        return self._read(work)

    def create(self, session: str) -> "SQLLogWriter":
        file_name(session)  # the same names are refused as everywhere
        me = new_writer()

        def work(connection: Connection) -> None:
            begin = {"id": session, "writer": me, "now": self._now(connection), "owner": owner_here(), "epoch": 1}
            connection.run(f"{_BEGIN} ON CONFLICT (id) DO NOTHING", **begin)
            if _writer(connection, session) != me:
                raise SessionExists(f"there is a session {session!r} already in {self.url}")

        self._write(work, landed=lambda connection: _writer(connection, session) == me)
        return SQLLogWriter(self, session, me, 1)

    def writer(self, session: str, *, take_over: bool = False) -> "SQLLogWriter":
        me, epoch = new_writer(), 0

        def work(connection: Connection) -> None:
            nonlocal epoch
            self._known(connection, session)
            now = self._now(connection)
            epoch = 1 + (_last_epoch(connection, session) if take_over else _free_epoch(connection, session, now))
            connection.run(_TAKE, id=session, writer=me, now=now, owner=owner_here(), epoch=epoch)

        self._write(work, landed=lambda connection: _writer(connection, session) == me)
        return SQLLogWriter(self, session, me, epoch)

    def release(self, session: str, writer: str) -> None:
        """For a writer that closes."""
        self._write(lambda connection: connection.run(_FREE, id=session, writer=writer))

    def replace(self, session: str, events: Sequence[Event]) -> None:
        file_name(session)
        rows = self._rows(session, events)
        me = new_writer()

        def work(connection: Connection) -> None:
            now = self._now(connection)
            epoch = 1 + _free_epoch(connection, session, now)
            connection.run("DELETE FROM outlive_session_events WHERE session = :session", session=session)
            connection.run("DELETE FROM outlive_sessions WHERE id = :id", id=session)
            connection.run(_BEGIN, id=session, writer=me, now=now, owner=owner_here(), epoch=epoch)
            connection.run_many(_INSERT, rows)

        self._write(work, landed=lambda connection: _writer(connection, session) == me)
        self.release(session, me)

    def left_out(self) -> list[str]:
        """Always empty: a row is whole or missing."""
        return []

    def append(self, session: str, writer: str, epoch: int, events: Sequence[Event]) -> None:
        """Append as the writer that holds the session."""
        rows = self._rows(session, events)

        def work(connection: Connection) -> None:
            _refuse_fenced(connection, session, writer, epoch)
            last = _last(connection, session)
            for row in rows:
                if row["id"] <= last:
                    raise StoreError(f"session {session!r}: event {row['id']} cannot follow event {last}")
                last = row["id"]
            connection.run_many(_INSERT, rows)
            connection.run(_HEARD, id=session, now=self._now(connection))

        def landed(connection: Connection) -> bool:
            return _writer(connection, session) == writer and _last(connection, session) == rows[-1]["id"]

        if rows:
            self._write(work, landed=landed)

    def renew(self, session: str, writer: str, epoch: int) -> None:
        """Note that the writer that holds the session is still there."""

        def work(connection: Connection) -> None:
            _refuse_fenced(connection, session, writer, epoch)
            connection.run(_HEARD, id=session, now=self._now(connection))

        self._write(work)

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
            raise UnknownSession(f"no session {session!r} in {self.url}")

    def _now(self, connection: Connection) -> float:
        return self.database.now(connection).timestamp()

    def _read(self, work: Callable[[Connection], T]) -> T:
        bring_up_to_date(self.database)
        return self.database.read(work)

    def _write(self, work: Callable[[Connection], None], landed: Callable[[Connection], bool] = repeat) -> None:
        bring_up_to_date(self.database)
        self.database.write(work, landed=landed)


class SQLLogTail:
    """Remembers the last row, by which a log that was replaced is known."""

    def __init__(self, store: SQLLogStore, session: str) -> None:
        self._store = store
        self._session = session
        self._reader = LineReader(store.get_blob)
        self._last: tuple[int, bytes] | None = None

    def read(self) -> Log:
        rows = self._store.rows_from(self._session, self._last[0] if self._last else 0)
        if self._last:
            if not rows or rows[0] != self._last:
                raise SessionReplaced(f"session {self._session!r} was replaced while it was read; open it again")
            del rows[0]
        self._last = rows[-1] if rows else self._last
        place = f"{self._store.url}, session {self._session!r}"
        events, damage = self._reader.read((f"{place}, row {number}", body) for number, body in rows)
        return Log(self._session, events, damage)

    def close(self) -> None:
        """Nothing is held open between calls."""


class SQLLogWriter(LogWriter):
    """Remembers the name that lets it append."""

    def __init__(self, store: SQLLogStore, session: str, name: str, epoch: int) -> None:
        self._store = store
        self.session = session
        self.epoch = epoch
        self._name = name

    def append(self, events: Sequence[Event]) -> None:
        self._store.append(self.session, self._open_name(), self.epoch, events)

    def renew(self) -> None:
        self._store.renew(self.session, self._open_name(), self.epoch)

    def _open_name(self) -> str:
        name = self._name
        if not name:
            raise StoreError(f"session {self.session!r}: the writer was closed")
        return name

    def close(self) -> None:
        name, self._name = self._name, ""
        if name:
            with suppress(StoreError):  # the name makes way anyway once its process is gone
                self._store.release(self.session, name)


def _row(connection: Connection, session: str, lock: str = "") -> tuple[str, float, int, str]:
    """Writer, when it was heard, epoch and owner of a session; nobody's if there is no such session."""
    columns = "writer, heard, epoch, owner"
    rows = connection.rows(f"SELECT {columns} FROM outlive_sessions WHERE id = :id{lock}", id=session)
    writer, heard, epoch, owner = rows[0] if rows else ("", 0.0, 0, "")
    return writer, heard, epoch, owner


def _last_epoch(connection: Connection, session: str) -> int:
    """Lock the session and return its epoch."""
    return _row(connection, session, " FOR UPDATE")[2]


def _free_epoch(connection: Connection, session: str, now: float) -> int:
    """The same, unless a living writer has the session."""
    writer, heard, epoch, _ = _row(connection, session, " FOR UPDATE")
    if writer and is_alive(writer, heard, now):
        raise open_elsewhere(session, writer)
    return epoch


def _refuse_fenced(connection: Connection, session: str, writer: str, epoch: int) -> None:
    """Lock the session, and refuse a writer that is not its last one."""
    holder, _, last, owner = _row(connection, session, " FOR UPDATE")
    if (holder, last) != (writer, epoch):
        raise taken_over(session, owner, parts(holder)[0] if holder else "")


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
        most=_HEAD_EVENTS,
    )
    ((updated, last, size),) = connection.rows(
        "SELECT max(time), max(id), sum(length(body)) FROM outlive_session_events WHERE session = :session",
        session=session,
    )
    head = decoded(bytes(body) for (body,) in bodies)
    return session_info(session, head, updated or 0.0, last or 0, int(size or 0))
