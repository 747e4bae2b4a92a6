"""What a file store consists of, as its transactions need it."""

from pathlib import Path

from outlive.regular import UnusableFile
from outlive.stores.disk import Disk, read_bytes
from outlive.stores.tasks.files.folder import Folder
from outlive.stores.tasks.files.history import History
from outlive.stores.tasks.files.journal import TaskJournalFile
from outlive.stores.tasks.records import highest_id, wrong_mark

_MARK = ".local/high-water"
_LONGEST = 64
"""Bytes of that file."""


class TaskFolderParts:
    def __init__(self, path: Path, *, durable: bool) -> None:
        local = path / ".local"
        self.path = path
        self.disk = Disk(local, durable=durable)
        self.folder = Folder(path, local / "index")
        self.history = History(path / "history.jsonl", self.disk)
        self.journal = TaskJournalFile(path, self.disk)

    def high_water(self) -> int:
        """The largest id ever given out."""
        mark = self.mark()
        if mark is None or self.wrong_mark() is not None:
            return highest_id(self._seen())
        return highest_id((*self.folder.nodes, *self.folder.damaged), mark)

    def mark(self) -> int | None:
        """What the file of the mark says; None where it is lost, for it is derived."""
        try:
            raw = read_bytes(self.mark_path, _LONGEST) or b""
        except UnusableFile:
            return None
        return int(raw) if raw.strip().isdigit() else None

    def wrong_mark(self) -> str | None:
        mark = self.mark()
        return None if mark is None else wrong_mark(mark, lambda: max(self._seen(), default=0))

    @property
    def mark_path(self) -> Path:
        return self.path / _MARK

    def reserve(self, high_water: int) -> None:
        self.disk.write(self.mark_path, b"%d\n" % high_water)

    def _seen(self) -> set[int]:
        """Every id that a file, the archive or the audit trail speaks of."""
        named = (change.task for change in self.history.read())
        return {*self.folder.nodes, *self.folder.damaged, *self.folder.archived_ids(), *named}
