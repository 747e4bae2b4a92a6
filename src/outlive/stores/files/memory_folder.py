"""What lies in a memory folder, read once and then only where it changed. Knows files, not rules."""

import os
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from outlive.errors import DamagedRecord, StoreError, StoreUnavailable
from outlive.stores.files.disk import Disk, read_bytes
from outlive.stores.files.memory_journal import is_memory_file
from outlive.stores.memory_records import MAX_BYTES, Memory, Scope
from outlive.stores.memory_text import parse

_SETTLING = 100_000_000
"""Nanoseconds. A file changed this recently could change once more without its clock showing it; it is read again."""
_INDEX_VERSION = 1
_WORTH_SAVING = 50
"""Files read anew from which on the derived copy is written again."""


class Known(msgspec.Struct, frozen=True, array_like=True):
    """A memory, and the state of the file that it was read under."""

    memory: Memory
    inode: int
    size: int
    changed: int


class _Index(msgspec.Struct, frozen=True):
    version: int
    files: dict[str, Known]


class MemoryFolder:
    def __init__(self, path: Path, scope: Scope, disk: Disk) -> None:
        self.path = path
        self.scope = scope
        self._disk = disk
        self._index = disk.local / "index"
        self.known: dict[str, Known] = {}
        self.damaged: dict[str, StoreError] = {}
        self.overlay: dict[str, bytes | None] = {}
        """Committed but perhaps not yet written: read over the files."""
        self.reread = 0
        self._loaded = False

    def scan(self) -> None:
        """Compare every file with what is known, and read those that differ."""
        if not self._loaded:
            self._loaded = True
            self.known = self._load()
        self.damaged = {}
        there = {*self._names(""), *self._names("archive/"), *(name for name, data in self.overlay.items() if data)}
        for name in [name for name in self.known if name not in there]:
            del self.known[name]
        for name in self._differing(there):
            self._look_at(name)

    def memories(self, *, archived: bool) -> list[Memory]:
        """Live ones, and with `archived` forgotten ones that no live one stands in the place of."""
        live = {name: known.memory for name, known in self.known.items() if "/" not in name}
        if archived:
            for name, known in self.known.items():
                if "/" in name and name.removeprefix("archive/") not in live:
                    live[name.removeprefix("archive/")] = known.memory
        return sorted(live.values(), key=lambda memory: memory.slug)

    def get(self, slug: str) -> Memory | None:
        found = self.known.get(f"{slug}.md") or self.known.get(f"archive/{slug}.md")
        return found.memory if found else None

    def taken(self) -> set[str]:
        """Slugs in use, in lower case; files that cannot be read count, and so do those that were set apart."""
        names = {*self._names(""), *self._names("archive/"), *self._names("damaged/"), *self.overlay}
        return {name.rpartition("/")[2].removesuffix(".md").lower() for name in names}

    @property
    def worth_saving(self) -> bool:
        return self.reread >= _WORTH_SAVING

    def save(self) -> None:
        """Keep what was read for the next process. Only for the holder of the lock; a full disk is no harm."""
        self.reread = 0
        settled = {name: known for name, known in self.known.items() if known.inode}
        with suppress(OSError):
            self._disk.write(self._index, msgspec.msgpack.encode(_Index(_INDEX_VERSION, settled)), durable=False)

    def _load(self) -> dict[str, Known]:
        raw = read_bytes(self._index)
        if raw is None:
            return {}
        try:
            index = msgspec.msgpack.decode(raw, type=_Index)
        except msgspec.DecodeError:
            return {}
        return index.files if index.version == _INDEX_VERSION else {}

    def _names(self, under: str) -> Iterable[str]:
        try:
            names = os.listdir(self.path / under)
        except (FileNotFoundError, NotADirectoryError):
            return []
        names = [under + name for name in names]
        return [name for name in names if name in self.known or under == "damaged/" or is_memory_file(name)]

    def _differing(self, there: set[str]) -> list[str]:
        """Names of files that are not as they are known. A look at every file is most of what a scan costs, so this
        loop is written for speed."""
        try:
            folder = os.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return sorted(there)
        look, known, differing = os.stat, self.known, []
        try:
            for name in there:
                node = known.get(name)
                if node is None or name in self.overlay:
                    differing.append(name)
                    continue
                try:
                    found = look(name, dir_fd=folder, follow_symlinks=False)
                except FileNotFoundError:
                    found = None
                if (
                    found is None
                    or node.changed != found.st_ctime_ns
                    or node.size != found.st_size
                    or node.inode != found.st_ino
                ):
                    differing.append(name)
        finally:
            os.close(folder)
        return differing

    def _look_at(self, name: str) -> None:
        path = self.path / name
        if name in self.overlay:
            raw = self.overlay[name]
            self.known.pop(name, None)
            if raw is not None:
                self._take(name, raw, None, datetime.now(UTC))
            return
        try:
            found = path.lstat()
        except FileNotFoundError:
            self.known.pop(name, None)
            return
        self.known.pop(name, None)
        self._read(name, path, found)

    def _read(self, name: str, path: Path, found: os.stat_result) -> None:
        self.reread += 1
        if not stat.S_ISREG(found.st_mode):
            self.damaged[name] = DamagedRecord(f"{path}: not a regular file")
            return
        if found.st_size > MAX_BYTES:
            self.damaged[name] = DamagedRecord(
                f"{path}: larger than {MAX_BYTES // 1024} KiB, which is a document and not a memory"
            )
            return
        try:
            with path.open("rb") as file:
                found = os.fstat(file.fileno())
                raw = file.read()
        except FileNotFoundError:
            return
        except OSError as error:
            self.damaged[name] = StoreUnavailable(f"{path}: cannot be read ({error.strerror}); check owner and mode")
            return
        self._take(name, raw, found, datetime.fromtimestamp(int(found.st_mtime), UTC))

    def _take(self, name: str, raw: bytes, found: os.stat_result | None, written: datetime) -> None:
        slug = name.removeprefix("archive/").removesuffix(".md")
        try:
            memory = parse(raw, slug=slug, where=str(self.path / name), written=written)
        except StoreError as error:
            self.damaged[name] = error
            return
        forgotten = (memory.archived or written) if "/" in name else None
        memory = replace(memory, scope=self.scope, archived=forgotten)  # where it lies decides
        if found and found.st_ctime_ns < time.time_ns() - _SETTLING:
            self.known[name] = Known(memory, found.st_ino, found.st_size, found.st_ctime_ns)
        else:
            self.known[name] = Known(memory, 0, 0, 0)
