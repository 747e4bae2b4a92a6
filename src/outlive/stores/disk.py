"""Atomic writes, the writers' lock, and readable errors of the operating system."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from outlive.errors import StoreUnavailable
from outlive.private import enter, make_private
from outlive.regular import UnusableFile, open_regular, open_to_read, read_regular, refuse_irregular

LOCK_TIMEOUT_SECONDS = 60.0  # writers hold a lock for milliseconds; one that hangs is named in the error
MAX_FILE_BYTES = 512 * 2**20
"""Largest file that is read whole."""
_BLOCK_BYTES = 64 * 1024  # read backwards from the end at a time; the last lines are mostly in it
_GITIGNORE = b"# Locks, derived data and the workers of outlive. Do not commit them.\n.local/\n"
_GITATTRIBUTES = b"history.jsonl merge=union\n"
_IGNORE_EVERYTHING = (
    b"# Sessions may hold anything that was said or printed. Remove the next line to commit them.\n*\n"
)


@contextmanager
def errors_named(doing: str, path: Path) -> Iterator[None]:
    """Turn an OSError into one that says what was going on and what to do about it."""
    try:
        yield
    except OSError as error:
        remedies = {
            errno.ENOSPC: "the disk is full; free some space and try again",
            errno.EDQUOT: "the disk quota is used up; free some space and try again",
            errno.EACCES: "permission denied; check the owner and mode of the folder",
            errno.EPERM: "not permitted; check the owner and mode of the folder",
            errno.EROFS: "the file system is read-only",
        }
        reason = remedies.get(error.errno or 0, error.strerror or str(error))
        where = error.filename if isinstance(error, UnusableFile) else path
        raise StoreUnavailable(f"{doing} {where}: {reason}. Nothing was changed.") from error


class Disk:
    """Writes through a local scratch folder. Only the holder of the lock writes, so one scratch file is enough."""

    def __init__(self, local: Path, *, durable: bool) -> None:
        self.local = local
        self.durable = durable
        self.scratch = local / "scratch"

    def set_up(self) -> None:
        """Create the folder of a store and the local folder in it if they are missing. Links are refused."""
        folder = self.local.parent
        for below in (self.local, folder / "archive", folder / "damaged"):
            enter(below)
        if not self.local.is_dir() or not (folder / ".gitignore").exists():
            make_private(self.local)
            for name, data in ((".gitignore", _GITIGNORE), (".gitattributes", _GITATTRIBUTES)):
                write_new(folder / name, data)

    @contextmanager
    def lock(self, name: str = "lock", *, wait: bool = True) -> Iterator[bool]:
        """Hold the writers' lock, or another one by name; returns False if it is taken and `wait` is not set.

        The kernel releases it when a process dies, so it never has to be broken.
        """
        from filelock import FileLock, Timeout

        path = self.local / name
        with errors_named("cannot lock", self.local):
            refuse_irregular(path)
        handle = FileLock(
            path,
            timeout=LOCK_TIMEOUT_SECONDS if wait else 0,
            mode=0o600,
            poll_interval=0.002,
            thread_local=False,
            fallback_to_soft=False,
        )
        try:
            handle.acquire()
        except Timeout:
            if not wait:
                yield False
                return
            raise StoreUnavailable(
                f"{path}: another process has held the lock for {LOCK_TIMEOUT_SECONDS:.0f} s; "
                "find it with `fuser` or `lsof`, nothing was changed"
            ) from None
        try:
            yield True
        finally:
            handle.release()

    def staged(self, change: str) -> Path:
        """The path where the bytes of a change wait for their commit. While they are there, the change has not
        happened."""
        return self.local / f"staged.{change}"

    def stage(self, path: Path, data: bytes, *, durable: bool | None = None) -> None:
        write_file(path, data, os.O_TRUNC, durable=self.durable if durable is None else durable)

    def commit(self, staged: Path, target: Path, *, durable: bool | None = None) -> None:
        """Rename a staged file into place: the atomic commit point."""
        staged.replace(target)
        if self.durable if durable is None else durable:
            sync_folder(target.parent)

    def write(self, target: Path, data: bytes, *, durable: bool | None = None) -> None:
        """Replace a file that is not a commit point."""
        self.stage(self.scratch, data, durable=durable)
        self.commit(self.scratch, target, durable=durable)

    def is_staging(self) -> bool:
        """Whether a change is staged: waiting for its commit, or left by a process that died before it."""
        return any(self.local.glob("staged.*"))

    def sweep(self) -> None:
        """Remove half-done work of a process that died. Only for the holder of the lock."""
        for path in self.local.glob("staged.*"):
            path.unlink(missing_ok=True)

    def irregular(self, log: Path) -> list[UnusableFile]:
        """Files in the local folder that are not regular, and the log beside it if it cannot be read: they are not
        ours."""
        found = []
        for path in sorted(self.local.glob("*")):
            if path.name == "retrieval" and path.is_dir() and not path.is_symlink():
                continue  # the search index of memories
            try:
                refuse_irregular(path)
            except UnusableFile as error:
                found.append(error)
        with suppress(FileNotFoundError):
            try:
                open_to_read(log, MAX_FILE_BYTES).close()
            except UnusableFile as error:
                found.append(error)
        return found


def write_file(path: Path, data: bytes, flags: int, *, durable: bool) -> None:
    """Write a whole file; `flags` decide what happens to an existing one."""
    with open(open_regular(path, os.O_WRONLY | os.O_CREAT | flags), "wb") as file:
        file.write(data)
        file.flush()
        if durable:
            os.fsync(file.fileno())


def append(descriptor: int, data: bytes, *, durable: bool) -> int:
    """Append lines to an open file and return its size before; after a failure the file is as before.

    An unfinished line of a writer that died is kept and closed by a line end.
    """
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        data = b"\n" + data
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if durable:
            os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
    return size


def sync_folder(folder: Path) -> None:
    """Make created and renamed files in a folder survive a power loss."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def last_lines(descriptor: int, *, longest: int) -> Iterator[bytes]:
    """The lines of an open file from its end, without their ends; stops at one longer than `longest`."""
    start, tail = os.fstat(descriptor).st_size, b""
    while start > 0 and len(tail) < longest:
        step = min(start, max(_BLOCK_BYTES, len(tail)))
        start -= step
        tail = os.pread(descriptor, step, start) + tail
        lines = tail.split(b"\n")
        tail = lines[0] if start else b""
        yield from lines[:0:-1] if start else lines[::-1]


