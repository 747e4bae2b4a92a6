"""SQLite: one file, write-ahead log, any number of processes on one machine."""

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import msgspec

from outlive.errors import StoreError, StoreUnavailable
from outlive.private import own_file, refuse_link
from outlive.regular import UnusableFile, refuse_irregular
from outlive.stores.clock import machine_time, store_time
from outlive.stores.polling import PollingWatch
from outlive.stores.sql.database import Connection, Database, PerThread, Row, repeat
from outlive.stores.tasks.protocol import Watch

T = TypeVar("T")

_BUSY_SECONDS = 60.0  # other writers take milliseconds; one that hangs is named in the error
_CACHE_KIB = 32 * 1024  # pages that a connection keeps in memory; SQLite's own default is 2,000 KiB
MEMORY = Path(":memory:")
"""A database that is gone once it is closed."""
_READ = "BEGIN"
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


class _Connection(Connection):
    def __init__(self, raw: sqlite3.Connection) -> None:
        self.raw = raw
        self.writing = False

    def rows(self, statement: str, **values: Any) -> list[Row]:
        return self.raw.execute(_translated(statement), _bound(values)).fetchall()

    def run(self, statement: str, **values: Any) -> None:
        self.raw.execute(_translated(statement), _bound(values))

    def run_many(self, statement: str, values: Sequence[Mapping[str, Any]]) -> None:
        self.raw.executemany(_translated(statement), [_bound(row) for row in values])


class SQLiteDatabase(Database):
    kind: ClassVar[str] = "sqlite"
    types: ClassVar[dict[str, str]] = {
        "ID": "INTEGER",
        "MOMENT": "TEXT",
        "COUNTED": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "CREATE SEQUENCE": "CREATE TABLE",
        "outlive_task_ids": "outlive_task_ids (last INTEGER NOT NULL)",
    }

    def __init__(self, path: Path, *, durability: str = "full") -> None:
        refuse_link(path)
        self.path = path
        self.url = f"sqlite:///{path}"
        self._synchronous = "FULL" if durability == "full" else "NORMAL"
        self._connections = PerThread[sqlite3.Connection]()

    def read(self, work: Callable[[Connection], T]) -> T:
        return self._transaction(_READ, work)

    def write(self, work: Callable[[Connection], T], *, landed: Callable[[Connection], bool] = repeat) -> T:
        # A commit of SQLite either returns or did not happen, so `landed` is never in doubt.
        return self._transaction("BEGIN IMMEDIATE", work)

    def migrate(self, work: Callable[[Connection], None]) -> None:
        self._transaction("BEGIN EXCLUSIVE", work)

    def blank(self) -> "SQLiteDatabase | None":
        if self.path != MEMORY:
            try:
                self.path.stat()
            except FileNotFoundError:
                return SQLiteDatabase(MEMORY) if self.path.parent.is_dir() else None
            except OSError:
                return None  # opening it says what is wrong
        return None

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
        """The current time; a write also checks the file system's clock, a read touches nothing."""
        writing = isinstance(connection, _Connection) and connection.writing
        return store_time(self.path) if writing and self.path != MEMORY else machine_time()

    def new_ids(self, connection: Connection, count: int) -> Sequence[int]:
        last = self.high_water(connection)
        self.set_high_water(connection, last + count)
        return range(last + 1, last + count + 1)

    def set_high_water(self, connection: Connection, high_water: int) -> None:
        connection.run("DELETE FROM outlive_task_ids")
        connection.run("INSERT INTO outlive_task_ids (last) VALUES (:last)", last=high_water)

    def high_water(self, connection: Connection) -> int:
        last = connection.first("SELECT last FROM outlive_task_ids")
        return 0 if last is None else last if isinstance(last, int) else -1

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        yield PollingWatch(self._data_version)

    def _data_version(self) -> int:
        """Changes with every commit of another connection."""
        with self._errors():
            return int(self._connection().raw.execute("PRAGMA data_version").fetchone()[0])

    def integrity(self) -> list[str]:
        with self._errors():
            rows = self._connection().raw.execute("PRAGMA quick_check").fetchall()
        return [text for (text,) in rows if text != "ok"]

    def close(self) -> None:
        self._connections.close()

    def _transaction(self, begin: str, work: Callable[[Connection], T]) -> T:
        with self._errors():
            connection = self._connection()
            connection.raw.execute(begin)
            connection.writing = begin != _READ
            try:
                result = work(connection)
                connection.raw.execute("COMMIT")
            except BaseException:
                if connection.raw.in_transaction:
                    connection.raw.execute("ROLLBACK")
                raise
            return result

    def _connection(self) -> _Connection:
        held = self._connections.get()
        if held is not None:
            return _Connection(held)
        if not self.path.parent.is_dir():
            raise StoreUnavailable(
                f"{self.url}: the folder {self.path.parent} does not exist; make it, or name another file"
            )
        _refuse_irregular(self.path)
        if self.path != MEMORY:
            own_file(self.path)
        raw = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        try:
            self._set_up(raw)
        except BaseException:
            raw.close()
            raise
        self._connections.put(raw)
        return _Connection(raw)

    def _set_up(self, raw: sqlite3.Connection) -> None:
        deadline = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                if raw.execute("PRAGMA journal_mode").fetchone() != ("wal",) and os.access(self.path, os.W_OK):
                    raw.execute("PRAGMA journal_mode=WAL")
                break
            except sqlite3.OperationalError as error:
                # Where several open a new file at once, SQLite says "locked" without having waited.
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.001 + os.getpid() % 20 / 1000)  # not all at the same moment
        raw.execute(f"PRAGMA synchronous={self._synchronous}")
        raw.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", None) or ""
            reason = next((text for code, text in _REMEDIES.items() if name.startswith(code)), str(error))
            kind = StoreUnavailable if name else StoreError
            raise kind(f"{self.url}: {reason}. Nothing was changed.") from error


def _refuse_irregular(path: Path) -> None:
    """Refuse anything but regular files, also beside the database: SQLite follows links and would write into a
    device."""
    try:
        for ending in ("", "-journal", "-wal", "-shm"):
            refuse_irregular(f"{path}{ending}")
    except UnusableFile as error:
        raise StoreUnavailable(f"{error}. Nothing was changed.") from None
