"""The index of a folder of records: what its files held when they were read, so that a new process reads few of them.

It is derived: if it is missing or damaged, the files are read.
"""

import mmap
import zlib
from collections.abc import Iterable
from typing import Generic, TypeVar

import msgspec

from outlive.regular import open_to_read
from outlive.stores.disk import MAX_FILE_BYTES, Disk, FileState

_MAGIC = b"outlive-index-2\n"


class FileEntry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file as it was read; subclasses add its content."""

    name: str
    """Relative to the folder."""
    inode: int
    size: int
    changed: int

    @property
    def state(self) -> FileState:
        return FileState(self.inode, self.size, self.changed)


E = TypeVar("E", bound=FileEntry)


class FileIndex(Generic[E]):
    """The entries of a folder in one file, with a checksum."""

    def __init__(self, disk: Disk, entry: type[E]) -> None:
        self._disk = disk
        self._path = disk.local / "index"
        self._decoder = msgspec.msgpack.Decoder(list[entry])  # type: ignore[valid-type]

    def load(self) -> list[E]:
        """The entries; empty if the index is missing or damaged."""
        start = len(_MAGIC) + 4
        try:
            with (
                open_to_read(self._path, MAX_FILE_BYTES) as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw,
                memoryview(raw) as view,
            ):
                check = zlib.crc32(view[start:]).to_bytes(4, "big")
                return self._decoder.decode(view[start:]) if view[:start] == _MAGIC + check else []
        except (OSError, ValueError, msgspec.DecodeError, RecursionError):
            return []

    def write(self, entries: Iterable[E]) -> None:
        """Replace the index. Entries of files that were not read from disk are left out."""
        body = msgspec.msgpack.encode([entry for entry in entries if entry.inode])
        self._disk.write(self._path, _MAGIC + zlib.crc32(body).to_bytes(4, "big") + body, durable=False)
