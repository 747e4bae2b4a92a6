"""PostgreSQL: one server, many machines. A lost connection is reported and reopened, and the change happens once."""

import logging
import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

from outlive.errors import ConfigError, StoreError, StoreUnavailable
from outlive.stores.sql.database import Connection, Database, Row, moment, repeat
from outlive.stores.tasks.protocol import Watch

try:
    import psycopg
    from psycopg import errors
    from psycopg.pq import TransactionStatus
except ImportError as missing:
    raise ConfigError(
        "a postgresql:// store needs psycopg; install it with: pip install 'outlive[postgres]'"
    ) from missing

T = TypeVar("T")

log = logging.getLogger("outlive.stores")

RECONNECT_SECONDS = 60.0  # longer than a restart or a failover of the server takes
_CONNECT_SECONDS = 10  # of one attempt: a dead host would otherwise hold it for minutes
_IDLE_SECONDS = 30
"""A client that is silent for this long within a transaction is cut off: a frozen machine must not keep row locks."""
_IDLE_TIMEOUT = f"idle_in_transaction_session_timeout = '{_IDLE_SECONDS}s'"
_POOLED_WAIT_SECONDS = 0.5, 1.0
"""Between two looks at the store where a pooler keeps notifications from us, at random."""
_CHANNEL = "outlive_tasks"
MAX_CONNECTIONS = 4
"""Connections that the threads of a process share, besides those that wait for a change."""
_MOST_WAITING = 100
"""Statements that are sent together at most."""
_EDGES_KEY = 0x6F75746C69766501
"""Of an advisory lock: "outlive" in ASCII and a number, not to meet locks of other programs."""
_MIGRATE_KEY = 0x6F75746C69766502  # likewise
_AT_WORK = "SELECT 1 FROM pg_stat_activity WHERE pid = :pid AND state <> 'idle'"
_CONFLICTS = (errors.SerializationFailure, errors.DeadlockDetected)


@lru_cache(maxsize=256)
def _translated(statement: str) -> bytes:
    statement = re.sub(r"NOT IN :(\w+)", r"<> ALL(%(\1)s)", statement)
    statement = re.sub(r"\bIN :(\w+)", r"= ANY(%(\1)s)", statement)
    return re.sub(r"(?<!:):(\w+)", r"%(\1)s", statement).encode()


@lru_cache(maxsize=256)
def _combined(statements: tuple[str, ...]) -> str:
    """One statement of several, with the parameters of each numbered."""
    *before, last = (re.sub(r"(?<!:):(\w+)", rf":\1_{index}", one) for index, one in enumerate(statements))
    return f"WITH {', '.join(f'part_{index} AS ({one})' for index, one in enumerate(before))} {last}"


