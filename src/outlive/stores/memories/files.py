"""Memories as files: `.memory/<slug>.md`, forgotten ones in `archive/`, the change log in `history.jsonl`.

Writers take turns under one lock and commit by renaming a journal into place (`memory_journal.py`). Everything else
is derived or carried out from it, and mended by the next writer. Readers never wait. `MEMORY.md` is derived too; what
is in it is decided above (`outlive.memory.index`).
"""

import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from outlive.errors import DamagedRecord, StoreUnavailable
from outlive.private import enter
from outlive.regular import UnusableFile, open_to_read, refuse_irregular
from outlive.stores.clock import machine_time
from outlive.stores.disk import Disk, errors_named, identity, read_bytes, set_apart, whole_look
from outlive.stores.memories.folder import MemoryFolder
from outlive.stores.memories.journal import MemoryJournal, MemoryJournalFile
from outlive.stores.memories.protocol import MemoryReader, MemoryWriter, unread
from outlive.stores.memories.records import MemoryStep, Scope, decode_step, encode_step, unmarked
from outlive.stores.memories.table import ReadView, WriteView
from outlive.stores.memories.text import render
from outlive.stores.memories.trust import MemoryTrust
from outlive.stores.tasks.files.checkup import irregular_problems
from outlive.stores.tasks.protocol import Problem

T = TypeVar("T")

INDEX = "MEMORY.md"
_NO_INDEX = b"\0"
"""Stands for a MEMORY.md that cannot be read and is none of ours: a pipe, a device, gigabytes."""
_INDEX_LINE = re.compile(rb"- \[.*\]\(.*\.md\) \xe2\x80\x94 .*|- \xe2\x80\xa6 \d+ more.*|\s*")
"""An index with other lines was written by somebody else, and is kept in the archive when ours takes its place."""
_STEP = re.compile(rb'\{"id":(\d+),"at":')
_BLOCK = 64 * 1024


