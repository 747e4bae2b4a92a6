"""The folder of the memories: its entries, the table derived from them, and which memories are the user's."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from outlive.stores.disk import FileState, read_bytes
from outlive.stores.file_index import FileEntry
from outlive.stores.memories.names import is_slug
from outlive.stores.memories.protocol import REPAIR
from outlive.stores.memories.records import MAX_MEMORY_BYTES, Memory, Scope
from outlive.stores.memories.table import MemoryTable
from outlive.stores.memories.text import parse
from outlive.stores.memories.trust import MemoryTrust
from outlive.stores.record_folder import RecordFolder

_MAX_TOKEN_FILE_BYTES = 64 * 1024
"""Bytes of the file with the tokens."""


class MemoryEntry(FileEntry, frozen=True):
    memory: Memory


class MemoryFolder(RecordFolder[MemoryEntry]):
    """Live memories, and forgotten ones in `archive/`."""

    folders = ("", "archive")
    largest = MAX_MEMORY_BYTES
    repair = REPAIR

    def __init__(self, path: Path, scope: Scope, trust: MemoryTrust, *, durable: bool) -> None:
        super().__init__(path, MemoryEntry, durable=durable)
        self.table = MemoryTable()
        self.trust = trust
        self._scope = scope
        self._token_path = self.disk.local / "tokens"

    def is_record(self, name: str) -> bool:
        bare = name.removeprefix("archive/")
        return bare.endswith(".md") and is_slug(bare.removesuffix(".md"))

    def parse(self, name: str, raw: bytes, state: FileState, written: datetime) -> MemoryEntry:
        memory = parse(raw, slug=_slug_of(name), where=str(self.path / name), written=written)
        forgotten = (memory.archived or written) if "/" in name else None
        return MemoryEntry(name, *state, replace(memory, scope=self._scope, archived=forgotten))  # its place decides

    def changed(self, name: str, old: MemoryEntry | None, new: MemoryEntry | None) -> None:
        self._show(_slug_of(name))

    def scan(self) -> None:
        if self.trust.follow(self._tokens()):
            for slug in {*map(_slug_of, self.entries)}:
                self._show(slug)
        super().scan()

    def refresh(self, slug: str) -> None:
        """Look at the files of one memory."""
        if is_slug(slug):
            self.check((f"{slug}.md", f"archive/{slug}.md"))

    def take_over(self, files: dict[str, bytes | None]) -> None:
        """Take over entries that were just written here. The next scan reads them again."""
        self.overlay = files
        for name in files:
            self._load(name)
        self.overlay, self.reread = {}, 0

    def state(self) -> object:
        """Changes when files were added, removed or replaced; not when one was written in place."""
        moments = [_moment(self.path / below) for below in ("", "archive", "damaged")]
        return moments, self.trust.state()

    def slug_taken(self) -> Callable[[str], bool]:
        """A function that tells whether a slug is taken by any file: readable or not, live, forgotten or
        quarantined."""

        @cache
        def known() -> set[str]:
            names = [*self.entries, *self.damaged]
            with suppress(FileNotFoundError, NotADirectoryError):
                names += os.listdir(self.path / "damaged")
            return {_slug_of(name).lower() for name in names}

        places = (self.path, self.path / "archive")
        return lambda slug: slug in known() or any(os.path.lexists(place / f"{slug}.md") for place in places)

    # -- whose they are --------------------------------------------------------------------------------

    def trust_written(self, memories: Iterable[Memory]) -> None:
        """Record that the memories about to be written are the user's. Only for the holder of the lock."""
        self.trust.wrote(memories, first=not self.entries and not self.damaged, keep=self._keep_token)

    def adopt(self) -> None:
        """Record that everything here is the user's. Only for the holder of the lock."""
        self.trust.adopt(self._keep_token)

    def _tokens(self) -> str:
        """The tokens of this folder; none if the file is a link to another folder's."""
        if not self.trust.asked or self._token_path.parent.is_symlink() or self._token_path.is_symlink():
            return ""
        try:
            return (read_bytes(self._token_path, _MAX_TOKEN_FILE_BYTES) or b"").decode()
        except (OSError, UnicodeDecodeError):
            return ""

    def _keep_token(self, token: str) -> None:
        self.disk.write(self._token_path, f"{self._tokens()}{token}\n".encode(), durable=False)

    def _show(self, slug: str) -> None:
        """Update the table. A live memory wins over a forgotten one with its slug."""
        found = self.entries.get(f"{slug}.md") or self.entries.get(f"archive/{slug}.md")
        self.table.put(slug, self.trust.seen(found.memory) if found else None)


def _slug_of(name: str) -> str:
    return name.rpartition("/")[2].removesuffix(".md")


def _moment(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return 0