class _Connection(Connection):
    """An open transaction. What returns no rows waits for the next statement that does, or for the commit, and is
    sent together with it: a round trip costs more than most statements."""

    def __init__(self, raw: psycopg.Connection[Row], begin: bytes) -> None:
        self.raw = raw
        self.begun = False
        """Whether anything was sent."""
        self._waiting: list[tuple[bytes, Any]] = [(begin, None)]

    def rows(self, statement: str, **values: Any) -> list[Row]:
        return self.several((statement, values))[0]

    def several(self, *statements: tuple[str, Mapping[str, Any]]) -> list[list[Row]]:
        self._waiting += [(_translated(statement), values) for statement, values in statements]
        return [cursor.fetchall() for cursor in self._sent()[-len(statements) :]]

    def run(self, statement: str, **values: Any) -> None:
        self._later(statement, values)

    def together(self, *statements: tuple[str, Mapping[str, Any]]) -> None:
        """As one statement: it costs less than two."""
        values = {
            f"{name}_{index}": value for index, (_, own) in enumerate(statements) for name, value in own.items()
        }
        self._later(_combined(tuple(statement for statement, _ in statements)), values)

    def run_many(self, statement: str, values: Sequence[Mapping[str, Any]]) -> None:
        self._later(statement, values)

    def commit(self) -> None:
        if self.begun or len(self._waiting) > 1:
            self._waiting.append((b"COMMIT", None))
            self._sent()

    def roll_back(self) -> None:
        if self.begun:
            with suppress(psycopg.OperationalError):
                self.raw.execute(b"ROLLBACK")

    def _later(self, statement: str, values: Any) -> None:
        self._waiting.append((_translated(statement), values))
        if len(self._waiting) >= _MOST_WAITING:
            self._sent()

    def _sent(self) -> list[psycopg.Cursor[Row]]:
        waiting, self._waiting, self.begun = self._waiting, [], True
        if len(waiting) == 1:
            return [self._execute(*waiting[0])]
        with self.raw.pipeline():
            return [self._execute(*one) for one in waiting]

    def _execute(self, statement: bytes, values: Any) -> psycopg.Cursor[Row]:
        cursor = self.raw.cursor()
        if isinstance(values, Mapping):
            return cursor.execute(statement, values)
        if values is None:
            return cursor.execute(statement, prepare=False)
        cursor.executemany(statement, values)
        return cursor


