"""Finds files and folders of the project by a few letters of their path, for completion after `@`."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from outlive.tools.files.workspace import files_below

MAX_FILES_SCANNED = 5000  # so that completion keeps up with typing; a larger project is searched in part
KEPT_SECONDS = 10.0
"""Seconds for which a listing of the project is used again."""
_SKIPPED = {"node_modules", "__pycache__", "venv", "dist", "build", "target"}


class FileSearch:
    """The paths of a project, listed when they are first searched."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._listed_at = float("-inf")
        self._paths: dict[str, bool] = {}
        """Path to whether git ignores it; folders end with a slash."""

    def find(self, text: str, most: int) -> list[str]:
        """The best matches: files whose name begins with the text, then contains it, then has its letters in order;
        ignored files last."""
        wanted = text.casefold()
        ranked = (
            (ignored, rank, len(path), path)
            for path, ignored in self._listing().items()
            if (rank := _rank(wanted, path.casefold())) is not None
        )
        return [path for *_, path in sorted(ranked)[:most]]

    def is_ignored(self, path: str) -> bool:
        """Whether git ignores a listed path."""
        return self._listing().get(path, True)

    def _listing(self) -> dict[str, bool]:
        if time.monotonic() - self._listed_at > KEPT_SECONDS:
            files = files_below(self._root, most=MAX_FILES_SCANNED).files
            listed = filter(_is_shown, (os.path.relpath(path, self._root) for path in files))
            plain = dict.fromkeys((name for file in listed for name in (file, *_folders(file))), False)
            self._paths = {**dict.fromkeys(self._others(), True), **plain}
            self._listed_at = time.monotonic()
        return self._paths

    def _others(self) -> Iterator[str]:
        """Files that are there, be they ignored or not."""
        seen = 0
        for folder, folders, files in os.walk(self._root):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
            for name in sorted(files):
                seen += 1
                if seen > MAX_FILES_SCANNED:
                    return
                if not name.startswith("."):
                    yield os.path.relpath(os.path.join(folder, name), self._root)


def _is_shown(file: str) -> bool:
    return not any(part.startswith(".") or part in _SKIPPED for part in file.split("/"))


def _folders(file: str) -> Iterator[str]:
    while "/" in file:
        file = file.rpartition("/")[0]
        yield f"{file}/"


def _rank(wanted: str, path: str) -> int | None:
    """How well a path matches, 0 best; None if it does not."""
    name = path.rstrip("/").rpartition("/")[2]
    if name.startswith(wanted):
        return 0
    if wanted in name:
        return 1
    if wanted in path:
        return 2
    return 3 if _in_order(wanted, name) else 4 if _in_order(wanted, path) else None


def _in_order(letters: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in letters)
