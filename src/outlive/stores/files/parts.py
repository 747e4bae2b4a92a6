"""What a file store consists of, as its transactions need it."""

from pathlib import Path

from outlive.stores.files.disk import Disk, read_bytes
from outlive.stores.files.folder import Folder
from outlive.stores.files.history import History
from outlive.stores.files.journal import JournalFile


class Parts:
    def __init__(self, path: Path, *, durable: bool) -> None:
        local = path / ".local"
        self.path = path
        self.disk = Disk(local, durable=durable)
        self.folder = Folder(path, local / "index")
        self.history = History(path / "history.jsonl", self.disk)
        self.journal = JournalFile(path, self.disk)

    def high_water(self) -> int:
        """The largest id ever given out."""
        raw = read_bytes(self.disk.local / "high-water") or b""
        marked = int(raw) if raw.strip().isdigit() else None
        if marked is None:
            # Lost or never written: every id that was ever seen counts.
            archived = self.folder.archived_ids()
            named = [change.task for change in self.history.read()]
            marked = max([0, *archived, *named])
        return max([marked, *self.folder.nodes, *self.folder.damaged])

    def reserve(self, high_water: int) -> None:
        self.disk.write(self.disk.local / "high-water", b"%d\n" % high_water)