class FileState(NamedTuple):
    """Identifies one state of a file. No program can set the change time."""

    inode: int
    size: int
    changed: int

    @classmethod
    def of(cls, found: os.stat_result) -> "FileState":
        return cls(found.st_ino, found.st_size, found.st_ctime_ns)


def file_state(path: Path) -> FileState | None:
    """A value that changes when a file is replaced or written to; None if it does not exist."""
    try:
        return FileState.of(path.lstat())
    except FileNotFoundError:
        return None


def set_apart(source: Path, folder: Path) -> Path:
    """Move a file into a folder under a free name; returns the new path."""
    make_private(folder)
    target, copy = folder / source.name, 1
    while os.path.lexists(target):
        copy += 1
        target = folder / f"{source.name}.{copy}"
    return source.rename(target)


def read_bytes(path: Path, limit: int = MAX_FILE_BYTES) -> bytes | None:
    """The bytes of a file; None if it does not exist. Raises UnusableFile if it is not regular or larger than
    `limit`."""
    with suppress(FileNotFoundError):
        return read_regular(path, limit)
    return None


def private_folder(folder: Path) -> None:
    """Create a folder that only its owner can read and that git ignores."""
    if folder.is_dir():
        enter(folder)
        return
    make_private(folder)
    write_new(folder / ".gitignore", _IGNORE_EVERYTHING)


def write_new(path: Path, data: bytes) -> None:
    """Write a file unless it exists."""
    with suppress(FileExistsError), open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(data)