class PostgresDatabase(Database):
    kind: ClassVar[str] = "postgres"
    clock: ClassVar[str] = "(SELECT clock_timestamp())"
    types: ClassVar[dict[str, str]] = {
        "ID": "BIGINT",
        "MOMENT": "TIMESTAMPTZ",
        "COUNTED": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    }

    def __init__(self, url: str) -> None:
        self._conninfo = url
        self.url = re.sub(r"(://[^:@/]*):[^@/]*@", r"\1:***@", url)
        self._connections = _Connections(self.connect)
        self._last = threading.local()
        """The connection that a thread has used last."""
        self._met = False
        """Whether a connection ever succeeded: only then is a failure worth waiting for."""
        self._writable = False
        """Whether it takes changes: then a standby that answers in its place is waited for until it is promoted."""
        self._told = self._pooled = False
        """Whether a pooler such as PgBouncer answers, not the server: then each transaction may have another
        server process, so nothing is kept in a session."""

    def read(self, work: Callable[[Connection], T]) -> T:
        begin = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        return self._retrying(lambda: self._transaction(begin, work), landed=None)

    def write(self, work: Callable[[Connection], T], *, landed: Callable[[Connection], bool] = repeat) -> T:
        return self._retrying(lambda: self._transaction(b"BEGIN", work), landed=landed)

    def migrate(self, work: Callable[[Connection], None]) -> None:
        def alone(connection: Connection) -> None:
            connection.rows("SELECT pg_advisory_xact_lock(:key)", key=_MIGRATE_KEY)
            work(connection)

        self.write(alone)

    def applied(self) -> set[str] | None:
        def work(connection: Connection) -> set[str] | None:
            if connection.first("SELECT to_regclass('outlive_migrations')") is None:
                return None
            return {name for (name,) in connection.rows("SELECT name FROM outlive_migrations")}

        return self.read(work)

    def now(self, connection: Connection) -> datetime:
        return moment(connection.first(f"SELECT {self.clock}"))

    def lock_edges(self, connection: Connection) -> None:
        connection.rows("SELECT pg_advisory_xact_lock(:key)", key=_EDGES_KEY)

    def new_ids(self, connection: Connection, count: int) -> Sequence[int]:
        rows = connection.rows("SELECT nextval('outlive_task_ids') FROM generate_series(1, :count)", count=count)
        return [row[0] for row in rows]

    def set_high_water(self, connection: Connection, high_water: int) -> None:
        connection.rows("SELECT setval('outlive_task_ids', greatest(:last, 1), :last > 0)", last=high_water)

    def high_water(self, connection: Connection) -> int:
        last, called = connection.rows("SELECT last_value, is_called FROM outlive_task_ids")[0]
        return int(last) if called else 0

    def announcement(self, only_if: str = "TRUE") -> str:
        # Commits that notify wait for each other on the whole server, each until it is on the disk.
        return f"SELECT pg_notify('{_CHANNEL}', '') WHERE {only_if}"

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        watch = _Watch(self) if self.is_direct() else _PooledWatch()
        try:
            yield watch
        finally:
            watch.close()

    def is_direct(self) -> bool:
        """Whether notifications reach us. Says so once if a pooler is in the way."""
        with self._connections.borrowed():
            pass
        if self._pooled and not self._told:
            self._told = True
            log.warning(
                "a connection pooler answers for %s: workers that wait look about once a second and are not woken; "
                "a direct connection does better",
                self.url,
            )
        return not self._pooled

    def close(self) -> None:
        self._connections.close()

    def connect(self) -> psycopg.Connection[Row]:
        """Open a connection. If the server was reachable before, wait for it to come back."""
        deadline = time.monotonic() + (RECONNECT_SECONDS if self._met else 0)
        pause = 0.1
        while True:
            try:
                raw = psycopg.connect(
                    self._conninfo, autocommit=True, connect_timeout=_CONNECT_SECONDS, application_name="outlive"
                )
                raw.execute("SET TIME ZONE 'UTC'")
                ((backend, is_standby),) = raw.execute("SELECT pg_backend_pid(), pg_is_in_recovery()").fetchall()
                if is_standby and self._writable:
                    raw.close()
                    raise psycopg.OperationalError("the server is a standby, and was not promoted yet")
                self._pooled = backend != raw.info.backend_pid
                if self._pooled:
                    raw.prepare_threshold = None
                else:
                    raw.execute(f"SET {_IDLE_TIMEOUT}".encode())
            except psycopg.OperationalError as error:
                if time.monotonic() + pause > deadline:
                    raise StoreUnavailable(
                        f"{self.url}: cannot connect ({_reason(error)}); "
                        "check that the server runs and the URL is right. Nothing was changed."
                    ) from error
                log.warning("no connection to %s (%s); trying again in %.1f s", self.url, _reason(error), pause)
                time.sleep(pause)
                pause = min(pause * 2, 5.0) * random.uniform(0.8, 1.2)
            else:
                self._met = True
                self._writable = not is_standby
                return raw

    # -- inside ----------------------------------------------------------------------------------------

    def _transaction(self, begin: bytes, work: Callable[[Connection], T]) -> T:
        with self._connections.borrowed() as raw:
            self._last.raw = raw
            return self._on(_Connection(raw, begin), work)

    def _on(self, connection: _Connection, work: Callable[[Connection], T]) -> T:
        backend = connection.raw.info.backend_pid  # a lost connection no longer knows
        try:
            if self._pooled:
                connection.run(f"SET LOCAL {_IDLE_TIMEOUT}")
                backend = connection.first("SELECT pg_backend_pid()")
            result = work(connection)
        except BaseException:
            connection.roll_back()
            raise
        try:
            connection.commit()
        except psycopg.OperationalError as error:
            if connection.raw.closed:
                raise _CommitInDoubt(result, backend) from error
            connection.roll_back()
            raise
        except psycopg.Error:  # a statement that was sent with the commit failed
            connection.roll_back()
            raise
        return result

    def _retrying(self, attempt: Callable[[], T], *, landed: Callable[[Connection], bool] | None) -> T:
        deadline = time.monotonic() + RECONNECT_SECONDS
        while True:
            try:
                return attempt()
            except _CommitInDoubt as doubt:
                log.warning("connection to %s lost during a commit; looking whether it took effect", self.url)
                if landed is not None and self._landed(doubt.backend, landed):
                    result: T = doubt.result
                    return result
                log.warning("connection to %s lost before the commit took effect; opening it again", self.url)
            except _CONFLICTS:
                if time.monotonic() > deadline:
                    raise StoreUnavailable(
                        f"{self.url}: other writers were in the way for {RECONNECT_SECONDS:.0f} s. "
                        "Nothing was changed."
                    ) from None
                time.sleep(random.uniform(0.001, 0.02))
            except (psycopg.OperationalError, errors.IdleInTransactionSessionTimeout) as error:
                if not self._lost() or time.monotonic() > deadline:
                    raise StoreUnavailable(f"{self.url}: {_reason(error)}. Nothing was changed.") from error
                log.warning("connection to %s lost (%s); opening it again", self.url, _reason(error))
            except psycopg.Error as error:
                kind = StoreUnavailable if isinstance(error, errors.InsufficientPrivilege) else StoreError
                raise kind(f"{self.url}: {_reason(error)}. Nothing was changed.") from error

    def _landed(self, backend: int, landed: Callable[[Connection], bool]) -> bool:
        """Whether a commit took effect. Asks only after the server process that had it is gone or at rest, so the
        answer is final."""
        deadline = time.monotonic() + RECONNECT_SECONDS
        while time.monotonic() < deadline:
            gone = self.read(lambda c: c.rows(_AT_WORK, pid=backend) == [])
            if gone:
                break
            time.sleep(0.05)
        return self.read(landed)

    def _lost(self) -> bool:
        """Whether this thread has lost the connection that it used last."""
        raw = getattr(self._last, "raw", None)
        return raw is not None and bool(raw.closed)


