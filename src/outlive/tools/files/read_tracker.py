"""Which version of each file the model has seen, to refuse edits of files that changed since."""

import os
from pathlib import Path

from msgspec import Struct

Mark = tuple[int, int, int]


class FileVersion(Struct, frozen=True):
    """A file as the model saw it. While the mark is equal, the file is unchanged and need not be hashed."""

    mark: Mark | None
    digest: str
    """SHA-256 of the file; empty if it is too large."""


class ReadTracker:
    """Files by real path."""

    def __init__(self) -> None:
        self._looks: dict[Path, FileVersion] = {}

    def note(self, path: Path, state: os.stat_result, digest: str) -> None:
        """Record that the model has seen this version."""
        self._looks[path] = FileVersion(_mark(state), digest)

    def restore(self, path: Path, digest: str) -> None:
        """Record a version from the log of a resumed session."""
        self._looks.setdefault(path, FileVersion(None, digest))

    def __contains__(self, path: Path) -> bool:
        return path in self._looks

    def changed(self, path: Path, state: os.stat_result, digest: str) -> bool:
        """Whether the file differs from the seen version; False if it was never seen."""
        look = self._looks.get(path)
        if look is None or look.mark == _mark(state):
            return False
        return not look.digest or look.digest != digest


def _mark(state: os.stat_result) -> Mark:
    return (state.st_ino, state.st_size, state.st_mtime_ns)
