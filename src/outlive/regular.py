"""Safe opening of files: a clone can contain a FIFO, a device or a symlink under any name that outlive uses.

The harness opens all its own files and settings here. Files named on the command line may be pipes and are read with
`read_named`. Both have a size limit.
"""

import errno
import os
import stat
import sys
from pathlib import Path

from outlive.private import tighten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

MIB = 2**20
MAX_USER_FILE_BYTES = 1024 * MIB
"""Bytes of a file, or of standard input, named by the user."""
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class UnusableFile(OSError):
    """Not a regular file, or too large. `errno` is EINVAL or EFBIG."""

    filename: str
    strerror: str

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def open_regular(path: Path | str, flags: int = os.O_RDONLY, *, follow: bool = False) -> int:
    """Open a regular file and return the descriptor. Anything else raises UnusableFile without blocking.

    A file opened for writing loses its permissions for others. `follow` permits a symlink to a regular file, for
    links that users make in their own home.
    """
    try:
        found = os.stat(path, follow_symlinks=follow)
        _check(path, found)
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
    flags |= os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags, 0o600)
    try:
        _check(path, os.fstat(descriptor))  # it may have been replaced since
        if flags & (os.O_WRONLY | os.O_RDWR):
            tighten(descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_to_read(path: Path | str, limit: int | None = None, *, follow: bool = False) -> "BinaryIO":
    """Open a regular file of at most `limit` bytes."""
    file = os.fdopen(open_regular(path, follow=follow), "rb")
    try:
        _check_size(path, os.fstat(file.fileno()).st_size, limit)
    except BaseException:
        file.close()
        raise
    return file


def read_regular(path: Path | str, limit: int, *, follow: bool = False) -> bytes:
    """The bytes of a regular file; raises UnusableFile if there are more than `limit`."""
    with open_to_read(path, limit, follow=follow) as file:
        return file.read(os.fstat(file.fileno()).st_size)


def read_named(path: Path | str, limit: int = MAX_USER_FILE_BYTES) -> bytes:
    """The bytes of a file or pipe, or of standard input for `-`. Raises UnusableFile for more than `limit`."""
    if str(path) == "-":
        return _up_to(limit, sys.stdin.buffer, "standard input")
    with open(path, "rb") as file:
        _check_size(path, os.fstat(file.fileno()).st_size, limit)
        return _up_to(limit, file, path)


def real_path(path: Path | str) -> Path:
    """The path without symlinks. One that leads in a circle stays as it is; `Path.resolve` raises RuntimeError."""
    return Path(os.path.realpath(path))


def refuse_irregular(path: Path | str) -> None:
    """Raise UnusableFile unless the path is missing or a regular file; for files that a library opens by name."""
    try:
        found = os.lstat(path)
    except OSError:
        return  # the library reports it
    _check(path, found)


def _check(path: Path | str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
        raise UnusableFile(errno.EINVAL, f"is {kind}, not a regular file; move it aside", str(path))


def _check_size(path: Path | str, size: int, limit: int | None) -> None:
    if limit is not None and size > limit:
        most = f"{limit // MIB} MiB" if limit >= MIB else f"{limit // 1024} KiB"
        raise UnusableFile(errno.EFBIG, f"is larger than {most}; move it aside", str(path))


def _up_to(limit: int, file: "BinaryIO", path: Path | str) -> bytes:
    parts, total = [], 0
    while part := file.read(MIB):
        parts.append(part)
        total += len(part)
        _check_size(path, total, limit)
    return b"".join(parts)