class _Connections:
    """Open connections, a few for all threads: a transaction borrows one. Those inherited from a parent process are
    left alone: closing them would end the parent's."""

    def __init__(self, connect: Callable[[], psycopg.Connection[Row]]) -> None:
        self._connect = connect
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._free: list[psycopg.Connection[Row]] = []
        self._places = threading.BoundedSemaphore(MAX_CONNECTIONS)

    @contextmanager
    def borrowed(self) -> Iterator[psycopg.Connection[Row]]:
        """Lend a connection, the one that was used last if there is one. Waits while all are lent."""
        if self._process != os.getpid():
            self._begin()
        with self._places:
            raw = self._usable() or self._connect()
            try:
                yield raw
            finally:
                if raw.closed or raw.info.transaction_status != TransactionStatus.IDLE:
                    raw.close()
                else:
                    self._free.append(raw)

    def close(self) -> None:
        """Close those that nobody uses."""
        if self._process == os.getpid():
            while raw := self._usable():
                raw.close()

    def _usable(self) -> psycopg.Connection[Row] | None:
        while self._free:
            with suppress(IndexError):  # another thread was faster
                if not (raw := self._free.pop()).closed:
                    return raw
        return None


class _CommitInDoubt(Exception):
    """The connection was lost during a commit; whether it took effect is still to be found out."""

    def __init__(self, result: Any, backend: int) -> None:
        super().__init__()
        self.result = result
        self.backend = backend


class _Watch:
    """Listens on its own connection."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._raw = self._listen()

    def wait(self, timeout: float) -> bool:
        try:
            return any(True for _ in self._raw.notifies(timeout=timeout, stop_after=1))
        except psycopg.OperationalError as error:
            log.warning(
                "connection to %s lost while waiting (%s); opening it again", self._database.url, _reason(error)
            )
            self.close()
            self._raw = self._listen()
            return True

    def close(self) -> None:
        self._raw.close()

    def _listen(self) -> psycopg.Connection[Row]:
        raw = self._database.connect()
        raw.execute(f"LISTEN {_CHANNEL}".encode())
        return raw


class _PooledWatch:
    """Waits where nobody wakes us."""

    def wait(self, timeout: float) -> bool:
        pause = random.uniform(*_POOLED_WAIT_SECONDS)
        time.sleep(min(timeout, pause))
        return pause <= timeout

    def close(self) -> None:
        pass


def _reason(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
