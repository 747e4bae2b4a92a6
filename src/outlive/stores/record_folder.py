"""A folder with one file for each record: what the file engines of tasks and memories share.

Files are read once and then only where they changed. A derived index spares a new process that reading; an entry of
it counts only while its file still has the inode, size and change time under which it was read.

Writers take turns under one lock. A change of several files commits by renaming one journal into place; then the
files are written and the journal is set aside. A journal found in place belongs to a writer that died: the next
writer carries it out. Readers never wait: each file is replaced as a whole, and a journal is read over the files.
"""

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

import msgspec

from outlive.errors import DamagedRecord, StoreError, StoreUnavailable
from outlive.private import enter, tighten
from outlive.regular import UnusableFile, open_regular, open_to_read, refuse_irregular
from outlive.stores.disk import (
    Disk,
    FileState,
    append,
    errors_named,
    file_state,
    read_bytes,
    set_apart,
    sync_folder,
)
from outlive.stores.file_index import FileEntry, FileIndex
from outlive.stores.tasks.protocol import Problem

T = TypeVar("T")

_SETTLING_NS = 100_000_000
"""Nanoseconds. The clock of a file system ticks coarsely, so a file changed this recently could change once more
without showing it; it is read again next time."""
_SYNC_ALL_FROM_FILES = 16
"""From this many files on, the whole disk is synced once instead of each file."""


UNKNOWN_STATE = FileState(0, 0, 0)
"""The state of a file that has to be read again at the next scan."""


class Journal(msgspec.Struct, frozen=True):
    """A change: new bytes by file name (None removes a file), and the lines it adds to the log."""

    files: dict[str, bytes | None]
    lines: bytes = b""
    offset: int = 0
    """Size of the log before the change."""

    def encode(self) -> bytes:
        return msgspec.msgpack.encode(self)


E = TypeVar("E", bound=FileEntry)


