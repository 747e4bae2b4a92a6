"""What an engine must offer to hold session logs: append, read, list, and a place for large texts.

A log is a list of events, only ever appended to. `append` returns when the events are on disk. What cannot be read is
named and left out; the rest is used. `outlive.testing.LogStoreConformance` is the executable form of this page.

StoreError
├── UnknownSession   no log has that name
├── SessionExists    a new log cannot have the name of an old one
├── SessionBusy      another writer has it, or took it over after a long silence
├── SessionReplaced  a log that was being followed was put in place again
├── SessionTooLarge  its log has more than is read into memory
└── DamagedBlob      a large text is missing or is not what was written
"""

from collections.abc import Mapping, Sequence
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


class SessionReplaced(StoreError):
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
    """The readable events of one session, oldest first."""

    session: str
    events: tuple[Event, ...]
    damage: tuple[Damage, ...] = ()


class SessionInfo(msgspec.Struct, frozen=True):
    """The entry of a session in a list."""

    id: str
    started: float
    updated: float
    last_event: int
    size: int
    """Bytes of the log without blobs."""
    title: str = ""
    """The beginning of the user's first words."""
    forked_from: str = ""
    replay: bool = False
    """Made by `outlive replay`, so it may be replaced."""
    folder: str = ""
    """The folder it began in; worktrees of a repository share a store."""

    @property
    def unused(self) -> bool:
        """Whether the session was closed before anything was said."""
        return not self.title and not self.forked_from


class SessionLease(msgspec.Struct, frozen=True):
    """Who has a session open."""

    owner: str
    """The name of the worker or user; empty if unknown."""
    machine: str
    pid: int
    epoch: int
    """Grows by one with each writer of the session; 0 if the writer is older than epochs."""
    heard: float
    """When it last appended or renewed, by the store's clock."""
    alive: bool
    """False if its process is gone or was silent for too long: the next writer replaces it."""


class LogWriter(Protocol):
    """The one writer of a session. Hold it as long as the session is open."""

    session: str
    epoch: int
    """1 for the first writer of the session. Every append carries it, and an older one is refused."""

    def append(self, events: Sequence[Event]) -> None:
        """Write events in order; their ids continue the log's. Returns when they are on disk, or raises and none
        is.

        Raises SessionBusy if the session was taken over.
        """

    def renew(self) -> None:
        """Say that the writer is still there, for a session in which nothing happens. Safe in any thread.

        Raises SessionBusy if the session was taken over.
        """

    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LogTail(Protocol):
    """Reads a log while another process writes it."""

    def read(self) -> Log:
        """What was appended since the last call; at first, everything.

        Raises UnknownSession, and SessionReplaced when the log was put in place again, as a replay is.
        """

    def close(self) -> None: ...


class LogStore(Protocol):
    """The interface of a store of session logs. Several processes may have it open at once."""

    @property
    def url(self) -> str: ...

    def sessions(self) -> list[SessionInfo]:
        """All sessions, the newest first."""

    def left_out(self) -> list[str]:
        """What the last `sessions` could not read as a session, with place and reason."""

    def info(self, session: str) -> SessionInfo:
        """The entry of one session. Raises UnknownSession."""

    def read(self, session: str) -> Log:
        """The session's own events; those before a fork are in the log it forked from.

        Raises UnknownSession, and SessionTooLarge.
        """

    def state(self) -> Mapping[str, object]:
        """By session, a value that differs once the session went on or was replaced. Cheap."""

    def tail(self, session: str) -> LogTail:
        """Read the session's own events as they are written. Raises UnknownSession."""

    def has_writer(self, session: str) -> bool:
        """Whether a process has the session open for writing. Raises UnknownSession."""

    def lease(self, session: str) -> SessionLease | None:
        """Who has the session open for writing; None if nobody has. Raises UnknownSession."""

    def create(self, session: str) -> LogWriter:
        """Begin a log. Raises SessionExists."""

    def writer(self, session: str, *, take_over: bool = False) -> LogWriter:
        """Continue a log. At most one writer can append; others get SessionBusy.

        With `take_over` the present writer is fenced out, even if it is alive: the log has all that it acknowledged,
        and nothing that it appends from now on.
        """

    def replace(self, session: str, events: Sequence[Event]) -> None:
        """Replace a whole log atomically: for derived logs (a replay), never for real ones."""

    def put_blob(self, data: bytes) -> str:
        """Store `data` once and return its SHA-256."""

    def get_blob(self, digest: str) -> bytes:
        """Exactly the stored bytes. Raises DamagedBlob if they are missing or differ."""

    def close(self) -> None: ...
