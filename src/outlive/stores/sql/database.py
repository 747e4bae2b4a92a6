"""What differs between SQLite and PostgreSQL, as a protocol.

Statements are written once: parameters as `:name`, lists as `IN :name` or `NOT IN :name`, row locks as
`FOR UPDATE [SKIP LOCKED]`. Each database translates that into its own words and keeps the result.
"""

import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from outlive.stores.tasks.protocol import Watch

T = TypeVar("T")

Row = tuple[Any, ...]


class Connection(Protocol):
    """An open transaction."""

    def rows(self, statement: str, **values: Any) -> list[Row]: ...

    def first(self, statement: str, **values: Any) -> Any:
        """The first value of the first row; None if there is none."""
        rows = self.rows(statement, **values)
        return rows[0][0] if rows else None

    def several(self, *statements: tuple[str, Mapping[str, Any]]) -> list[list[Row]]:
        """The rows of several statements, asked for together where that saves round trips."""
        return [self.rows(statement, **values) for statement, values in statements]

    def run(self, statement: str, **values: Any) -> None:
        """Run a statement; its error may come with the next one that returns rows, or with the commit."""

    def together(self, *statements: tuple[str, Mapping[str, Any]]) -> None:
        """Run statements that change different rows. They need not see each other's changes."""
        for statement, values in statements:
            self.run(statement, **values)

    def run_many(self, statement: str, values: Sequence[Mapping[str, Any]]) -> None: ...


class Closable(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class PerThread(Generic[C]):
    """One open connection a thread. Those of threads that have ended are closed when the next one is opened, and
    those inherited from a parent process are left alone: closing them would end the parent's."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._open: list[tuple[int, threading.Thread, C]] = []

    def get(self) -> C | None:
        held: tuple[int, C] | None = getattr(self._local, "held", None)
        return held[1] if held is not None and held[0] == os.getpid() else None

    def put(self, connection: C) -> None:
        here = threading.current_thread()
        self._drop(lambda thread: thread is here or not thread.is_alive())
        self._open.append((os.getpid(), here, connection))
        self._local.held = (os.getpid(), connection)

    def close(self) -> None:
        self._drop(lambda _: True)
        self._local = threading.local()

    def _drop(self, which: Callable[[threading.Thread], bool]) -> None:
        for entry in [entry for entry in self._open if entry[0] == os.getpid() and which(entry[1])]:
            with suppress(ValueError):  # another thread was faster
                self._open.remove(entry)
                entry[2].close()


def repeat(connection: Connection) -> bool:
    """Default of `landed`: assume that a doubtful commit did not take effect, and run the work again."""
    return False


class Database(Protocol):
    kind: ClassVar[str]
    """The name used in migrations."""
    types: ClassVar[dict[str, str]]
    """Neutral type names of the schema to those of the database."""
    clock: ClassVar[str] = ""
    """The expression that reads the clock, if the database has one: a subquery, which is evaluated once."""
    url: str
    current: bool = False
    """Whether this process has checked that the schema is up to date."""

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on one consistent snapshot."""

    def write(self, work: Callable[[Connection], T], *, landed: Callable[[Connection], bool] = repeat) -> T:
        """Run `work` and commit. It is run again after a conflict or a lost connection; `landed` tells, when
        the connection was lost during the commit itself, whether that commit took effect."""

    def migrate(self, work: Callable[[Connection], None]) -> None:
        """Run `work` and commit while no one else migrates."""

    def schema(self, statement: str) -> str:
        """A schema statement in the database's own syntax."""
        for neutral, own in self.types.items():
            statement = re.sub(rf"\b{neutral}\b", own, statement)
        return statement

    def blank(self) -> "Database | None":
        """An empty database to read from if there is none yet, so that reading creates nothing; else None."""
        return None

    def applied(self) -> set[str] | None:
        """Names of the applied migrations; None before the first."""

    def now(self, connection: Connection) -> datetime:
        """The clock shared by all users of the database."""

    def lock_edges(self, connection: Connection) -> None:
        """Keep other writers from adding dependencies until this transaction ends."""
        return

    def new_ids(self, connection: Connection, count: int) -> Sequence[int]: ...

    def set_high_water(self, connection: Connection, high_water: int) -> None: ...

    def high_water(self, connection: Connection) -> int:
        """The last id given out; negative if the stored value is not a number."""

    def announcement(self, only_if: str = "TRUE") -> str:
        """A statement that wakes watchers once its transaction is committed, if it returned a row for this condition.
        Empty if watchers poll."""
        return ""

    def announce(self, connection: Connection) -> None:
        """Wake watchers once this transaction is committed, unless they poll."""
        if statement := self.announcement():
            connection.run(statement)

    def watch(self) -> AbstractContextManager[Watch]: ...

    def integrity(self) -> list[str]:
        """What the database itself finds wrong with its storage; empty for a server."""
        return []

    def close(self) -> None: ...


def moment(value: Any) -> datetime:
    """A MOMENT column as a datetime; SQLite stores fixed-width text, so that it sorts."""
    found = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return found.astimezone(UTC)
