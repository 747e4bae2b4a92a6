"""SQLite: one file, write-ahead log, any number of processes on one machine."""

import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from outlive.errors import StoreError, StoreUnavailable
from outlive.stores.protocol import Watch
from outlive.stores.sql.database import Connection, Row

T = TypeVar("T")

_BUSY_SECONDS = 60.0
_POLL = 0.05
_CACHE_KIB = 32 * 1024
_TYPES = {
    "ID": "INTEGER",
    "MOMENT": "TEXT",
    "COUNTED": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "CREATE SEQUENCE": "CREATE TABLE",
    "outlive_task_ids": "outlive_task_ids (last INTEGER NOT NULL)",
}
_REMEDIES = {
    "SQLITE_FULL": "the disk is full; free some space and try again",
    "SQLITE_READONLY": "the file or its folder is read-only; check owner and mode",
    "SQLITE_CANTOPEN": "the file cannot be opened; check that its folder exists and its mode",
    "SQLITE_BUSY": f"another process has kept it locked for {_BUSY_SECONDS:.0f} s",
    "SQLITE_CORRUPT": "the file is damaged; restore a backup, or save what is left with `sqlite3 FILE .recover`",
    "SQLITE_NOTADB": "the file is not a SQLite database; name another one",
    "SQLITE_IOERR": "the disk reports an error",
}


@lru_cache(maxsize=256)
def _translated(statement: str) -> str:
    # A writer has the whole database to itself, so there are no row locks to take.
    statement = re.sub(r" FOR UPDATE( SKIP LOCKED)?", "", statement)
    return re.sub(r"IN :(\w+)", r"IN (SELECT value FROM json_each(:\1))", statement)


def _bound(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in values.items()}


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, (list, tuple, set, frozenset)):
        return msgspec.json.encode(list(value)).decode()
    return value


class _Connection:
    def __init__(self, raw: sqlite3.Connection) -> None:
        self.raw = raw

    def rows(self, statement: str, **values: Any) -> list[Row]:
        return self.raw.execute(_translated(statement), _bound(values)).fetchall()

    def run(self, statement: str, **values: Any) -> None:
        self.raw.execute(_translated(statement), _bound(values))

    def run_many(self, statement: str, values: Sequence[Mapping[str, Any]]) -> None:
        self.raw.executemany(_translated(statement), [_bound(row) for row in values])


class SQLiteDatabase:
    def __init__(self, path: Path, *, durability: str = "full") -> None:
        self.path = path
        self.url = f"sqlite:///{path}"
        self._synchronous = "FULL" if durability == "full" else "NORMAL"
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []

    def read(self, work: Callable[[Connection], T]) -> T:
        return self._transaction("BEGIN", work)

    def write(self, work: Callable[[Connection], T], *, landed: Callable[[Connection], bool]) -> T:
        # A commit of SQLite either returns or did not happen, so `landed` is never in doubt.
        return self._transaction("BEGIN IMMEDIATE", work)

    def migrate(self, work: Callable[[Connection], None]) -> None:
        self._transaction("BEGIN EXCLUSIVE", work)

    def schema(self, statement: str) -> str:
        for neutral, own in _TYPES.items():
            statement = re.sub(rf"\b{neutral}\b", own, statement)
        return statement

    def applied(self) -> set[str] | None:
        with self._errors():
            try:
                rows = self._connection().raw.execute("SELECT name FROM outlive_migrations").fetchall()
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):
                    return None
                raise
            return {name for (name,) in rows}

    def now(self, connection: Connection) -> datetime:
        return datetime.now(UTC)

    def lock_edges(self, connection: Connection) -> None:
        """A writer already has the whole database to itself."""

    def new_ids(self, connection: Connection, count: int) -> Sequence[int]:
        last = self.high_water(connection)
        self.reserve(connection, last + count)
        return range(last + 1, last + count + 1)

    def reserve(self, connection: Connection, high_water: int) -> None:
        high_water = max(high_water, self.high_water(connection))
        connection.run("DELETE FROM outlive_task_ids")
        connection.run("INSERT INTO outlive_task_ids (last) VALUES (:last)", last=high_water)

    def high_water(self, connection: Connection) -> int:
        rows = connection.rows("SELECT last FROM outlive_task_ids")
        return int(rows[0][0]) if rows else 0

    def announce(self, connection: Connection) -> None:
        """Watchers see the data version of the file change."""

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        yield _Watch(self)

    def integrity(self) -> list[str]:
        with self._errors():
            rows = self._connection().raw.execute("PRAGMA quick_check").fetchall()
        return [text for (text,) in rows if text != "ok"]

    def close(self) -> None:
        while self._open:
            self._open.pop().close()
        self._local = threading.local()

    def _transaction(self, begin: str, work: Callable[[Connection], T]) -> T:
        with self._errors():
            connection = self._connection()
            connection.raw.execute(begin)
            try:
                result = work(connection)
                connection.raw.execute("COMMIT")
            except BaseException:
                if connection.raw.in_transaction:
                    connection.raw.execute("ROLLBACK")
                raise
            return result

    def _connection(self) -> _Connection:
        """One connection a thread, and never one inherited from a parent process."""
        held: tuple[int, _Connection] | None = getattr(self._local, "held", None)
        if held is not None and held[0] == os.getpid():
            return held[1]
        if not self.path.parent.is_dir():
            raise StoreUnavailable(
                f"{self.url}: the folder {self.path.parent} does not exist; make it, or name another file"
            )
        raw = sqlite3.connect(
            self.path,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        self._open.append(raw)
        if raw.execute("PRAGMA journal_mode").fetchone() != ("wal",) and os.access(self.path, os.W_OK):
            raw.execute("PRAGMA journal_mode=WAL")
        raw.execute(f"PRAGMA synchronous={self._synchronous}")
        raw.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        self._local.held = (os.getpid(), _Connection(raw))
        return self._connection()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", None) or ""
            reason = next((text for code, text in _REMEDIES.items() if name.startswith(code)), str(error))
            kind = StoreUnavailable if name else StoreError
            raise kind(f"{self.url}: {reason}. Nothing was changed.") from error


class _Watch:
    """Polls the data version, which changes with every commit of another connection."""

    def __init__(self, database: SQLiteDatabase) -> None:
        self._database = database
        self._seen = self._version()

    def wait(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, _POLL))
            version = self._version()
            if version != self._seen:
                self._seen = version
                return True
        return False

    def _version(self) -> int:
        with self._database._errors():
            row = self._database._connection().raw.execute("PRAGMA data_version").fetchone()
        return int(row[0])
