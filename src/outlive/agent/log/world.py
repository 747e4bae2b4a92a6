"""What a session has seen of files, git and processes, and what changed since.

Observations are written to the log as checkpoints, so a session resumed later knows what it last saw.
"""

import hashlib
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outlive.config.git import head
from outlive.context.log import history
from outlive.events import Checkpointed, Event
from outlive.printable import some
from outlive.regular import read_regular
from outlive.tools.processes.process_table import exists

SEEN = history.SEEN
MAX_WATCHED_BYTES = 32 * 2**20
"""Larger files are not watched."""
SETTLED_AFTER_NS = 2 * 10**9
"""A file written more recently than this may change again with the same timestamp."""
MISSING_HASH = "-"
"""Takes the place of a hash if the file does not exist."""


class World:
    """The folder a session works in. Reads a file again only if its metadata changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._hashes: dict[str, tuple[tuple[int, ...], str]] = {}

    def hash(self, name: str) -> str:
        """SHA-256 of a file, MISSING_HASH if it does not exist, an empty text if it cannot be read."""
        path = self.folder / name
        try:
            found = path.stat()
            if found.st_size > MAX_WATCHED_BYTES or not stat.S_ISREG(found.st_mode):
                return ""
            mark = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            known = self._hashes.get(name)
            if known is not None and known[0] == mark:
                return known[1]
            began = time.time_ns()
            digest = hashlib.sha256(read_regular(path, MAX_WATCHED_BYTES, follow=True)).hexdigest()
            if began - max(found.st_mtime_ns, found.st_ctime_ns) > SETTLED_AFTER_NS:
                self._hashes[name] = mark, digest
            return digest
        except (FileNotFoundError, NotADirectoryError):
            return MISSING_HASH
        except (OSError, ValueError):
            return ""

    def head(self) -> str:
        """The commit that is checked out; empty outside of git."""
        return head(self.folder)

    def runs(self, process: str) -> bool | None:
        """Whether a process with that number runs; None if the name is not a number."""
        if not process.isascii() or not process.isdecimal():
            return None
        return exists(int(process))


@dataclass(slots=True)
class LastSeen:
    """The last observations in the log."""

    files: dict[str, str] = field(default_factory=dict)
    head: str = ""
    gone: set[str] = field(default_factory=set)
    """Processes whose end was reported already."""

    def take(self, event: Event) -> None:
        if isinstance(event, Checkpointed) and event.label == SEEN:
            if isinstance(files := event.data.get("files"), dict):
                self.files.update({str(name): str(digest) for name, digest in files.items()})
            self.head = str(event.data.get("head") or self.head)
            self.gone.update(map(str, event.data.get("gone") or ()))


@dataclass(slots=True)
class Difference:
    """Changes since the last observation: sentences for the state block, and the checkpoint that records them."""

    notes: list[str]
    data: dict[str, Any]


def compare(
    world: World,
    seen: LastSeen,
    background: Mapping[str, str],
    runs: Callable[[str], bool | None] = lambda _: None,
    *,
    restarted: bool,
) -> Difference:
    """Compare the world with the last observations.

    `restarted`: background commands of the last process cannot be reached by name. `runs` tells whether a process
    runs, more reliably than its number; None if it does not know.
    """
    now = {name: world.hash(name) for name in seen.files}
    moved = {name: found for name, found in now.items() if found and found != seen.files[name]}
    notes = []
    if changed := [name for name, found in moved.items() if found != MISSING_HASH]:
        notes.append(f"changed on disk since you last saw them, read again before editing: {some(changed)}")
    if deleted := [name for name, found in moved.items() if found == MISSING_HASH]:
        notes.append(f"no longer on disk: {some(deleted)}")
    data: dict[str, Any] = {"files": moved} if moved else {}
    head = world.head() if seen.head else ""
    if head and head != seen.head:
        notes.append(f"git HEAD moved from {seen.head[:12]} to {head[:12]}")
        data["head"] = head
    ended = []
    for name in (name for name in background if name not in seen.gone):
        running = runs(name)
        running = world.runs(name) if running is None else running
        if running is False or (running is None and restarted):
            ended.append(name)
    if ended:
        notes.append(f"no longer running: {some([f'{name} ({background[name]})' for name in ended])}")
        data["gone"] = ended
    return Difference(notes, data)
