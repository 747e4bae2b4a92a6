"""Input history of a project, in `.outlive/history`, readable by its owner only."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec
from prompt_toolkit.history import History

from outlive.errors import StoreUnavailable
from outlive.private import enter
from outlive.regular import MIB, open_regular, open_to_read
from outlive.secrets import mask

MAX_ENTRY_CHARS = 100_000
"""Characters of one entry; longer ones are kept for this session only."""
MAX_ENTRIES = 2000  # newest ones; older ones stay in the file
MAX_BYTES_READ = 4 * MIB
"""Bytes of the file that are read, from its end."""


class ProjectHistory(History):
    """One JSON string a line. A file that is a link or cannot be written is left alone."""

    def __init__(self, folder: Path, mask: Callable[[str], str] = mask) -> None:
        super().__init__()
        self.path = folder / "history"
        self._mask = mask

    def load_history_strings(self) -> Iterable[str]:
        """The newest first, as prompt_toolkit wants it."""
        try:
            enter(self.path.parent)
            with open_to_read(self.path) as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - MAX_BYTES_READ))
                lines = file.read(MAX_BYTES_READ).splitlines()[-MAX_ENTRIES:]
        except (OSError, StoreUnavailable):
            return
        for line in reversed(lines):
            try:
                yield msgspec.json.decode(line, type=str)
            except (msgspec.DecodeError, RecursionError):
                continue

    def store_string(self, string: str) -> None:
        if len(string) > MAX_ENTRY_CHARS:
            return
        line = msgspec.json.encode(self._mask(string).encode("utf-8", "replace").decode()) + b"\n"
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            enter(self.path.parent)
            self._keep_out_of_git()
            file = open_regular(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            try:
                os.fchmod(file, 0o600)
                os.write(file, line)
            finally:
                os.close(file)
        except (OSError, StoreUnavailable):
            return

    def _keep_out_of_git(self) -> None:
        ignore = self.path.parent / ".gitignore"
        with suppress(FileExistsError), ignore.open("x", encoding="utf-8") as file:
            file.write("history\n.gitignore\n")
