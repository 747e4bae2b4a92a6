"""Memories as files: `.memory/<slug>.md`, forgotten ones in `archive/`, the change log in `history.jsonl`.

`stores/record_folder.py` says how changes are committed and files are read. `MEMORY.md` is derived; `outlive.memory`
decides what is in it.
"""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from outlive.errors import DamagedRecord
from outlive.regular import MIB, UnusableFile, open_to_read
from outlive.stores.clock import machine_time
from outlive.stores.disk import errors_named, file_state, last_lines, read_bytes, set_apart
from outlive.stores.memories.folder import MemoryFolder
from outlive.stores.memories.protocol import MemoryReader, MemoryWriter, unread
from outlive.stores.memories.records import MemoryStep, Scope, decode_step, encode_step
from outlive.stores.memories.table import ReadView, WriteView
from outlive.stores.memories.text import render
from outlive.stores.memories.trust import MemoryTrust
from outlive.stores.tasks.protocol import Problem

T = TypeVar("T")

INDEX = "MEMORY.md"
_NO_INDEX = b"\0"
"""The content that a MEMORY.md counts as that we cannot have written: a pipe, a device, gigabytes."""
_INDEX_LINE = re.compile(rb"- \[.*\]\(.*\.md\) \xe2\x80\x94 .*|- \xe2\x80\xa6 \d+ more.*|\s*")
"""An index with other lines was written by someone else and is moved to the archive when ours replaces it."""
_MAX_LINE_BYTES = 128 * MIB
"""Bytes of a line of the change log that are searched for its id."""
_STEP = re.compile(rb'\{"id":(\d+),"at":')


