"""What differs between SQLite and PostgreSQL, as a protocol.

Statements are written once: parameters as `:name`, lists as `IN :name` or `NOT IN :name`, row locks as
`FOR UPDATE [SKIP LOCKED]`. Each database translates that into its own words and keeps the result.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from outlive.stores.protocol import Watch

T = TypeVar("T")

Row = tuple[Any, ...]


class Connection(Protocol):
    """An open transaction."""

    def rows(self, statement: str, **values: Any) -> list[Row]: ...

    def run(self, statement: str, **values: Any) -> None: ...

    def run_many(self, statement: str, values: Sequence[Mapping[str, Any]]) -> None: ...


class Database(Protocol):
    @property
    def url(self) -> str: ...

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on one consistent snapshot."""

    def write(self, work: Callable[[Connection], T], *, landed: Callable[[Connection], bool]) -> T:
        """Run `work` and commit. It is run again after a conflict or a lost connection; `landed` tells, when
        the connection was lost during the commit itself, whether that commit took effect."""

    def migrate(self, work: Callable[[Connection], None]) -> None:
        """Run `work` and commit, while nobody else migrates."""

    def schema(self, statement: str) -> str:
        """A statement of the schema with the neutral types (ID, MOMENT, COUNTED) in the words of the database."""

    def applied(self) -> set[str] | None:
        """Names of the migrations the database has, None before the first."""

    def now(self, connection: Connection) -> datetime:
        """The clock all users of the database share."""

    def lock_edges(self, connection: Connection) -> None:
        """Keep other writers from adding dependencies until this transaction ends."""

    def new_ids(self, connection: Connection, count: int) -> Sequence[int]: ...

    def reserve(self, connection: Connection, high_water: int) -> None: ...

    def high_water(self, connection: Connection) -> int: ...

    def announce(self, connection: Connection) -> None:
        """Wake those who watch, once this transaction is committed."""

    def watch(self) -> AbstractContextManager[Watch]: ...

    def integrity(self) -> list[str]:
        """What the database itself finds wrong with its storage."""

    def close(self) -> None: ...


def moment(value: Any) -> datetime:
    """A MOMENT column as a datetime; SQLite keeps it as text of fixed width, so that it sorts."""
    found = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return found.astimezone(UTC)
