"""Which files the model has seen, and as what: an edit of a file that changed since then is refused."""

import os
from pathlib import Path

from msgspec import Struct

Mark = tuple[int, int, int]


class FileVersion(Struct, frozen=True):
    """A file as it was seen. While its mark is the same it need not be read to know that it is."""

    mark: Mark | None
    digest: str
    """SHA-256 of all of it; empty when the file is too large to be hashed."""


class ReadTracker:
    """Files by real path."""

    def __init__(self) -> None:
        self._looks: dict[Path, FileVersion] = {}

    def note(self, path: Path, state: os.stat_result, digest: str) -> None:
        """The model knows this file as it is now."""
        self._looks[path] = FileVersion(_mark(state), digest)

    def restore(self, path: Path, digest: str) -> None:
        """What an earlier life of the session had seen, from its log."""
        self._looks.setdefault(path, FileVersion(None, digest))

    def __contains__(self, path: Path) -> bool:
        return path in self._looks

    def changed(self, path: Path, state: os.stat_result, digest: str) -> bool:
        """Whether the file is another than the one that was seen; a file never seen is not."""
        look = self._looks.get(path)
        if look is None or look.mark == _mark(state):
            return False
        return not look.digest or look.digest != digest


def _mark(state: os.stat_result) -> Mark:
    return (state.st_ino, state.st_size, state.st_mtime_ns)
