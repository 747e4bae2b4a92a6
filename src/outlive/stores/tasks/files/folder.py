"""The folder of the tasks: its entries, the graph derived from them, and the ids given out."""

import math
import os
import time
from collections.abc import Collection, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from outlive.errors import DamagedRecord, StoreError
from outlive.regular import UnusableFile
from outlive.stores.disk import FileState, file_state, read_bytes
from outlive.stores.file_index import FileEntry
from outlive.stores.record_folder import UNKNOWN_STATE, RecordFolder
from outlive.stores.tasks.files.history import AuditTrail
from outlive.stores.tasks.files.names import archived_name, task_name, task_number
from outlive.stores.tasks.records import (
    FINISHED,
    MAX_ID,
    MAX_TASK_BYTES,
    REPAIR,
    Status,
    Task,
    decode_task,
    encode_task,
    highest_id,
    wrong_mark,
)

_MAX_MARK_BYTES = 64
"""Bytes of the file with the last id."""


class TaskEntry(FileEntry, frozen=True):
    """A task file: the fields that the graph needs, the rest packed."""

    id: int
    status: Status
    depends_on: tuple[int, ...]
    priority: int
    created_at: int
    """Microseconds, for sorting."""
    lease_until: float | None
    packed: bytes

    @classmethod
    def of(cls, name: str, task: Task, state: FileState = UNKNOWN_STATE) -> "TaskEntry":
        return cls(
            name,
            *state,
            task.id,
            task.status,
            task.depends_on,
            task.priority,
            int(task.created_at.timestamp() * 1_000_000),
            task.lease.expires_at.timestamp() if task.lease else None,
            _pack(task),
        )

    def task(self) -> Task:
        """The task, with `blocked_by` and `blocks` as in the file."""
        return _unpack(self.packed)


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(Task).decode


