"""What lies in a memory folder, read once and then only where it changed. Knows files, not rules."""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from outlive.errors import DamagedRecord, StoreError, StoreUnavailable
from outlive.private import tighten
from outlive.regular import UnusableFile, open_to_read
from outlive.stores.disk import Disk, read_bytes
from outlive.stores.memories.journal import is_memory_file
from outlive.stores.memories.marks import Marks
from outlive.stores.memories.names import free_slug, is_slug
from outlive.stores.memories.records import MAX_BYTES, Memory, Scope
from outlive.stores.memories.table import MemoryTable
from outlive.stores.memories.text import parse
from outlive.stores.memories.trust import MemoryTrust
from outlive.stores.tasks.files.watching import FolderWatch, watch

_SETTLING = 100_000_000
"""Nanoseconds. A file changed this recently could change once more without its clock showing it; it is read again."""
_INDEX_VERSION = 1
_MAX_TOKENS = 64 * 1024
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
    def __init__(self, path: Path, scope: Scope, disk: Disk, vouching: MemoryTrust) -> None:
        self.path = path
        self.scope = scope
        self._disk = disk
        self._index = disk.local / "index"
        self._token = disk.local / "tokens"
        self.marks = Marks(disk)
        self.vouching = vouching
        self.table = MemoryTable()
        self.known: dict[str, Known] = {}
        self.damaged: dict[str, StoreError] = {}
        self.overlay: dict[str, bytes | None] = {}
        """Committed but perhaps not yet written: read over the files."""
        self.reread = 0
        self._loaded = False
        self._watch: FolderWatch | None = None
        self._overlaid = False
        """Whether the last scan read a journal over the files; nobody tells when that goes."""
        self._linked: set[str] = set()
        """Files with another name elsewhere, under which they can be changed without the watch noticing."""
        self._there: set[str] = set()
        """Names of the files, as of the last scan and what was written since."""
        self._taken: set[str] | None = None
        """The same as slugs in lower case, made when somebody asks."""

    def scan(self) -> None:
        """Compare every file with what is known, and read those that differ; those that were touched, where the
        kernel tells which."""
        news = self.marks.follow()
        if self.vouching.follow(self._tokens()):
            news = {_slug_of(name) for name in self.known}
        for slug in news:
            self._show(slug)
        touched = self._watch.touched() if self._watch else None
        if touched is not None and not self.overlay and not self._overlaid:
            for name in sorted(touched | self._linked):
                if name in self._there or is_memory_file(name):
                    self._look_again(name)
            return
        if not self._loaded:
            self._loaded = True
            for name, known in sorted(self._load().items()):
                self._hold(name, known)
        elif touched is None:  # not for one look alone
            self._watch = watch(self.path, "archive")
        self._overlaid = bool(self.overlay)
        self.damaged = {}
        there = {*self._names(""), *self._names("archive/"), *(name for name, data in self.overlay.items() if data)}
        if there != self._there:
            self._there, self._taken = there, None
        for name in self.known.keys() - there:
            self._hold(name, None)
        for name in sorted(self._differing(there)):
            self._look_at(name)

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    @property
    def watched(self) -> bool:
        """Whether a scan costs next to nothing."""
        return self._watch is not None

    def refresh(self, slug: str) -> None:
        """Look at the files of one slug, whatever is known of them."""
        if is_slug(slug):
            for name in self._differing((f"{slug}.md", f"archive/{slug}.md")):
                self._look_again(name)

    def take_over(self, files: dict[str, bytes | None]) -> None:
        """Know what we have just written ourselves. It is not trusted yet: the next scan reads it again."""
        now = datetime.now(UTC)
        for name, raw in files.items():
            if raw is None:
                self._hold(name, None)
                self._there.discard(name)
                self._taken = None
            else:
                self._take(name, raw, None, now)
                self._there.add(name)
                if self._taken is not None:
                    self._taken.add(_slug_in(name))

    def vouch(self, memories: Iterable[Memory]) -> None:
        """What is about to be written here is the user's. Only for the holder of the lock."""
        self.vouching.wrote(memories, first=not self._there, keep=self._keep_token)

    def adopt(self) -> None:
        """All that is here is the user's. Only for the holder of the lock."""
        self.vouching.adopt(self._keep_token)

    def use(self, used: dict[str, datetime], gone: set[str]) -> None:
        """Mark memories as used, and forget the marks of those that are gone."""
        self.marks.keep(used, gone)
        for slug in used:
            self._show(slug)

    def state(self) -> tuple[object, ...]:
        """Differs when files came, went or were replaced since; not when one was written in its place."""
        moments = (_moment(self.path / under) for under in ("", "archive", "damaged"))
        return *moments, self.marks.state(), self.vouching.state()

    def free(self, name: str, given: set[str]) -> str:
        """A slug for a new memory that no file has, read or unreadable, in use, forgotten or set apart."""
        if self._taken is None:
            self._taken = {*map(_slug_in, self._there)}
        taken, apart = self._taken, {*map(_slug_in, self._names("damaged/"))}

        def is_taken(slug: str) -> bool:
            files = (self.path / f"{slug}.md", self.path / "archive" / f"{slug}.md")
            return slug in taken or slug in apart or slug in given or any(map(os.path.lexists, files))

        return free_slug(name, is_taken)

    @property
    def worth_saving(self) -> bool:
        return self.reread >= _WORTH_SAVING

    def save(self) -> None:
        """Keep what was read for the next process. Only for the holder of the lock; a full disk is no harm."""
        self.reread = 0
        settled = {name: known for name, known in self.known.items() if known.inode}
        with suppress(OSError):
            self._disk.write(self._index, msgspec.msgpack.encode(_Index(_INDEX_VERSION, settled)), durable=False)

    def _tokens(self) -> str:
        """Of this folder: a link to those of another one, which the user vouches for, has none."""
        if not self.vouching.asked or self._token.parent.is_symlink() or self._token.is_symlink():
            return ""
        try:
            return (read_bytes(self._token, _MAX_TOKENS) or b"").decode()
        except (OSError, UnicodeDecodeError):
            return ""

    def _keep_token(self, token: str) -> None:
        self._disk.write(self._token, f"{self._tokens()}{token}\n".encode(), durable=False)

    def _load(self) -> dict[str, Known]:
        try:
            index = msgspec.msgpack.decode(read_bytes(self._index) or b"", type=_Index)
        except (msgspec.DecodeError, UnusableFile):
            return {}
        return index.files if index.version == _INDEX_VERSION else {}

    def _names(self, under: str) -> Iterable[str]:
        try:
            names = os.listdir(self.path / under)
        except (FileNotFoundError, NotADirectoryError):
            return []
        names = [under + name for name in names] if under else names
        return [name for name in names if name in self.known or under == "damaged/" or is_memory_file(name)]

    def _differing(self, there: Iterable[str]) -> list[str]:
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
                    or found.st_nlink > 1
                ):
                    differing.append(name)
        finally:
            os.close(folder)
        return differing

    def _look_again(self, name: str) -> None:
        """Look at one file by itself, which may have come or gone since the last scan."""
        self._look_at(name)
        here = name in self.known or name in self.damaged
        if here != (name in self._there):
            (self._there.add if here else self._there.discard)(name)
            self._taken = None

    def _look_at(self, name: str) -> None:
        self.damaged.pop(name, None)
        self._linked.discard(name)
        if name in self.overlay:
            raw = self.overlay[name]
            if raw is None:
                self._hold(name, None)
            else:
                self._take(name, raw, None, datetime.now(UTC))
            return
        try:
            self._read(name, self.path / name)
        except FileNotFoundError:
            self._hold(name, None)
        except OSError as error:
            reason = f"{self.path / name}: cannot be read ({error.strerror}); check owner and mode"
            self._set_aside(name, StoreUnavailable(reason))

    def _read(self, name: str, path: Path) -> None:
        self.reread += 1
        try:
            with open_to_read(path, MAX_BYTES) as file:
                tighten(file.fileno())
                found = os.fstat(file.fileno())
                raw = file.read(found.st_size)
        except UnusableFile as error:
            self._set_aside(name, DamagedRecord(str(error)))
            return
        if found.st_nlink > 1:
            self._linked.add(name)
        self._take(name, raw, found, datetime.fromtimestamp(int(found.st_mtime), UTC))

    def _take(self, name: str, raw: bytes, found: os.stat_result | None, written: datetime) -> None:
        slug = _slug_of(name)
        try:
            memory = parse(raw, slug=slug, where=str(self.path / name), written=written)
        except StoreError as error:
            self._set_aside(name, error)
            return
        forgotten = (memory.archived or written) if "/" in name else None
        memory = replace(memory, scope=self.scope, archived=forgotten)  # where it lies decides
        if found and found.st_ctime_ns < time.time_ns() - _SETTLING:
            self._hold(name, Known(memory, found.st_ino, found.st_size, found.st_ctime_ns))
        else:
            self._hold(name, Known(memory, 0, 0, 0))

    def _set_aside(self, name: str, error: StoreError) -> None:
        self._hold(name, None)
        self.damaged[name] = error

    def _hold(self, name: str, known: Known | None) -> None:
        """Know a file so, or no longer. A live memory stands before a forgotten one of its slug."""
        if known is not None:
            self.known[name] = known
        elif self.known.pop(name, None) is None:
            return
        self._show(_slug_of(name))

    def _show(self, slug: str) -> None:
        found = self.known.get(f"{slug}.md") or self.known.get(f"archive/{slug}.md")
        self.table.put(slug, self.vouching.seen(self.marks.marked(found.memory)) if found else None)


def _slug_of(name: str) -> str:
    return name.removeprefix("archive/").removesuffix(".md")


def _slug_in(name: str) -> str:
    return name.rpartition("/")[2].removesuffix(".md").lower()


def _moment(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return 0