class FileMemoryStore:
    """See the module. `home` bears out whose memories they are (`memory_vouching.py`); `clock` is there for tests."""

    def __init__(
        self,
        path: Path,
        *,
        scope: Scope = "project",
        durability: str = "full",
        home: Path | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        enter(path)
        self.path = path
        self.url = f"files:{path}"
        self.clock = clock or machine_time
        self._disk = Disk(path / ".local", durable=durability == "full")
        self.folder = MemoryFolder(path, scope, self._disk, MemoryTrust(home, self.url))
        self.journal = MemoryJournalFile(path, self._disk)
        self._mutex = threading.RLock()
        self._unreadable_journal: DamagedRecord | None = None
        self._seen: tuple[object, ...] | None = None
        """The state of everything at the last scan, or after what we have written ourselves since."""

    def read(self, work: Callable[[MemoryReader], T], *, glance: bool = False) -> T:
        with self._mutex, errors_named("cannot read", self.path):
            result = whole_look(lambda: self._look(work, glance=glance), self.journal.state, self._locked)
            self._save_index()
            return result

    def write(self, work: Callable[[MemoryWriter], T]) -> T:
        with self._mutex, self._locked():
            with errors_named("cannot write to", self.path):
                self._recover()
            draft = WriteView(
                self.folder.table,
                self.steps,
                self.folder.refresh,
                now=self.clock(),
                last=self._last_id,
                free=self.folder.free,
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
            with self._locked():  # once more, now that nobody else can change what it is made of
                if (difference := differs()) is None:
                    return False
                found, wanted = difference
                if found is not None and not all(map(_INDEX_LINE.fullmatch, found.split(b"\n"))):
                    set_apart(target, self.path / "archive")
                unseen = self._state() != self._seen
                self._disk.write(target, wanted, durable=False)
                self._seen = None if unseen else self._state()
        return True

    @contextmanager
    def exclusive(self, purpose: str) -> Iterator[bool]:
        from filelock import FileLock, Timeout

        with errors_named("cannot lock", self.path):
            self._disk.set_up()
            refuse_irregular(self._disk.local / f"{purpose}.lock")
        handle = FileLock(
            self._disk.local / f"{purpose}.lock", timeout=0, mode=0o600, thread_local=False, fallback_to_soft=False
        )
        try:
            handle.acquire()
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            handle.release()

    def left_out(self) -> list[Problem]:
        found = [unread(name, error) for name, error in sorted(self.folder.damaged.items())]
        if self._unreadable_journal is not None:
            remedy = "outlive memory doctor --repair; the change that the journal holds is lost"
            what = f"nothing can be written while this is there: {self._unreadable_journal}"
            found.insert(0, Problem(str(self.journal.path), what, remedy, repairable=True))
        return found

    def check(self) -> list[Problem]:
        found: list[Problem] = []
        with self._mutex, errors_named("cannot read", self.path):
            self._look(lambda _: None)
            found += self.left_out()
            for name in self.folder.known:
                if "/" in name and name.removeprefix("archive/") in self.folder.known:
                    what = "is both in use and archived; the one in use counts"
                    found.append(Problem(name, what, "remove or rename one of the two files", harmless=True))
            irregular = irregular_problems(self._disk, self.journal.log, "outlive memory doctor --repair")
            if str(self.journal.log) not in {problem.where for problem in irregular}:
                found += [Problem(str(self.journal.log), text, "the line stays, the rest is used", harmless=True)
                          for text in self._log()[1]]  # fmt: skip
            found += irregular
        return found

    def repair(self) -> list[str]:
        done = []
        with self._mutex, self._locked(), errors_named("cannot repair", self.path):
            for odd in self._disk.irregular(self.journal.log):
                source = Path(odd.filename)
                done.append(f"set {source.relative_to(self.path)} apart as {self._set_apart(source)}")
            try:
                self.journal.carry_out()
            except DamagedRecord:
                done.append(f"set the journal apart as {self._set_apart(self.journal.path)}")
            self._look(lambda _: None)
            for name, error in sorted(self.folder.damaged.items()):
                if isinstance(error, DamagedRecord):
                    done.append(f"set {name} apart as {self._set_apart(self.path / name)}")
        return done

    def set_apart(self, slug: str) -> str:
        with self._mutex, self._locked(), errors_named("cannot move", self.path):
            self._recover()
            for name in (f"{slug}.md", f"archive/{slug}.md"):
                if (self.path / name).exists():
                    return str(self._set_apart(self.path / name))
        return ""

    def adopt(self) -> None:
        with self._mutex, self._locked(), errors_named("cannot write to", self.path):
            self._recover()
            self.folder.adopt()

    def disown(self) -> bool:
        self.read(lambda _: None)
        return self.folder.vouching.disown()

    def close(self) -> None:
        self.folder.close()

    # -- inside ----------------------------------------------------------------------------------------

    def steps(self) -> list[MemoryStep]:
        """The change log, with what a committed journal adds to it."""
        return self._log()[0]

    def _log(self) -> tuple[list[MemoryStep], list[str]]:
        raw = read_bytes(self.journal.log) or b""
        journal = self._pending()
        if journal is not None and journal.lines:
            raw = raw[: journal.offset] + journal.lines
        steps, damage = [], []
        for number, line in enumerate(raw.split(b"\n"), start=1):
            if line.strip():
                try:
                    steps.append(decode_step(line, where=f"{self.journal.log}, line {number}"))
                except DamagedRecord as error:
                    damage.append(str(error))
        return steps, damage

    def _look(self, work: Callable[[MemoryReader], T], *, glance: bool = False) -> T:
        journal = self._pending()
        self.folder.overlay = dict(journal.files) if journal else {}
        self._bring_up_to_date(glance=glance)
        return work(ReadView(self.folder.table, self.steps, self.folder.refresh if glance else None))

    def _pending(self) -> MemoryJournal | None:
        """The change that is still to be carried out, if there is one that can be read."""
        self._unreadable_journal = None
        try:
            return self.journal.load()
        except DamagedRecord as error:
            self._unreadable_journal = error
            return None

    def _last_id(self) -> int:
        with errors_named("cannot read", self.path):
            return _last_id(self.journal.log)

    def _recover(self) -> None:
        self._disk.sweep()
        self.journal.carry_out()
        self.folder.overlay = {}
        self._bring_up_to_date(glance=True)

    def _bring_up_to_date(self, *, glance: bool) -> None:
        """A scan, which is spared at a glance while no other process committed and no file came or went, unless the
        kernel tells what changed anyway."""
        state = self._state()
        if glance and state == self._seen and not self.folder.overlay and not self.folder.watched:
            return
        self.folder.scan()
        self._seen = state if not self.folder.overlay else None

    def _state(self) -> tuple[object, ...]:
        return self.folder.state(), self.journal.state(), identity(self.journal.log)

    def _commit(self, draft: WriteView) -> None:
        if not draft.after and not draft.recorded:
            return
        files: dict[str, bytes | None] = {}
        used: dict[str, datetime] = {}
        gone = {slug for slug, memory in draft.after.items() if memory is None}
        for slug, memory in draft.after.items():
            hot, archived = f"{slug}.md", f"archive/{slug}.md"
            goes = None if memory is None else archived if memory.archived else hot
            known = self.folder.known.get(goes) if goes else None
            if known and memory and memory.last_used and self.folder.marks.tells(known.memory, unmarked(memory)):
                used[slug] = memory.last_used
                continue
            for name in (hot, archived):
                if name != goes and name in self.folder.known:
                    files[name] = None
            if memory is not None and goes is not None:
                files[goes] = render(memory)
        lines = b"".join(encode_step(step) + b"\n" for step in draft.recorded)
        unseen = self._state() != self._seen
        if files or lines:
            self.folder.vouch(filter(None, draft.after.values()))
            self.journal.commit(files, lines, durable=bool(lines) and self._disk.durable)
            with suppress(OSError):  # it has happened; whoever comes next carries it out
                self.journal.carry_out(durable=bool(lines))
            self.folder.take_over(files)
        with suppress(OSError):  # when something was last used is no reason to fail
            self.folder.use(used, gone)
        self._seen = None if unseen or self.journal.pending else self._state()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with errors_named("cannot write to", self.path):
            self._disk.set_up()
        with self._disk.lock():
            yield

    def _save_index(self) -> None:
        if self.folder.worth_saving and self._disk.local.is_dir():
            with suppress(OSError, StoreUnavailable), self._disk.lock(wait=False) as mine:
                if mine:
                    self.folder.save()

    def _set_apart(self, source: Path) -> Path:
        return set_apart(source, self.path / "damaged").relative_to(self.path)


def _last_id(path: Path) -> int:
    """Of the last line that can be read, without reading all of the log. Only for the holder of the lock."""
    try:
        with open_to_read(path) as file:
            descriptor = file.fileno()
            for start in _line_starts(descriptor, os.fstat(descriptor).st_size):
                if match := _STEP.match(os.pread(descriptor, 64, start)):
                    return int(match[1])
    except FileNotFoundError:
        pass
    return 0


def _line_starts(descriptor: int, size: int) -> Iterator[int]:
    """Where the lines of a file begin, the last one first."""
    while size > 0:
        first = max(0, size - _BLOCK)
        block = os.pread(descriptor, size - first, first)
        at = block.rfind(b"\n")
        while at >= 0:
            yield first + at + 1
            at = block.rfind(b"\n", 0, at)
        size = first
    yield 0