class TaskFolder(RecordFolder[TaskEntry]):
    """A scan covers the open folder; archived tasks are read on demand."""

    largest = MAX_TASK_BYTES
    repair = REPAIR

    def __init__(self, path: Path, *, durable: bool) -> None:
        super().__init__(path, TaskEntry, durable=durable)
        self.archive = path / "archive"
        self.history = AuditTrail(self.log, self.disk)
        self.mark_path = self.disk.local / "high-water"
        self._own_mark: object = None
        self._scanned_at = -math.inf
        self._dependents: dict[int, set[int]] | None = None
        self._archived: dict[int, TaskEntry | None] = {}

    # -- files -----------------------------------------------------------------------------------------

    def is_record(self, name: str) -> bool:
        return task_number(name.removeprefix("archive/")) is not None

    def parse(self, name: str, raw: bytes, state: FileState, written: datetime) -> TaskEntry:
        path = self.path / name
        task = decode_task(raw, where=str(path), written_at=written)
        if path.name != task_name(task.id):
            raise DamagedRecord(f"{path}: holds task {task.id}, which belongs into {task_name(task.id)}")
        derived = msgspec.json.decode(raw, type=_Derived)
        task = replace(task, blocked_by=_numbers(derived.blockedBy), blocks=_numbers(derived.blocks))
        return TaskEntry.of(name, task, state)

    def changed(self, name: str, old: TaskEntry | None, new: TaskEntry | None) -> None:
        if self._dependents is None:
            return
        if old is not None:
            for number in old.depends_on:
                self._dependents[number].discard(old.id)
        if new is not None:
            for number in new.depends_on:
                self._dependents.setdefault(number, set()).add(new.id)

    def loaded(self) -> None:
        self._dependents = None

    def scan(self) -> None:
        self._scanned_at = time.monotonic()
        self._archived = {}
        super().scan()

    def age(self) -> float:
        """Seconds since the last scan."""
        return time.monotonic() - self._scanned_at

    def forget(self) -> None:
        """Drop all knowledge; the next scan begins with the index."""
        self.entries, self.damaged, self._dependents, self._archived = {}, {}, None, {}
        self._scanned_at = -math.inf

    def check_tasks(self, numbers: Iterable[int]) -> None:
        """Look at the files of these tasks."""
        for number in numbers:
            self.check([task_name(number)])
            self._archived.pop(number, None)

    def place(self, task: Task) -> None:
        """Apply a task that is about to be written."""
        if task.archived_at is not None:
            self._drop(task_name(task.id))
            self._archived[task.id] = TaskEntry.of(archived_name(task.id), task)
        else:
            self._archived.pop(task.id, None)
            self.put(TaskEntry.of(task_name(task.id), task))

    def displace(self, number: int) -> None:
        """Apply the removal of a task."""
        self._drop(task_name(number))
        self._archived[number] = None

    def damage(self, number: int) -> StoreError | None:
        """Why a task cannot be read."""
        return self.damaged.get(task_name(number)) or self.damaged.get(archived_name(number))

    def unknown_files(self) -> list[str]:
        """Files that are not ours."""
        ours = {"history.jsonl", ".gitignore", ".gitattributes"}
        with os.scandir(self.path) as entries:
            return sorted(
                entry.name
                for entry in entries
                if task_number(entry.name) is None and entry.name not in ours and not entry.is_dir()
            )

    # -- the graph -------------------------------------------------------------------------------------

    def node(self, number: int) -> TaskEntry | None:
        return self.entries.get(f"task_{number}.json") or self._archived_node(number)

    def finished(self, number: int) -> bool:
        node = self.node(number)
        return node is not None and node.status in FINISHED

    def ready(self) -> list[TaskEntry]:
        """Pending and not blocked, in the order of work."""
        status = {node.id: node.status for node in self.entries.values()}
        pending = [node for node in self.entries.values() if node.status == "pending"]
        waiting = {number for node in pending for number in node.depends_on}
        open_ = {
            number
            for number in waiting
            if (status[number] not in FINISHED if number in status else not self.finished(number))
        }
        found = [node for node in pending if not node.depends_on or open_.isdisjoint(node.depends_on)]
        found.sort(key=lambda node: (node.priority, node.created_at, node.id))
        return found

    def dependents(self, number: int) -> Collection[int]:
        if self._dependents is None:
            self._dependents = {}
            for node in self.entries.values():
                for other in node.depends_on:
                    self._dependents.setdefault(other, set()).add(node.id)
        return self._dependents.get(number, ())

    def all_dependents(self, number: int) -> list[int]:
        """All dependents, archived ones included; reads the whole archive."""
        return sorted(
            {*self.dependents(number), *(node.id for node in self.archived_nodes() if number in node.depends_on)}
        )

    def full(self, node: TaskEntry) -> Task:
        """The task with its current derived fields."""
        blocked_by = tuple(number for number in node.depends_on if not self.finished(number))
        return replace(node.task(), blocked_by=blocked_by, blocks=tuple(sorted(self.dependents(node.id))))

    def encoded(self, number: int) -> bytes:
        node = self.node(number)
        assert node is not None  # noqa: S101 - callers name tasks they have just seen or set
        return encode_task(self.full(node))

    def stale(self, number: int) -> bool:
        """Whether the derived fields in the file are out of date."""
        node = self.entries.get(task_name(number))
        return node is not None and node.task() != self.full(node)

    def stale_ids(self) -> list[int]:
        return sorted(node.id for node in self.entries.values() if node.task() != self.full(node))

    def archived_ids(self) -> list[int]:
        try:
            names = os.listdir(self.archive)
        except FileNotFoundError:
            names = []
        names += [Path(name).name for name, data in self.overlay.items() if name.startswith("archive/") and data]
        return sorted({number for name in names if name not in self.entries and (number := task_number(name))})

    def archived_nodes(self) -> list[TaskEntry]:
        return [node for node in map(self.node, self.archived_ids()) if node]

    def _archived_node(self, number: int) -> TaskEntry | None:
        if number not in self._archived:
            name = archived_name(number)
            try:
                self._archived[number] = self.read(name)
            except StoreError as error:
                self._archived[number] = None
                self.damaged[name] = error
        return self._archived[number]

    # -- ids -------------------------------------------------------------------------------------------

    def high_water(self) -> int:
        """The largest id ever given out."""
        mark = self.mark()
        if mark is None or self.wrong_mark() is not None:
            return self.largest_known()
        return highest_id(self._ids(), mark)

    def largest_known(self, start: int = 0) -> int:
        """The largest id in a file, the archive or the audit trail; at least `start`."""
        return highest_id(self._seen(), start)

    def mark(self) -> int | None:
        """The last id according to its file; None if the file is lost, because it is derived."""
        try:
            raw = read_bytes(self.mark_path, _MAX_MARK_BYTES) or b""
        except UnusableFile:
            return None
        return int(raw) if raw.strip().isdigit() else None

    def wrong_mark(self) -> str | None:
        mark = self.mark()
        return None if mark is None else wrong_mark(mark, lambda: max(self._seen(), default=0))

    def reserve(self, high_water: int) -> None:
        self.disk.write(self.mark_path, b"%d\n" % high_water)
        self._own_mark = file_state(self.mark_path)

    def given_out(self, ids: Collection[int]) -> bool:
        """Whether one of these ids, new according to the mark, belonged to a task before.

        A mark that this process wrote itself is right.
        """
        if file_state(self.mark_path) != self._own_mark and self.history.mentions(ids):
            return True
        names = (name for number in ids for name in (task_name(number), archived_name(number)))
        return any(os.path.lexists(self.path / name) for name in names)

    def _ids(self) -> list[int]:
        damaged = [task_number(name.removeprefix("archive/")) or 0 for name in self.damaged]
        return [node.id for node in self.entries.values()] + damaged

    def _seen(self) -> set[int]:
        """Every id in a file, the archive or the audit trail."""
        return {*self._ids(), *self.archived_ids(), *(change.task for change in self.history.read())}


class _Derived(msgspec.Struct):
    # Read leniently: hand-written files may hold anything here, and it is only compared.
    blockedBy: list[Any] = []  # noqa: N815 - the name in the file
    blocks: list[Any] = []


def _numbers(values: Iterable[Any]) -> tuple[int, ...]:
    # Larger ones could not be packed, and are nobody's id.
    return tuple(value for value in values if isinstance(value, int) and abs(value) <= MAX_ID)
