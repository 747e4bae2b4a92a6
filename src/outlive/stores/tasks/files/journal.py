"""The commit point of a change of more than one file.

All new files go into one journal; putting it in place commits the change. Then the files are written and the
journal is set aside. A journal found in place belongs to a writer that died: whoever comes next carries it out.
Readers do not wait for that, they read the journal over the files.
"""

from pathlib import Path

import msgspec

from outlive.errors import DamagedRecord
from outlive.regular import UnusableFile
from outlive.stores.disk import Disk, identity, read_bytes, sync_folder
from outlive.stores.tasks.files.names import task_number


class Journal(msgspec.Struct, frozen=True):
    """File names, relative to the task folder, to their new bytes; None removes the file."""

    files: dict[str, bytes | None]

    def encode(self) -> bytes:
        return msgspec.msgpack.encode(self)


class TaskJournalFile:
    def __init__(self, folder: Path, disk: Disk) -> None:
        self._folder = folder
        self._disk = disk
        self.path = disk.local / "journal"
        self._done = disk.local / "journal.done"

    def commit(self, staged: Path) -> None:
        self._disk.commit(staged, self.path)

    def load(self) -> Journal | None:
        try:
            raw = read_bytes(self.path)
            if raw is None:
                return None
            journal = msgspec.msgpack.decode(raw, type=Journal)
            for name in journal.files:
                if task_number(name.removeprefix("archive/")) is None:
                    raise ValueError(f"it names {name!r}, which is not a task file")
            return journal
        except (msgspec.DecodeError, ValueError, UnusableFile) as error:
            reason = error.strerror if isinstance(error, UnusableFile) else error
            raise DamagedRecord(
                f"{self.path}: the journal of a change cannot be read ({reason})",
                hint="`outlive task doctor` can set it apart",
                code="repair",
            ) from None

    def carry_out(self) -> bool:
        """Bring the files up to what a committed journal says. Doing it twice does no harm."""
        journal = self.load()
        if journal is None:
            return False
        for name, data in journal.files.items():
            if data is not None:
                self._disk.write(self._folder / name, data)
        for name, data in journal.files.items():
            if data is None:
                (self._folder / name).unlink(missing_ok=True)
        if self._disk.durable:
            sync_folder(self._folder)
        self.path.replace(self._done)
        return True

    def state(self) -> tuple[object, ...]:
        """Differs whenever a change of several files was begun or ended in between."""
        return identity(self.path), identity(self._done)
