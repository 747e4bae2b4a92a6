"""Session logs as files: `.transcripts/<session>.jsonl`, one event a line, append-only.

A line that a dying writer left unfinished is ended by the next writer and stays where it is. The kernel's lock on the
file keeps out a second writer and is released when its process dies. A living writer is taken over by putting a copy
in the place of its file: it looks before and after each append whether it still has the one that counts.
"""

import fcntl
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from outlive.errors import StoreError
from outlive.events import Event
from outlive.private import enter
from outlive.regular import UnusableFile, open_regular, open_to_read
from outlive.stores.disk import append, errors_named, last_lines, private_folder, sync_folder
from outlive.stores.locations import OUTPUTS, TRANSCRIPTS
from outlive.stores.logs.blob_files import Blobs
from outlive.stores.logs.file_lease import (
    finish_copy,
    folder_lock,
    lease_path,
    put_copy_in_place,
    read_lease,
    write_lease,
)
from outlive.stores.logs.leases import taken_over
from outlive.stores.logs.lines import MAX_LINE_BYTES, LineReader, decoded, refuse_too_large, session_info, to_lines
from outlive.stores.logs.names import file_name, session_of
from outlive.stores.logs.protocol import (
    Log,
    LogWriter,
    SessionBusy,
    SessionExists,
    SessionInfo,
    SessionLease,
    SessionReplaced,
    UnknownSession,
)

BLOBS = "tool-results"
_BLOCK_BYTES = 64 * 1024  # of a line that is too long, read past it
_HEAD_LINES = 40
"""Lines that are read to tell what a session is about."""
_MAX_HEAD_LINE_BYTES = 16 * 2**20
"""Bytes of a line that are looked at for that: a file without line ends may be anything."""
_APPEND = os.O_RDWR | os.O_APPEND
_LOCK_ATTEMPTS, _LOCK_PAUSE = 20, 0.005
"""How often a log is tried to be locked, and the seconds in between: `has_writer` locks it for an instant."""