class RecordFolder(ABC, Generic[E]):
    """See the module. Subclasses define which files are records, how to parse one, and what is derived from an
    entry."""

    folders: ClassVar[tuple[str, ...]] = ("",)
    """Folders that a scan covers."""
    largest: ClassVar[int]
    """Largest file in bytes."""
    repair: ClassVar[str]
    """The code of errors and problems that a repair sets right."""

    def __init__(self, path: Path, entry: type[E], *, durable: bool) -> None:
        enter(path)
        self.path = path
        self.log = path / "history.jsonl"
        self.disk = Disk(path / ".local", durable=durable)
        self.journal_path = self.disk.local / "journal"
        self.entries: dict[str, E] = {}
        self.damaged: dict[str, StoreError] = {}
        """Unreadable files, by name."""
        self.overlay: dict[str, bytes | None] = {}
        """Files of a committed journal, read instead of those on disk until it is carried out."""
        self.journal_error: DamagedRecord | None = None
        self.reread = 0
        """Files that the last scan had to read."""
        self._journal_done = self.disk.local / "journal.done"
        self._index = FileIndex(self.disk, entry)

    @abstractmethod
    def is_record(self, name: str) -> bool:
        """Whether a name, relative to the folder, is a record's."""

    @abstractmethod
    def parse(self, name: str, raw: bytes, state: FileState, written: datetime) -> E:
        """The entry of a file. Raises StoreError if it cannot be parsed. `written` dates a record without a date."""

    @abstractmethod
    def changed(self, name: str, old: E | None, new: E | None) -> None:
        """Update derived data: the entry of `name` changed from `old` to `new`."""

    def loaded(self) -> None:
        """Derive everything from the entries that were just loaded from the index."""
        for name, entry in self.entries.items():
            self.changed(name, None, entry)

    # -- reading ---------------------------------------------------------------------------------------

    def scan(self) -> None:
        """Compare every file with what is known and read those that differ."""
        if not self.entries:
            self.entries = {entry.name: entry for entry in self._index.load()}
            self.loaded()
        self.reread = 0
        there, differing = self._compare()
        self.damaged = {}
        for name in self.entries.keys() - there:
            self._drop(name)
        for name in sorted({*differing, *filter(self._is_scanned, self.overlay)}):
            self._load(name)

    def check(self, names: Iterable[str]) -> None:
        """The same for these files only."""
        for name in names:
            state = UNKNOWN_STATE if name in self.overlay else file_state(self.path / name)
            entry = self.entries.get(name)
            if state is None:
                self._drop(name)
            elif entry is None or entry.state != state:
                self._load(name)

    def read(self, name: str) -> E | None:
        """Read one file, from the journal if it is in there; None if it does not exist. Raises StoreError if it is
        damaged."""
        path = self.path / name
        state, written = UNKNOWN_STATE, time.time()
        if name in self.overlay:
            raw = self.overlay[name]
            if raw is None:
                return None
        else:
            try:
                with open_to_read(path, self.largest) as file:
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
            written = found.st_mtime
            if found.st_ctime_ns < time.time_ns() - _SETTLING_NS:
                state = FileState.of(found)
        return self.parse(name, raw, state, datetime.fromtimestamp(int(written), UTC))

    def put(self, entry: E) -> None:
        """Remember this entry as the current state of its file."""
        old = self.entries.get(entry.name)
        self.entries[entry.name] = entry
        self.changed(entry.name, old, entry)

    def consistent(self, look: Callable[[], T], again: Callable[[], object] = bool) -> T:
        """The result of `look` while no change of several files was committed; `again` is called between attempts."""
        for _ in range(3):
            before = self.journal_state()
            result = look()
            if self.journal_state() == before:
                return result
            again()
        # Writers leave no moment in between, so take turns with them for once. Where no lock can be had, on a disk
        # that may only be read, there is no better look than the last one.
        with suppress(StoreUnavailable), self.locked():
            result = look()
        return result

    def problems(self) -> list[Problem]:
        """Problems beside the records: an unreadable journal, and files with our names that are not regular."""
        found = self.journal_problems()
        for odd in self.disk.irregular(self.log):
            if odd.filename != str(self.journal_path):
                remedy = "move it aside, or repair it, which does that"
                what = odd.strerror.partition(";")[0]
                found.append(Problem(odd.filename, what, remedy, repairable=True, code=self.repair))
        return found

    def journal_problems(self) -> list[Problem]:
        if self.journal_error is None:
            return []
        what = f"nothing can be written while this is there: {self.journal_error}"
        remedy = "look at it and keep a copy, then repair it: it is set apart, without its change"
        return [Problem(str(self.journal_path), what, remedy, repairable=True, code=self.repair)]

    # -- writing, under the lock -----------------------------------------------------------------------

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the writers' lock; creates the folder if needed."""
        with ExitStack() as stack:
            with errors_named("cannot write to", self.path):
                self.disk.set_up()
                stack.enter_context(self.disk.lock())
            yield

    def commit(self, files: dict[str, bytes | None], lines: bytes) -> None:
        """Put a journal in place: the commit point of a change."""
        staged = self.disk.staged("memory")
        try:
            refuse_irregular(self.log)
            offset = self.log.stat().st_size if self.log.exists() else 0
            self.disk.stage(staged, Journal(files, lines, offset).encode())
            self.disk.commit(staged, self.journal_path)
        except OSError:
            staged.unlink(missing_ok=True)
            raise

    def read_journal(self) -> Journal | None:
        """Load the journal that is still to be carried out, and read its files instead of those on disk. If it cannot
        be read, the error is kept as `journal_error`."""
        self.journal_error, journal = None, None
        try:
            journal = self._load_journal()
        except DamagedRecord as error:
            self.journal_error = error
        self.overlay = journal.files if journal else {}
        return journal

    def carry_out(self) -> None:
        """Write the files of a committed journal. Doing it twice does no harm."""
        journal = self._load_journal()
        if journal is None:
            return
        durable, many = self.disk.durable, len(journal.files) >= _SYNC_ALL_FROM_FILES
        for name, data in journal.files.items():
            if data is not None:
                target = self.path / name
                target.parent.mkdir(mode=0o700, exist_ok=True)
                self.disk.stage(self.disk.scratch, data, durable=durable and not many)
                self.disk.scratch.replace(target)
        for name, data in journal.files.items():
            if data is None:
                (self.path / name).unlink(missing_ok=True)
        if journal.lines:
            self._append(journal)
        if durable and many:
            os.sync()
        elif durable:
            folders = {(self.path / name).parent for name in journal.files} | {self.path}
            for folder in sorted(folders, reverse=True):
                sync_folder(folder)
        self._journal_done.unlink(missing_ok=True)  # replacing it would wait for bytes that are not needed
        self.journal_path.rename(self._journal_done)

    def journal_state(self) -> object:
        """A value that changes whenever a change of several files begins or ends."""
        return file_state(self.journal_path), file_state(self._journal_done)

    def save_index(self, *, locked: bool = False) -> None:
        """Write the index if the last scan had to read more than a few files."""
        if self.reread <= max(32, len(self.entries) // 50):
            return
        self.reread = 0
        with suppress(OSError, StoreUnavailable):
            if locked:
                self._index.write(self.entries.values())
            elif self.disk.local.is_dir():
                with self.disk.lock(wait=False) as mine:
                    if mine:
                        self._index.write(self.entries.values())

    def repair_files(self) -> list[str]:
        """Quarantine files that are not regular; carry out the journal or quarantine it. Returns what was done."""
        done = []
        for odd in self.disk.irregular(self.log):
            source = Path(odd.filename)
            done.append(f"set {source.relative_to(self.path)} apart as {self.set_apart(source)}")
        try:
            self.carry_out()
        except DamagedRecord:
            done.append(f"set the journal apart as {self.set_apart(self.journal_path)}")
        return done

    def set_apart(self, source: Path) -> Path:
        """Move a file into `damaged/`; returns its new path relative to the folder."""
        return set_apart(source, self.path / "damaged").relative_to(self.path)

    # -- inside ----------------------------------------------------------------------------------------

    def _is_scanned(self, name: str) -> bool:
        return name.rpartition("/")[0] in self.folders

    def _compare(self) -> tuple[set[str], list[str]]:
        """Names of all files, and of the records among them that differ from what is known.

        Looking at every file dominates the cost of a scan, so the loop is written for speed.
        """
        try:
            folder = os.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return set(), []
        look, known, is_record = os.stat, self.entries.get, self.is_record
        differing: list[str] = []
        try:
            names = self._listing(folder)
            present = set(names)
            for name in names:
                entry = known(name)
                if entry is None and not is_record(name):
                    continue
                try:
                    found = look(name, dir_fd=folder, follow_symlinks=False)
                except FileNotFoundError:
                    present.discard(name)
                    continue
                if (
                    entry is None
                    or entry.changed != found.st_ctime_ns
                    or entry.size != found.st_size
                    or entry.inode != found.st_ino
                ):
                    differing.append(name)
        finally:
            os.close(folder)
        return present, differing

    def _listing(self, folder: int) -> list[str]:
        names: list[str] = []
        for below in self.folders:
            if not below:
                names += os.listdir(folder)
                continue
            with suppress(FileNotFoundError, NotADirectoryError):
                names += [f"{below}/{name}" for name in os.listdir(self.path / below)]
        return names

    def _load(self, name: str) -> None:
        self.damaged.pop(name, None)
        self.reread += 1
        try:
            entry = self.read(name)
        except StoreError as error:
            self._drop(name)
            self.damaged[name] = error
            return
        if entry is None:
            self._drop(name)
        else:
            self.put(entry)

    def _drop(self, name: str) -> None:
        self.damaged.pop(name, None)
        if old := self.entries.pop(name, None):
            self.changed(name, old, None)

    def _load_journal(self) -> Journal | None:
        try:
            raw = read_bytes(self.journal_path)
            if raw is None:
                return None
            journal = msgspec.msgpack.decode(raw, type=Journal)
            for name in journal.files:
                if not self.is_record(name):
                    raise ValueError(f"it names {name!r}, which is not a record")
        except (msgspec.DecodeError, ValueError, RecursionError, UnusableFile) as error:
            reason = error.strerror if isinstance(error, UnusableFile) else error
            raise DamagedRecord(
                f"{self.journal_path}: the journal of a change cannot be read ({reason})",
                hint="a repair sets it apart",
                code=self.repair,
            ) from None
        return journal

    def _append(self, journal: Journal) -> None:
        """Append the lines to the log once: a part that a dead writer wrote before is overwritten."""
        descriptor = open_regular(self.log, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            written = os.pread(descriptor, len(journal.lines) + 1, journal.offset)
            if written.startswith(journal.lines):
                return
            if journal.lines.startswith(written):
                os.ftruncate(descriptor, os.fstat(descriptor).st_size - len(written))
            append(descriptor, journal.lines, durable=self.disk.durable)
        finally:
            os.close(descriptor)
