"""The last answer to `ready`, remembered under the state of every file it follows from.

It cannot lie: it counts only while each of those files has the inode, size and change time it was read under, no
change is under way, and no lease has run out. It is a file of its own, so that using it loads next to nothing.
"""

import os
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b

from outlive.regular import MIB, read_regular

_MAGIC = b"outlive-ready-1"
_NAME = ".local/ready"
WORTHWHILE = 200
"""Tasks from which on remembering pays."""


def digest(looks: Iterable[str]) -> str:
    """Of a line `name inode size changed` for each file, in any order; zeros where there is none."""
    return blake2b("\n".join(sorted(looks)).encode(), digest_size=20).hexdigest()


def recall(folder: str) -> bytes | None:
    """The remembered answer, if it still holds."""
    if os.path.islink(folder):
        return None  # opening the store says what is wrong
    try:
        head, _, body = read_regular(f"{folder}/{_NAME}", 256 * MIB).partition(b"\n")
        magic, history, seen, until, check, *others = head.decode().split(" ")
        if magic.encode() != _MAGIC or history != _history(folder):
            return None
        if float(until) <= time.time() or int(check) != zlib.crc32(body):
            return None
    except (OSError, ValueError):
        return None
    looks = _looks(folder, others)
    # Of a handful of files one could guess the digest; of many nobody can, so an answer cannot be planted.
    if len(looks) < WORTHWHILE or os.path.lexists(f"{folder}/.local/journal") or digest(looks) != seen:
        return None
    return body


def remember(folder: str, body: bytes, looks: Iterable[str], others: Iterable[str], until: float) -> None:
    """Keep an answer that follows from `looks`; `others` names those of them that no listing of the folder shows."""
    head = " ".join([_MAGIC.decode(), _history(folder), digest(looks), repr(until), str(zlib.crc32(body)), *others])
    part = f"{folder}/{_NAME}.{os.getpid()}"
    with suppress(OSError):
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(head.encode() + b"\n" + body)
        os.replace(part, f"{folder}/{_NAME}")


def _history(folder: str) -> str:
    """The size of the audit trail: most changes show there, without a look at every file."""
    try:
        return str(os.lstat(f"{folder}/history.jsonl").st_size)
    except FileNotFoundError:
        return "0"


def _look(name: str, folder: int) -> str:
    """A file that is not there has a look too, so that its coming is noticed."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return f"{name} 0 0 0"
    return f"{name} {found.st_ino} {found.st_size} {found.st_ctime_ns}"


def _looks(path: str, others: Iterable[str]) -> list[str]:
    folder = os.open(path, os.O_RDONLY)
    try:
        names = [name for name in os.listdir(folder) if name.startswith("task_")]
        return [_look(name, folder) for name in (*names, *others)]
    finally:
        os.close(folder)
