"""A derived copy of the task files, so that a new process need not read every one of them.

It cannot lie: an entry counts only while its file still has the inode, size and change time under which it
was read, and a damaged or foreign index is ignored. Deleting it costs nothing but time.
"""

import mmap
import zlib
from pathlib import Path
from typing import NamedTuple

import msgspec

from outlive.regular import open_to_read
from outlive.stores.disk import LARGEST, Disk
from outlive.stores.tasks.records import Status, Task

_MAGIC = b"outlive-index-1\n"


class Print(NamedTuple):
    """What tells one state of a file from another. No program can set the change time."""

    inode: int
    size: int
    changed: int


class Node(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A task file as it was read: what the graph needs at hand, the rest packed."""

    id: int
    inode: int
    size: int
    changed: int
    status: Status
    depends_on: tuple[int, ...]
    priority: int
    created_at: int
    """Microseconds, for sorting."""
    lease_until: float | None
    packed: bytes

    @classmethod
    def of(cls, task: Task, print_: Print) -> "Node":
        return cls(
            task.id,
            *print_,
            task.status,
            task.depends_on,
            task.priority,
            int(task.created_at.timestamp() * 1_000_000),
            task.lease.expires_at.timestamp() if task.lease else None,
            _pack(task),
        )

    def task(self) -> Task:
        """The task, with `blocked_by` and `blocks` as they stand in the file."""
        return _unpack(self.packed)

    @property
    def print(self) -> Print:
        return Print(self.inode, self.size, self.changed)

    @property
    def age_key(self) -> tuple[int, int, int]:
        return self.priority, self.created_at, self.id


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(Task).decode
_unpack_nodes = msgspec.msgpack.Decoder(list[Node]).decode


def load_index(path: Path) -> dict[int, Node]:
    """What the index knows; nothing when it is missing or not what was written."""
    start = len(_MAGIC) + 4
    try:
        with (
            open_to_read(path, LARGEST) as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw,
            memoryview(raw) as view,
        ):
            if (
                view[: len(_MAGIC)] != _MAGIC
                or zlib.crc32(view[start:]).to_bytes(4, "big") != view[len(_MAGIC) : start]
            ):
                return {}
            return {node.id: node for node in _unpack_nodes(view[start:])}
    except (OSError, ValueError, msgspec.DecodeError):
        return {}


def save_index(path: Path, nodes: list[Node], disk: Disk) -> None:
    """Only for the holder of the lock."""
    body = _pack(nodes)
    disk.write(path, _MAGIC + zlib.crc32(body).to_bytes(4, "big") + body, durable=False)
