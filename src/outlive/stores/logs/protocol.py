"""What an engine must offer to hold session logs: append, read, list, and a place for large texts.

A log is a list of events, only ever appended to. `append` returns when the events are on disk. What cannot be read is
named and left out; the rest is used. `outlive.testing.LogStoreConformance` is the executable form of this page.

StoreError
├── UnknownSession   no log has that name
├── SessionExists    a new log cannot have the name of an old one
├── SessionBusy      another writer has it, or took it over after a long silence
├── SessionTooLarge  its log has more than is read into memory
└── DamagedBlob      a large text is missing or is not what was written
"""

from collections.abc import Sequence
from typing import Protocol, Self

import msgspec

from outlive.errors import StoreError
from outlive.events import Event


class UnknownSession(StoreError):
    pass


class SessionExists(StoreError):
    pass


class SessionBusy(StoreError):
    pass


class SessionTooLarge(StoreError):
    pass


class DamagedBlob(StoreError):
    pass


class Damage(msgspec.Struct, frozen=True):
    """A part of a log that could not be used. It stays where it is."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class Log(msgspec.Struct, frozen=True):
    """One session as far as it can be read, oldest event first."""

    session: str
    events: tuple[Event, ...]
    damage: tuple[Damage, ...] = ()


class SessionInfo(msgspec.Struct, frozen=True):
    """A session in one line of a list."""

    id: str
    started: float
    updated: float
    last_event: int
    size: int
    """Bytes of the log, large texts not counted."""
    title: str = ""
    """How the user's first words begin."""
    forked_from: str = ""
    replay: bool = False
    """Made by `outlive replay`, so it may be made again."""
    folder: str = ""
    """Where it was begun; worktrees of a repository share a store."""

    @property
    def unused(self) -> bool:
        """Opened and left before anything was said."""
        return not self.title and not self.forked_from


class LogWriter(Protocol):
    """The one writer of a session. Hold it as long as the session is open."""

    session: str

    def append(self, events: Sequence[Event]) -> None:
        """Write events, in order; their ids go on counting. Returns when they are on disk, or raises and none is."""

    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LogStore(Protocol):
    """An engine. Several processes may have it open at once."""

    @property
    def url(self) -> str: ...

    def sessions(self) -> list[SessionInfo]:
        """All sessions, the newest first."""

    def left_out(self) -> list[str]:
        """What the last `sessions` could not take for a session, each with its place and the reason."""

    def info(self, session: str) -> SessionInfo:
        """One of them. Raises UnknownSession."""

    def read(self, session: str) -> Log:
        """The session's own events; those before a fork are in the log it forked from.

        Raises UnknownSession, and SessionTooLarge.
        """

    def create(self, session: str) -> LogWriter:
        """Begin a log. Raises SessionExists."""

    def writer(self, session: str) -> LogWriter:
        """Go on with a log. Of several writers at most one can append; the others get SessionBusy."""

    def replace(self, session: str, events: Sequence[Event]) -> None:
        """Put a whole log in place at once, over an older one: for derived logs (a replay), never for real ones."""

    def put_blob(self, data: bytes) -> str:
        """Keep `data` and return its SHA-256; the same data is kept once."""

    def get_blob(self, digest: str) -> bytes:
        """Exactly what was put. Raises DamagedBlob when it is missing or differs."""

    def close(self) -> None: ...
