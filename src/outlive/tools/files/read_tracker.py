"""Which version of each file the model has seen, to refuse edits of files that changed since."""

import os
from pathlib import Path


class ReadTracker:
    """The seen versions by real path: a mark (while it is equal, the file need not be hashed) and the SHA-256, which
    is empty for a file that is too large. A version from the log has no mark."""

    def __init__(self) -> None:
        self._seen: dict[Path, tuple[tuple[int, int, int] | None, str]] = {}

    def note(self, path: Path, state: os.stat_result, digest: str) -> None:
        """Record that the model has seen this version."""
        self._seen[path] = _mark(state), digest

    def restore(self, path: Path, digest: str) -> None:
        """Record a version from the log of a resumed session."""
        self._seen.setdefault(path, (None, digest))

    def __contains__(self, path: Path) -> bool:
        return path in self._seen

    def changed(self, path: Path, state: os.stat_result, digest: str) -> bool:
        """Whether the file differs from the seen version; False if it was never seen."""
        if path not in self._seen:
            return False
        mark, seen = self._seen[path]
        return mark != _mark(state) and (not seen or seen != digest)


def _mark(state: os.stat_result) -> tuple[int, int, int]:
    return state.st_ino, state.st_size, state.st_mtime_ns
