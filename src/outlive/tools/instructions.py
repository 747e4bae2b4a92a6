"""Project instructions: AGENTS.md and CLAUDE.md of the user, of the workspace and its parents up to the git root, and
of folders below once a file there is used. Each is bounded and labelled with its path."""

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from outlive.regular import open_to_read, real_path
from outlive.secrets import find, shown

FILE_NAMES = ("AGENTS.md", "CLAUDE.md")
MAX_FILE_CHARS = 32_000  # about 8,000 tokens: it is in every request
MAX_TOTAL_CHARS = 96_000  # of all files
MAX_BYTES_READ = 1_000_000
"""Bytes of a file that are read at most."""


class Instructions:
    """The instruction files of a workspace, read on demand."""

    def __init__(self, root: Path, home: Path | None = None) -> None:
        self.root = root.resolve()
        self.home = home
        self._nested: dict[Path, tuple[int, int] | None] = {}

    def text(self) -> str:
        """The instructions that always apply, most general first, each under its path; empty without any."""
        texts: list[str] = []
        seen: set[str] = set()
        room = MAX_TOTAL_CHARS
        for path in self._files():
            text, digest = _read(path, room)
            if text and digest not in seen:
                texts.append(f"[instructions from {path}]\n{text}")
                room -= len(text)
            seen.add(digest)
        return "\n\n".join(texts)

    def nested(self, path: str | Path) -> str:
        """Instructions of the folders between the root and `path`, each once a session and again after a change."""
        real = Path(os.path.realpath(self.root / path))
        if not real.is_relative_to(self.root):
            return ""
        below = [folder for folder in reversed(real.parents) if self.root in folder.parents]
        texts = []
        for folder in [*below, real] if real.is_dir() and real != self.root else below:
            for file in _in(folder, self._top()):
                stamp = _stamp(file)
                text = "" if self._nested.get(file) == stamp else _read(file, MAX_TOTAL_CHARS)[0]
                self._nested[file] = stamp
                if text:
                    texts.append(f"[instructions from {file}, for what is below it]\n{text}")
        return "\n\n".join(texts)

    def _files(self) -> Iterator[Path]:
        if self.home is not None:
            yield from _in(self.home, None)
        for folder in reversed(_up_to_git(self.root)):
            yield from _in(folder, self._top())

    def _top(self) -> Path:
        return _up_to_git(self.root)[-1]


def _read(path: Path, room: int) -> tuple[str, str]:
    """The bounded text of a file and its hash."""
    try:
        with open_to_read(real_path(path)) as file:
            raw = file.read(MAX_BYTES_READ)
            unread = os.fstat(file.fileno()).st_size - len(raw)
    except OSError as error:
        return f"(cannot be read: {error.strerror})", ""
    return _cut(raw.decode("utf-8", errors="replace").strip(), room, unread=unread), sha256(raw).hexdigest()


def _cut(text: str, room: int, *, unread: int) -> str:
    limit = max(0, min(MAX_FILE_CHARS, room))
    if len(text) <= limit:
        return text
    omitted = len(text) - limit
    text = shown(text, find(text), 0, limit)
    if unread > 0:
        return f"{text}\n(cut here: the file has {unread + MAX_BYTES_READ:,} bytes; read the file for the rest)"
    return f"{text}\n(cut here: {omitted} of {omitted + limit} characters are left out; read the file for them)"


def _up_to_git(root: Path) -> list[Path]:
    """The root and its parents up to the git root; only the root outside git."""
    folders = [root, *root.parents]
    git = next((at for at, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    return folders[: git + 1]


def _in(folder: Path, top: Path | None) -> Iterator[Path]:
    """The instruction files of a folder, each real file once.

    A project's symlink must stay below `top`; the user's own may point anywhere (`top` is None).
    """
    known: set[Path] = set()
    for path in (folder / name for name in FILE_NAMES):
        real = real_path(path)
        if path.is_file() and real not in known and (top is None or real.is_relative_to(top)):
            known.add(real)
            yield path


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