class FileLogStore:
    def __init__(self, root: Path, *, durability: str = "full") -> None:
        self.folder = root / TRANSCRIPTS
        self.durable = durability == "full"
        for folder in (self.folder, root / OUTPUTS, root / OUTPUTS / BLOBS):
            enter(folder)
        self.blobs = Blobs(root / OUTPUTS / BLOBS, durable=self.durable)
        self._left_out: list[str] = []

    @property
    def url(self) -> str:
        return f"files:{self.folder}"

    def path(self, session: str) -> Path:
        return self.folder / file_name(session)

    def sessions(self) -> list[SessionInfo]:
        with errors_named("reading", self.folder):
            names = sorted(os.listdir(self.folder)) if self.folder.is_dir() else []
        self._left_out.clear()
        found = [info for name in names if (info := self._info(name)) is not None]
        return sorted(found, key=lambda info: (-info.updated, info.id))

    def info(self, session: str) -> SessionInfo:
        found = self._info(file_name(session))
        if found is None:
            raise self._unknown(session)
        return found

    def read(self, session: str) -> Log:
        tail = self.tail(session)
        try:
            return tail.read(to_end=True)
        finally:
            tail.close()

    def state(self) -> Mapping[str, object]:
        with errors_named("reading", self.folder):
            entries = os.scandir(self.folder) if self.folder.is_dir() else ()
            named = (entry for entry in entries if not entry.name.startswith("."))
            return {session_of(entry.name) or entry.name: _size_and_time(entry) for entry in named}

    def tail(self, session: str) -> "FileLogTail":
        path = self.path(session)
        with errors_named("reading", path):
            file = self._opened(session)
        return FileLogTail(session, path, file, LineReader(self.blobs.get))

    def has_writer(self, session: str) -> bool:
        lease = self.lease(session)
        return lease is not None and lease.alive

    def lease(self, session: str) -> SessionLease | None:
        path = self.path(session)
        with errors_named("reading", path), self._opened(session) as file:
            alive = _is_locked(file.fileno())
            heard = os.fstat(file.fileno()).st_mtime
        found = read_lease(path)
        if not alive and not found.pid:
            return None
        with suppress(FileNotFoundError):
            heard = max(heard, lease_path(path).lstat().st_mtime)
        return SessionLease(found.owner, found.machine, found.pid, found.epoch, heard, alive)

    def create(self, session: str) -> "FileLogWriter":
        path = self.path(session)
        with errors_named("creating", path):
            private_folder(self.folder)
            try:
                descriptor = os.open(path, _APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            except FileExistsError:
                raise SessionExists(f"there is a session {session!r} already ({path})") from None
            if self.durable:
                sync_folder(self.folder)
        return FileLogWriter(self, session, path, descriptor)

    def writer(self, session: str, *, take_over: bool = False) -> "FileLogWriter":
        path = self.path(session)
        with errors_named("opening", path):
            try:
                descriptor = self._taken(path) if take_over else open_regular(path, _APPEND)
            except FileNotFoundError:
                raise self._unknown(session) from None
        return FileLogWriter(self, session, path, descriptor)

    def _taken(self, path: Path) -> int:
        """Open a log; if another process has it, a locked copy in its place."""
        with folder_lock(path):
            descriptor = open_regular(path, _APPEND)
            try:
                with suppress(BlockingIOError):
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return descriptor
                copy = put_copy_in_place(path, descriptor)
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)
            return copy

    def replace(self, session: str, events: Sequence[Event]) -> None:
        path = self.path(session)
        part = path.with_name(f".{path.name}.part")
        with errors_named("writing", path):
            private_folder(self.folder)
            held = self.writer(session) if path.exists() else None
            descriptor = open_regular(part, os.O_WRONLY | os.O_CREAT)
            try:
                _lock(descriptor, session)
                os.ftruncate(descriptor, 0)
                append(descriptor, _joined(to_lines(events, self.put_blob)), durable=self.durable)
                part.replace(path)
                if self.durable:
                    sync_folder(self.folder)
            finally:
                if held is not None:
                    held.close()
                    write_lease(path, held.epoch, closed=True)
                os.close(descriptor)

    def left_out(self) -> list[str]:
        return list(self._left_out)

    def put_blob(self, data: bytes) -> str:
        return self.blobs.put(data)

    def get_blob(self, digest: str) -> bytes:
        return self.blobs.get(digest)

    def close(self) -> None:
        """Nothing is held open between calls; writers are closed on their own."""

    def _opened(self, session: str) -> BinaryIO:
        try:
            return open_to_read(self.path(session))
        except FileNotFoundError:
            raise self._unknown(session) from None

    def _unknown(self, session: str) -> UnknownSession:
        return UnknownSession(f"no session {session!r} in {self.folder}")

    def _info(self, name: str) -> SessionInfo | None:
        if not name.endswith(".jsonl") or name.startswith("."):
            return None
        path = self.folder / name
        try:
            with open_to_read(path) as file:
                stat = os.fstat(file.fileno())
                head = list(decoded(islice(iter(lambda: file.readline(_MAX_HEAD_LINE_BYTES), b""), _HEAD_LINES)))
                last = next(decoded(last_lines(file.fileno(), longest=_MAX_HEAD_LINE_BYTES)), None)
        except FileNotFoundError:
            return None
        except UnusableFile as error:
            self._left_out.append(str(error))
            return None
        except OSError as error:
            raise StoreError(f"{path}: cannot be read ({error.strerror})") from None
        updated, last_event = (last.time, last.id) if last else (stat.st_mtime, 0)
        found = session_info(session_of(name) or "", head, updated, last_event, stat.st_size)
        return found if found.id and file_name(found.id) == name else None


