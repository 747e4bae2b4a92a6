"""What a session has seen of files, git and processes, and what became of it since.

Seen things go into the log as checkpoints, so that a session resumed on another day knows what it last saw.
"""

import hashlib
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outlive.config.git import head
from outlive.context import history
from outlive.events import Checkpointed, Event
from outlive.regular import read_regular
from outlive.tools.processes.process_table import exists

SEEN = history.SEEN
LARGEST = 32 * 2**20
"""Bytes: larger files are not watched."""
SETTLED = 2 * 10**9
"""Nanoseconds: of a file that was written more recently, the next write might bear the same time."""
NAMED = 12
GONE = "-"
"""Instead of a hash: the file is not there."""


class World:
    """The folder a session works in. Every question costs one look; a file that nobody touched is not read again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._hashes: dict[str, tuple[tuple[int, ...], str]] = {}

    def hash(self, name: str) -> str:
        """SHA-256 of a file, GONE when there is none, nothing when it cannot be told."""
        path = self.folder / name
        try:
            found = path.stat()
            if found.st_size > LARGEST or not stat.S_ISREG(found.st_mode):
                return ""
            mark = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            known = self._hashes.get(name)
            if known is not None and known[0] == mark:
                return known[1]
            began = time.time_ns()
            digest = hashlib.sha256(read_regular(path, LARGEST, follow=True)).hexdigest()
            if began - max(found.st_mtime_ns, found.st_ctime_ns) > SETTLED:
                self._hashes[name] = mark, digest
            return digest
        except (FileNotFoundError, NotADirectoryError):
            return GONE
        except (OSError, ValueError):
            return ""

    def head(self) -> str:
        """The commit that is checked out; nothing outside of git."""
        return head(self.folder)

    def runs(self, process: str) -> bool | None:
        """Whether a process with that number runs; None when the name is no number."""
        if not process.isascii() or not process.isdecimal():
            return None
        return exists(int(process))


@dataclass(slots=True)
class LastSeen:
    """What the log says was seen last."""

    files: dict[str, str] = field(default_factory=dict)
    head: str = ""
    gone: set[str] = field(default_factory=set)
    """Processes whose end was said already."""

    def take(self, event: Event) -> None:
        if isinstance(event, Checkpointed) and event.label == SEEN:
            if isinstance(files := event.data.get("files"), dict):
                self.files.update({str(name): str(digest) for name, digest in files.items()})
            self.head = str(event.data.get("head") or self.head)
            self.gone.update(map(str, event.data.get("gone") or ()))


@dataclass(slots=True)
class Difference:
    """What is no longer as it was seen: sentences for the state block, and the checkpoint that takes note."""

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
    """Look again at all that was seen. `restarted`: what ran under the last process's own names is out of reach.

    `runs` tells of a process whether it runs, better than its number alone can; None where it does not know.
    """
    now = {name: world.hash(name) for name in seen.files}
    moved = {name: found for name, found in now.items() if found and found != seen.files[name]}
    notes = []
    if changed := [name for name, found in moved.items() if found != GONE]:
        notes.append(f"changed on disk since you last saw them, read again before editing: {_named(changed)}")
    if deleted := [name for name, found in moved.items() if found == GONE]:
        notes.append(f"no longer on disk: {_named(deleted)}")
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
        notes.append("no longer running: " + "; ".join(f"{name} ({background[name]})" for name in ended[:NAMED]))
        data["gone"] = ended
    return Difference(notes, data)


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
