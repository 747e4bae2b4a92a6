"""The commit point of a change of memories: one journal with the new files and the line of the change log.

Putting the journal in place commits the change. Then the files are written, the line is appended, and the journal is
set aside. One that is found in place belongs to a writer that died: whoever comes next carries it out, and readers
read it over the files.
"""

import os
from pathlib import Path

import msgspec

from outlive.errors import DamagedRecord
from outlive.regular import UnusableFile, open_regular, refuse_irregular
from outlive.stores.disk import Disk, identity, read_bytes, sync_folder
from outlive.stores.memories.names import is_slug

_MANY = 16
"""From so many files on, the whole disk is synced once instead of each of them."""


class MemoryJournal(msgspec.Struct, frozen=True):
    """File names, relative to the memory folder, to their new bytes (None removes one), and the log's new end."""

    files: dict[str, bytes | None]
    lines: bytes
    offset: int
    """Size of the log before."""


class MemoryJournalFile:
    def __init__(self, folder: Path, disk: Disk) -> None:
        self._folder = folder
        self._disk = disk
        self.log = folder / "history.jsonl"
        self.path = disk.local / "journal"
        self._done = disk.local / "journal.done"

    def commit(self, files: dict[str, bytes | None], lines: bytes, *, durable: bool) -> None:
        """After this the change has happened, whatever becomes of us."""
        staged = self._disk.staged("memory")
        try:
            refuse_irregular(self.log)  # before the change has happened
            offset = self.log.stat().st_size if self.log.exists() else 0
            self._disk.stage(staged, msgspec.msgpack.encode(MemoryJournal(files, lines, offset)), durable=durable)
            self._disk.commit(staged, self.path, durable=durable)
        except OSError:
            staged.unlink(missing_ok=True)
            raise

    def load(self) -> MemoryJournal | None:
        try:
            raw = read_bytes(self.path)
            if raw is None:
                return None
            journal = msgspec.msgpack.decode(raw, type=MemoryJournal)
            for name in journal.files:
                if not is_memory_file(name):
                    raise ValueError(f"it names {name!r}, which is not a memory")
        except (msgspec.DecodeError, ValueError, UnusableFile) as error:
            reason = error.strerror if isinstance(error, UnusableFile) else error
            raise DamagedRecord(
                f"{self.path}: the journal of a change cannot be read ({reason})",
                hint="`outlive memory doctor` can set it apart",
                code="repair",
            ) from None
        return journal

    def carry_out(self, *, durable: bool = True) -> bool:
        """Bring the files up to what a committed journal says. Doing it twice does no harm."""
        journal = self.load()
        if journal is None:
            return False
        durable = durable and self._disk.durable
        many = len(journal.files) >= _MANY
        for name, data in journal.files.items():
            target = self._folder / name
            if data is not None:
                target.parent.mkdir(mode=0o700, exist_ok=True)
                self._disk.stage(self._disk.scratch, data, durable=durable and not many)
                self._disk.scratch.replace(target)
        for name, data in journal.files.items():
            if data is None:
                (self._folder / name).unlink(missing_ok=True)
        self._append(journal, durable=durable)
        if durable and many:
            os.sync()
        elif durable:
            for folder in {(self._folder / name).parent for name in journal.files} | {self._folder}:
                sync_folder(folder)
        self._done.unlink(missing_ok=True)  # replacing it would wait for bytes that nobody needs
        self.path.rename(self._done)
        return True

    @property
    def pending(self) -> bool:
        """Whether a committed change still has to be carried out."""
        return self.path.exists()

    def state(self) -> tuple[object, ...]:
        """Differs whenever a change was begun or ended in between."""
        return identity(self.path), identity(self._done)

    def _append(self, journal: MemoryJournal, *, durable: bool) -> None:
        """The end of the log, once: an end of it that was written before the writer died is written over."""
        if not journal.lines:
            return
        with open(open_regular(self.log, os.O_RDWR | os.O_APPEND | os.O_CREAT), "ab+") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(min(journal.offset, size))
            there = file.read(len(journal.lines) + 1)
            if there.startswith(journal.lines):
                return
            if journal.lines.startswith(there):
                size -= len(there)
                file.truncate(size)
            if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                file.write(b"\n")  # somebody else's unfinished line; it stays
            file.write(journal.lines)
            file.flush()
            if durable:
                os.fsync(file.fileno())


def is_memory_file(name: str) -> bool:
    """Whether a name, relative to the folder, is that of a memory, live or archived."""
    bare = name.removeprefix("archive/")
    return bare.endswith(".md") and is_slug(bare.removesuffix(".md"))