class FileLogTail:
    """Holds the file open. A line that is not ended yet is read when it is."""

    def __init__(self, session: str, path: Path, file: BinaryIO, reader: LineReader) -> None:
        self._session = session
        self._path = path
        self._file = file
        self._reader = reader
        self._line = 0

    def read(self, *, to_end: bool = False) -> Log:
        """`to_end`: also read a last line without a line end; no writer will finish it."""
        with errors_named("reading", self._path):
            refuse_too_large(str(self._path), os.fstat(self._file.fileno()).st_size)
            if not to_end and not _same_file(self._path, self._file.fileno()):
                raise SessionReplaced(f"session {self._session!r} was replaced while it was read; open it again")
            events, damage = self._reader.read(self._numbered(to_end))
        return Log(self._session, events, damage)

    def _numbered(self, to_end: bool) -> Iterator[tuple[str, bytes | None]]:
        start = self._file.tell()
        for line in _lines(self._file):
            if not to_end and not _ended(self._file, start, line):
                self._file.seek(start)
                return
            self._line += 1
            start = self._file.tell()
            yield f"{self._path}, line {self._line}", line

    def close(self) -> None:
        self._file.close()


class FileLogWriter(LogWriter):
    """Holds the file and its lock. After a failed write the file is as before."""

    def __init__(self, store: FileLogStore, session: str, path: Path, descriptor: int) -> None:
        self._store = store
        self.session = session
        self._path = path
        self._descriptor = descriptor
        self._mutex = threading.Lock()
        self.epoch = 0
        try:
            _lock(descriptor, session)
            if not _same_file(path, descriptor):
                raise SessionBusy(f"session {session!r} was just replaced by another process; open it again")
            with errors_named("reading", path):
                finish_copy(path, descriptor)
            refuse_too_large(str(path), os.fstat(descriptor).st_size)
            last = next(decoded(last_lines(descriptor, longest=MAX_LINE_BYTES)), None) or _last_of_all(descriptor)
        except BaseException:
            self.close()
            raise
        self._last = last.id if last else 0
        self.epoch = read_lease(path).epoch + 1
        write_lease(path, self.epoch)

    def append(self, events: Sequence[Event]) -> None:
        self._refuse_fenced()
        last = self._last
        for event in events:
            if event.id <= last:
                raise StoreError(f"session {self.session!r}: event {event.id} cannot follow event {last}")
            last = event.id
        with errors_named("appending to", self._path):
            append(self._descriptor, _joined(to_lines(events, self._store.put_blob)), durable=self._store.durable)
        self._refuse_fenced()
        self._last = last

    def renew(self) -> None:
        with self._mutex:
            self._refuse_fenced()
            with suppress(OSError):
                os.utime(lease_path(self._path), follow_symlinks=False)

    def close(self) -> None:
        with self._mutex:
            if self._descriptor < 0:
                return
            with suppress(OSError), folder_lock(self._path):
                if self.epoch and _same_file(self._path, self._descriptor):
                    write_lease(self._path, self.epoch, closed=True)
            os.close(self._descriptor)
            self._descriptor = -1

    def _refuse_fenced(self) -> None:
        """Refuse to go on if another writer put its copy in the place of our file."""
        if self._descriptor < 0:
            raise StoreError(f"session {self.session!r}: the writer was closed")
        if not _same_file(self._path, self._descriptor):
            lease = read_lease(self._path)
            raise taken_over(self.session, lease.owner, lease.machine)


def _lock(descriptor: int, session: str) -> None:
    for _ in range(_LOCK_ATTEMPTS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(_LOCK_PAUSE)
    raise SessionBusy(f"session {session!r} is open in another process", hint="close it there, or fork it")


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False


def _same_file(path: Path, descriptor: int) -> bool:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    held = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """One after the other, without their ends; None for one that is too long to be read."""
    while line := file.readline(MAX_LINE_BYTES + 1):
        if line.endswith(b"\n"):
            yield line[:-1]
        elif len(line) <= MAX_LINE_BYTES:
            yield line
        else:
            while line and not line.endswith(b"\n"):
                line = file.readline(_BLOCK_BYTES)
            yield None


def _size_and_time(entry: os.DirEntry[str]) -> tuple[int, int]:
    try:
        found = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def _ended(file: BinaryIO, start: int, line: bytes | None) -> bool:
    """Whether the line that was read from `start` on has its line end."""
    return line is None or file.tell() - start > len(line)


def _joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _last_of_all(descriptor: int) -> Event | None:
    """The last event of a file that ends with a line too long to read."""
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        return max(decoded(line for line in _lines(file) if line), key=lambda event: event.id, default=None)
