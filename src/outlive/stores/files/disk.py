"""Atomic writes, the writers' lock, and errors of the operating system in words."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from outlive.errors import StoreUnavailable

LOCK_TIMEOUT = 60.0


@contextmanager
def errors_named(doing: str, path: Path) -> Iterator[None]:
    """Turn an OSError into one that says what was going on, and what to do about it."""
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
        raise StoreUnavailable(f"{doing} {path}: {reason}. Nothing was changed.") from error


def make_unversioned(folder: Path) -> None:
    """A folder that git leaves out: what was said and printed does not get into a commit by `git add .`."""
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError), (folder / ".gitignore").open("x", encoding="utf-8") as file:
        file.write("# Sessions may hold anything that was said or printed. Remove the next line to commit them.\n*\n")


class Disk:
    """Writes by way of a local folder. Only the holder of the lock writes, so one scratch file is enough."""

    def __init__(self, local: Path, *, durable: bool) -> None:
        self.local = local
        self.durable = durable

    @contextmanager
    def lock(self, *, wait: bool = True) -> Iterator[bool]:
        """Hold the writers' lock. The kernel gives it back when a process dies, so it never has to be broken."""
        from filelock import FileLock, Timeout

        handle = FileLock(
            self.local / "lock",
            timeout=LOCK_TIMEOUT if wait else 0,
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
                f"{self.local / 'lock'}: another process has held the lock for {LOCK_TIMEOUT:.0f} s; "
                "find it with `fuser` or `lsof`, nothing was changed"
            ) from None
        try:
            yield True
        finally:
            handle.release()

    def staged(self, change: str) -> Path:
        """Where the bytes of a change wait for their commit. As long as they lie there, it has not happened."""
        return self.local / f"staged.{change}"

    def stage(self, path: Path, data: bytes, *, durable: bool | None = None) -> None:
        with open(path, "wb", opener=no_links) as file:
            file.write(data)
            file.flush()
            if self.durable if durable is None else durable:
                os.fsync(file.fileno())

    def commit(self, staged: Path, target: Path, *, durable: bool | None = None) -> None:
        """The atomic moment: before it nothing happened, after it all did."""
        staged.replace(target)
        if self.durable if durable is None else durable:
            self.sync_folder(target.parent)

    def write(self, target: Path, data: bytes, *, durable: bool | None = None) -> None:
        """Replace a file that is not a commit point."""
        scratch = self.local / "scratch"
        self.stage(scratch, data, durable=durable)
        self.commit(scratch, target, durable=durable)

    def sweep(self) -> None:
        """Remove what a process that died left half done. Only for the holder of the lock."""
        for path in (*self.local.glob("staged.*"), *self.local.glob("ready.*")):
            path.unlink(missing_ok=True)

    def sync_folder(self, folder: Path) -> None:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def no_links(path: str, flags: int) -> int:
    """Opens for `open` and refuses a symbolic link: a folder from elsewhere must not make us write elsewhere."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def read_bytes(path: Path) -> bytes | None:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return None