class FileMemoryStore:
    """See the module. `home` knows which memories are the user's (`trust.py`); `clock` is there for tests."""

    def __init__(
        self,
        path: Path,
        *,
        scope: Scope = "project",
        durability: str = "full",
        home: Path | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self.path = path
        self.url = f"files:{path}"
        self.clock = clock or machine_time
        self.folder = MemoryFolder(path, scope, MemoryTrust(home, self.url), durable=durability == "full")
        self._mutex = threading.RLock()
        self._seen: tuple[object, ...] | None = None
        """The state of the folder at the last scan, or after our own last write."""

    def read(self, work: Callable[[MemoryReader], T], *, glance: bool = False) -> T:
        with self._mutex, errors_named("cannot read", self.path):
            result = self.folder.consistent(lambda: self._look(work, glance=glance))
            self.folder.save_index()
            return result

    def write(self, work: Callable[[MemoryWriter], T]) -> T:
        with self._mutex, self.folder.locked():
            with errors_named("cannot write to", self.path):
                self._recover()
            draft = WriteView(
                self.folder.table,
                self.steps,
                self.folder.refresh,
                now=self.clock(),
                last=self._last_id,
                taken=self.folder.slug_taken(),
            )
            result = work(draft)
            with errors_named("cannot write to", self.path):
                self._commit(draft)
            return result

    def publish(self, render: Callable[[MemoryReader], str], *, glance: bool = False) -> bool:
        target = self.path / INDEX

        def differs() -> tuple[bytes | None, bytes] | None:
            wanted = self.read(render, glance=glance).encode()
            try:
                found = read_bytes(target)
            except UnusableFile:
                found = _NO_INDEX
            return None if found == wanted or (found is None and not wanted) else (found, wanted)

        with self._mutex, errors_named("cannot write", target):
            if not self.path.is_dir() or (not glance and differs() is None):
                return False
            with self.folder.locked():  # once more, now that the lock keeps other writers out
                if (difference := differs()) is None:
                    return False
                found, wanted = difference
                if found is not None and not all(map(_INDEX_LINE.fullmatch, found.split(b"\n"))):
                    set_apart(target, self.path / "archive")
                unseen = self._state() != self._seen
                self.folder.disk.write(target, wanted, durable=False)
                self._seen = None if unseen else self._state()
        return True

    @contextmanager
    def exclusive(self, purpose: str) -> Iterator[bool]:
        disk = self.folder.disk
        with errors_named("cannot lock", self.path):
            disk.set_up()
        with disk.lock(f"{purpose}.lock", wait=False) as mine:
            yield mine

    def left_out(self) -> list[Problem]:
        damaged = [unread(name, error) for name, error in sorted(self.folder.damaged.items())]
        return self.folder.journal_problems() + damaged

    def check(self) -> list[Problem]:
        folder = self.folder
        with self._mutex, errors_named("cannot read", self.path):
            self._look(lambda _: None)
            found = [*folder.problems(), *(unread(name, error) for name, error in sorted(folder.damaged.items()))]
            for name in folder.entries:
                if "/" in name and name.removeprefix("archive/") in folder.entries:
                    what = "is both in use and archived; the one in use counts"
                    found.append(Problem(name, what, "remove or rename one of the two files", harmless=True))
            if str(folder.log) not in {problem.where for problem in found}:
                found += [
                    Problem(str(folder.log), text, "the line stays, the rest is used", harmless=True)
                    for text in self._log()[1]
                ]
        return found

    def repair(self) -> list[str]:
        folder = self.folder
        with self._mutex, folder.locked(), errors_named("cannot repair", self.path):
            done = folder.repair_files()
            self._look(lambda _: None)
            for name, error in sorted(folder.damaged.items()):
                if isinstance(error, DamagedRecord):
                    done.append(f"set {name} apart as {folder.set_apart(self.path / name)}")
        return done

    def set_apart(self, slug: str) -> str:
        with self._mutex, self.folder.locked(), errors_named("cannot move", self.path):
            self._recover()
            for name in (f"{slug}.md", f"archive/{slug}.md"):
                if (self.path / name).exists():
                    return str(self.folder.set_apart(self.path / name))
        return ""

    def adopt(self) -> None:
        with self._mutex, self.folder.locked(), errors_named("cannot write to", self.path):
            self._recover()
            self.folder.adopt()

    def disown(self) -> bool:
        self.read(lambda _: None)
        return self.folder.trust.disown()

    def close(self) -> None:
        """Does nothing: no file stays open between calls."""

    # -- inside ----------------------------------------------------------------------------------------

    def steps(self) -> list[MemoryStep]:
        """The change log, including the steps of a committed journal."""
        return self._log()[0]

    def _log(self) -> tuple[list[MemoryStep], list[str]]:
        raw = read_bytes(self.folder.log) or b""
        journal = self.folder.read_journal()
        if journal is not None and journal.lines:
            raw = raw[: journal.offset] + journal.lines
        steps, damage = [], []
        for number, line in enumerate(raw.split(b"\n"), start=1):
            if line.strip():
                try:
                    steps.append(decode_step(line, where=f"{self.folder.log}, line {number}"))
                except DamagedRecord as error:
                    damage.append(str(error))
        return steps, damage

    def _look(self, work: Callable[[MemoryReader], T], *, glance: bool = False) -> T:
        self.folder.read_journal()
        self._bring_up_to_date(glance=glance)
        return work(ReadView(self.folder.table, self.steps, self.folder.refresh if glance else None))

    def _last_id(self) -> int:
        """The id of the last step that can be read. Only for the holder of the lock."""
        log = self.folder.log
        with errors_named("cannot read", self.path), suppress(FileNotFoundError), open_to_read(log) as file:
            for line in last_lines(file.fileno(), longest=_MAX_LINE_BYTES):
                if match := _STEP.match(line):
                    return int(match[1])
        return 0

    def _recover(self) -> None:
        self.folder.disk.sweep()
        self.folder.carry_out()
        self.folder.overlay = {}
        self._bring_up_to_date(glance=True)

    def _bring_up_to_date(self, *, glance: bool) -> None:
        """Scan the folder; with `glance` only if another process committed, or a file was added or removed."""
        state = self._state()
        if glance and state == self._seen and not self.folder.overlay:
            return
        self.folder.scan()
        self._seen = state if not self.folder.overlay else None

    def _state(self) -> tuple[object, ...]:
        return self.folder.state(), self.folder.journal_state(), file_state(self.folder.log)

    def _commit(self, draft: WriteView) -> None:
        if not draft.after and not draft.recorded:
            return
        folder = self.folder
        files: dict[str, bytes | None] = {}
        for slug, memory in draft.after.items():
            live, archived = f"{slug}.md", f"archive/{slug}.md"
            goes = None if memory is None else archived if memory.archived else live
            for name in (live, archived):
                if name != goes and name in folder.entries:
                    files[name] = None
            if memory is not None and goes is not None:
                files[goes] = render(memory)
        lines = b"".join(encode_step(step) + b"\n" for step in draft.recorded)
        unseen = self._state() != self._seen
        if files or lines:
            folder.trust_written(filter(None, draft.after.values()))
            folder.commit(files, lines)
            with suppress(OSError):  # it has happened; the next writer carries it out
                folder.carry_out()
            folder.take_over(files)
        self._seen = None if unseen or folder.journal_path.exists() else self._state()
