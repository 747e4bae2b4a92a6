"""What lies in `.tasks`, read once and then only where it changed. Knows files, not rules."""

import math
import os
import time
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from outlive.errors import DamagedRecord, StoreError, StoreUnavailable
from outlive.private import tighten
from outlive.regular import UnusableFile, open_to_read
from outlive.stores.tasks.files.index import Node, Print, load_index
from outlive.stores.tasks.files.names import task_name, task_number
from outlive.stores.tasks.records import FINISHED, MAX_ID, MAX_TASK_BYTES, Task, decode_task, encode_task

_UNTRUSTED = Print(0, 0, 0)
_SETTLING = 100_000_000
"""Nanoseconds. The clock of a file system ticks coarsely, so a file changed this recently could change once more
without showing it; it is read again next time."""


class Folder:
    def __init__(self, path: Path, index: Path) -> None:
        self.path = path
        self.archive = path / "archive"
        self._index = index
        self.nodes: dict[int, Node] = {}
        self.damaged: dict[int, StoreError] = {}
        self.overlay: dict[str, bytes | None] = {}
        """Committed but perhaps not yet written: read over the files."""
        self.reread = 0
        """Files that the last scan had to read."""
        self._scanned_at = -math.inf
        self._dependents: dict[int, set[int]] | None = None
        self._archived: dict[int, Node | None] = {}

    def age(self) -> float:
        """Seconds since the last full scan."""
        return time.monotonic() - self._scanned_at

    def forget(self) -> None:
        self.nodes, self.damaged, self._dependents, self._archived = {}, {}, None, {}
        self._scanned_at = -math.inf

    # -- bringing it up to date ------------------------------------------------------------------------

    def scan(self) -> None:
        """Compare every file with what is known, and read those that differ."""
        if not self.nodes:
            self.nodes = load_index(self._index)
            self._dependents = None
        self.reread = 0
        self._scanned_at = time.monotonic()
        self._archived = {}
        known = {f"task_{number}.json": node for number, node in self.nodes.items()}
        changed = self._differing(known)
        gone = {node.id for node in known.values()} | self.damaged.keys()
        for number in filter(None, map(task_number, [*changed, *self.overlay])):
            gone.discard(number)
            self._load(number)
        for number in gone:
            self._drop(number)

    def check(self, numbers: Iterable[int]) -> None:
        """The same for these tasks only."""
        for number in numbers:
            name = task_name(number)
            print_ = _UNTRUSTED if name in self.overlay else _print(self.path / name)
            node = self.nodes.get(number)
            if print_ is None:
                self._drop(number)
            elif node is None or node.print != print_:
                self._load(number)
            self._archived.pop(number, None)

    def place(self, task: Task) -> None:
        """Take a task as it is about to be written."""
        self._archived.pop(task.id, None)
        node = Node.of(task, _UNTRUSTED)
        if task.archived_at is not None:
            self._drop(task.id)
            self._archived[task.id] = node
        else:
            self._put(node)

    def displace(self, number: int) -> None:
        self._drop(number)
        self._archived[number] = None

    # -- questions -------------------------------------------------------------------------------------

    def node(self, number: int) -> Node | None:
        return self.nodes.get(number) or self._archived_node(number)

    def finished(self, number: int) -> bool:
        node = self.nodes.get(number) or self._archived_node(number)
        return node is not None and node.status in FINISHED

    def ready(self) -> list[Node]:
        """Pending and not blocked, in the order of work."""
        pending = [node for node in self.nodes.values() if node.status == "pending"]
        waiting = {number for node in pending for number in node.depends_on}
        open_ = {number for number in waiting if not self.finished(number)}
        found = [node for node in pending if not node.depends_on or open_.isdisjoint(node.depends_on)]
        found.sort(key=lambda node: node.age_key)
        return found

    def blocked_by(self, node: Node) -> tuple[int, ...]:
        return tuple(number for number in node.depends_on if not self.finished(number))

    def dependents(self, number: int) -> Collection[int]:
        if self._dependents is None:
            self._dependents = {}
            for node in self.nodes.values():
                for other in node.depends_on:
                    self._dependents.setdefault(other, set()).add(node.id)
        return self._dependents.get(number, ())

    def full(self, node: Node) -> Task:
        """The task with its derived fields as they are now."""
        return replace(node.task(), blocked_by=self.blocked_by(node), blocks=tuple(sorted(self.dependents(node.id))))

    def encoded(self, number: int) -> bytes:
        node = self.node(number)
        assert node is not None  # noqa: S101 - callers name tasks they have just seen or set
        return encode_task(self.full(node))

    def stale(self, number: int) -> bool:
        """Whether the derived fields in the file differ from the truth."""
        node = self.nodes.get(number)
        return node is not None and node.task() != self.full(node)

    def foreign(self) -> list[str]:
        """Files that are not ours."""
        ours = {"history.jsonl", ".gitignore", ".gitattributes"}
        with os.scandir(self.path) as entries:
            return sorted(
                entry.name
                for entry in entries
                if task_number(entry.name) is None and entry.name not in ours and not entry.is_dir()
            )

    def all_dependents(self, number: int) -> list[int]:
        """Archived ones too; reads the whole archive."""
        archived = (node for node in map(self.node, self.archived_ids()) if node)
        return sorted({*self.dependents(number), *(node.id for node in archived if number in node.depends_on)})

    def archived_ids(self) -> list[int]:
        try:
            names = os.listdir(self.archive)
        except FileNotFoundError:
            names = []
        names += [Path(name).name for name, data in self.overlay.items() if name.startswith("archive/") and data]
        found = {number for name in names if (number := task_number(name))}
        return sorted(found - self.nodes.keys())

    # -- inside ----------------------------------------------------------------------------------------

    def _differing(self, known: dict[str, Node]) -> list[str]:
        """Names of files that are not as they are known; takes those that exist out of `known`.

        A look at every file is most of what a scan costs, so this loop is written for speed.
        """
        try:
            folder = os.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return []
        look, take, differing = os.stat, known.pop, []
        try:
            for name in os.listdir(folder):
                try:
                    found = look(name, dir_fd=folder, follow_symlinks=False)
                except FileNotFoundError:
                    continue
                node = take(name, None)
                if (
                    node is None
                    or node.changed != found.st_ctime_ns
                    or node.size != found.st_size
                    or node.inode != found.st_ino
                ):
                    differing.append(name)
        finally:
            os.close(folder)
        return differing

    def _load(self, number: int) -> None:
        name = task_name(number)
        self.reread += 1
        try:
            node = self._read(name)
        except StoreError as error:
            self._drop(number)
            self.damaged[number] = error
            return
        if node is None:
            self._drop(number)
        else:
            self._put(node)

    def _read(self, name: str) -> Node | None:
        path = self.path / name
        print_, moment, raw = _UNTRUSTED, 0.0, self.overlay.get(name)
        if raw is None:
            if name in self.overlay:
                return None
            try:
                with open_to_read(path, MAX_TASK_BYTES) as file:
                    tighten(file.fileno())
                    found = os.fstat(file.fileno())
                    raw = file.read(found.st_size)
            except FileNotFoundError:
                return None
            except UnusableFile as error:
                raise DamagedRecord(str(error)) from None
            except OSError as error:
                raise StoreUnavailable(
                    f"{path}: cannot be read ({error.strerror}); check its owner and mode"
                ) from None
            moment = found.st_mtime
            if found.st_ctime_ns < time.time_ns() - _SETTLING:
                print_ = Print(found.st_ino, found.st_size, found.st_ctime_ns)
        written_at = datetime.fromtimestamp(int(moment), UTC)
        task = decode_task(raw, where=str(path), written_at=written_at)
        if path.name != task_name(task.id):
            raise DamagedRecord(f"{path}: holds task {task.id}, which belongs into {task_name(task.id)}")
        derived = msgspec.json.decode(raw, type=_Derived)
        task = replace(task, blocked_by=_numbers(derived.blockedBy), blocks=_numbers(derived.blocks))
        return Node.of(task, print_)

    def _archived_node(self, number: int) -> Node | None:
        if number not in self._archived:
            try:
                self._archived[number] = self._read(f"archive/{task_name(number)}")
            except StoreError as error:
                self._archived[number] = None
                self.damaged[number] = error
        return self._archived[number]

    def _put(self, node: Node) -> None:
        self._drop(node.id)
        self.nodes[node.id] = node
        if self._dependents is not None:
            for other in node.depends_on:
                self._dependents.setdefault(other, set()).add(node.id)

    def _drop(self, number: int) -> None:
        self.damaged.pop(number, None)
        old = self.nodes.pop(number, None)
        if old is not None and self._dependents is not None:
            for other in old.depends_on:
                self._dependents[other].discard(number)


class _Derived(msgspec.Struct):
    # Read leniently: hand-written files may hold anything here, and it is only compared.
    blockedBy: list[Any] = []  # noqa: N815 - the name in the file
    blocks: list[Any] = []


def _numbers(values: Iterable[Any]) -> tuple[int, ...]:
    # Larger ones could not be packed, and are nobody's id.
    return tuple(value for value in values if isinstance(value, int) and abs(value) <= MAX_ID)


def _print(path: Path) -> Print | None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    return Print(found.st_ino, found.st_size, found.st_ctime_ns)
