"""Who has the log of a session open, in a small file beside it: `.<log>.lease`.

It is derived data: the kernel's lock on the log says whether a writer is alive, and a lease that is missing or
damaged is made again by the next writer. Its time is when the writer was last heard.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from outlive.errors import StoreError
from outlive.regular import open_regular
from outlive.stores.disk import read_bytes, sync_folder, write_file
from outlive.stores.logs.leases import owner_here
from outlive.stores.machine import machine_name

_MAX_BYTES = 4096  # the file has one line; a larger one is not ours and counts as no lease


class FileLease(msgspec.Struct, frozen=True):
    owner: str = ""
    machine: str = ""
    pid: int = 0
    """0: closed."""
    epoch: int = 0


def lease_path(log: Path) -> Path:
    return log.with_name(f".{log.name}.lease")


def read_lease(log: Path) -> FileLease:
    """The last lease; an empty one if there is none that can be read."""
    with suppress(OSError, StoreError, msgspec.DecodeError, RecursionError):
        return msgspec.json.decode(read_bytes(lease_path(log), _MAX_BYTES) or b"{}", type=FileLease)
    return FileLease()


def write_lease(log: Path, epoch: int, *, closed: bool = False) -> None:
    """Say that this process has the log open, or that nobody has it any more. Only for the one that holds the log."""
    lease = FileLease(owner_here(), machine_name(), 0 if closed else os.getpid(), epoch)
    path = lease_path(log)
    part = path.with_name(f"{path.name}.part")
    with suppress(OSError):  # a full disk must not keep anybody from a log
        write_file(part, msgspec.json.encode(lease), os.O_TRUNC, durable=False)
        part.replace(path)


@contextmanager
def folder_lock(log: Path) -> Iterator[None]:
    """Keep others from taking over logs of the same folder."""
    descriptor = os.open(log.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def old_path(log: Path) -> Path:
    """A second name of the log of a writer that is being fenced out, until all of it was copied."""
    return log.with_name(f".{log.name}.old")


def put_copy_in_place(log: Path, old: int) -> int:
    """Replace a log that another process has locked by a locked copy, and return the copy's descriptor.

    The other one may append until the copy is in place; `finish_copy` then adds that. Killed in between, the second
    name of the old file tells the next writer that there is something to add.
    """
    second, part = old_path(log), log.with_name(f".{log.name}.copy")
    for path in (second, part):
        path.unlink(missing_ok=True)
    os.link(log, second, follow_symlinks=False)
    copy = open_regular(part, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL)
    try:
        fcntl.flock(copy, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _copy_rest(old, copy)
        part.replace(log)
        sync_folder(log.parent)
    except BaseException:
        os.close(copy)
        raise
    return copy


def finish_copy(log: Path, descriptor: int) -> None:
    """Add what a writer that was fenced out had written before its log was replaced. For the holder of the lock."""
    second = old_path(log)
    try:
        old = open_regular(second, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        if not os.path.sameopenfile(old, descriptor):
            _copy_rest(old, descriptor)
    finally:
        os.close(old)
    second.unlink(missing_ok=True)


def _copy_rest(source: int, target: int) -> None:
    """Append to `target`, the beginning of `source`, what it lacks; and wait for the disk."""
    position = os.fstat(target).st_size
    while block := os.pread(source, 1 << 20, position):
        position += os.write(target, block)
    os.fsync(target)
