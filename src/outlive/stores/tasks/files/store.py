"""The file engine: `.tasks/task_N.json`, one file a task.

Writers take turns under one lock. A change of one file commits by renaming it into place, a change of several
by renaming a journal into place. Everything else on disk is derived and mended by the next writer.
Readers never wait: each file is replaced as a whole, and an unfinished journal is read over the files.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from outlive.errors import DamagedRecord, StoreUnavailable
from outlive.private import enter
from outlive.stores.clock import machine_time, store_time
from outlive.stores.disk import errors_named, set_apart, whole_look
from outlive.stores.polling import PollingWatch
from outlive.stores.tasks.files.checkup import problems
from outlive.stores.tasks.files.index import save_index
from outlive.stores.tasks.files.names import task_name
from outlive.stores.tasks.files.parts import TaskFolderParts
from outlive.stores.tasks.files.transaction import FileTransaction
from outlive.stores.tasks.protocol import Problem, TaskReader, TaskWriter, Watch
from outlive.stores.tasks.records import Change

T = TypeVar("T")


class FileTaskStore:
    """See the module. `clock` is there for tests that must not wait for a lease to run out."""

    def __init__(
        self,
        path: Path,
        *,
        durability: str = "full",
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        enter(path)
        self.path = path
        self.url = f"files:{path}"
        self.clock = clock
        self._parts = parts = TaskFolderParts(path, durable=durability == "full")
        self._disk, self.folder = parts.disk, parts.folder
        self._history, self._journal = parts.history, parts.journal
        self._mutex = threading.RLock()
        self._warm = False
        self._unreadable_journal: DamagedRecord | None = None
        self._owed: set[int] = set()
        """Tasks whose derived fields could not be written, for lack of space; the next change tries again."""

    def read(self, work: Callable[[TaskReader], T]) -> T:
        with self._mutex, errors_named("cannot read", self.path):
            result = whole_look(lambda: self._look(work), self._journal.state, self._locked, self._cool)
            self._save_index_if_worthwhile()
            return result

    def write(self, work: Callable[[TaskWriter], T]) -> T:
        with self._mutex, self._locked():
            with errors_named("cannot read", self.path):
                scanned = self._recover()
            now = self.clock() if self.clock else store_time(self._disk.local / "lock")
            transaction = FileTransaction(self._parts, now, scanned=scanned)
            try:
                result = work(transaction)
                with errors_named("cannot write to", self.path):
                    self._warm = transaction.commit()
            except BaseException:
                if transaction.changes:
                    self._forget()
                raise
            self._mend(transaction.neighbours())
            self._save_index_if_worthwhile(locked=True)
            return result

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        yield PollingWatch(self._state)

    def left_out(self) -> list[str]:
        journal = [self._unreadable_journal] if self._unreadable_journal else []
        return [str(error) for error in [*journal, *(error for _, error in sorted(self.folder.damaged.items()))]]

    def check(self) -> list[Problem]:
        with self._mutex, errors_named("cannot read", self.path):
            self._forget()
            if not self.path.exists():
                return []
            self._catch_up()
            for number in self.folder.archived_ids():
                self.folder.node(number)
            return problems(self._parts, self._unreadable_journal)

    def repair(self) -> list[str]:
        """Set damaged files apart in `.tasks/damaged/`, and write derived fields anew."""
        done = []
        with self._mutex, self._locked(), errors_named("cannot repair", self.path):
            self._forget()
            for odd in self._disk.irregular(self._history.path):
                source = Path(odd.filename)
                done.append(f"set {source.relative_to(self.path)} apart as {self._set_apart(source)}")
            try:
                self._journal.carry_out()
            except DamagedRecord:
                done.append(f"set the journal apart as {self._set_apart(self._journal.path)}")
            self._recover()
            if wrong := self._parts.wrong_mark():
                done.append(f"wrote the mark of the last id anew, for it {wrong}")
            self._parts.reserve(self._parts.high_water())
            for number in self.folder.archived_ids():
                self.folder.node(number)
            for number, error in sorted(self.folder.damaged.items()):
                for name in (task_name(number), f"archive/{task_name(number)}"):
                    source = self.path / name
                    if isinstance(error, DamagedRecord) and str(error).startswith(f"{source}: "):
                        done.append(f"set {name} apart as {self._set_apart(source)}")
            self.folder.damaged.clear()
            for number in sorted(self.folder.nodes):
                if self.folder.stale(number):
                    self._disk.write(self.path / task_name(number), self.folder.encoded(number), durable=False)
                    done.append(f"wrote blockedBy and blocks of {task_name(number)} anew")
        return done

    def close(self) -> None:
        self._forget()

    # -- inside ----------------------------------------------------------------------------------------

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with errors_named("cannot write to", self.path):
            self._disk.set_up()
            lock = self._disk.lock()
            lock.__enter__()
        try:
            yield
        finally:
            lock.__exit__(None, None, None)

    def _state(self) -> tuple[int, ...]:
        """Differs once anything in the folder was replaced, or a line was added to the history."""
        state: list[int] = []
        for path in (self.path, self._history.path):
            with suppress(FileNotFoundError):
                found = path.stat()
                state += (found.st_mtime_ns, found.st_size, found.st_ino)
        return tuple(state)

    def _look(self, work: Callable[[TaskReader], T]) -> T:
        scanned = self._catch_up() is None
        return work(FileTransaction(self._parts, (self.clock or machine_time)(), scanned=scanned))

    def _cool(self) -> None:
        """Have the next look scan everything."""
        self._warm = False

    def _forget(self) -> None:
        self._cool()
        self.folder.forget()

    def _recover(self) -> bool:
        """Catch up with other writers, and finish for one that died what it had committed."""
        if self._journal.carry_out():
            self._warm = False
        news = self._catch_up()
        if not self._history.settled:
            self._mend(self._neighbours(self._history.settle()))
        return news is None

    def _catch_up(self) -> set[int] | None:
        """Know what others changed: in a warm process by looking at just that, else (None) by a full scan."""
        self._unreadable_journal = None
        try:
            pending = self._journal.load()
        except DamagedRecord as error:
            pending, self._unreadable_journal = None, error
        self.folder.overlay = pending.files if pending else {}
        news = self._history.news() if self._warm else None
        if news is None:
            self._history.mark_seen()
            self.folder.scan()
            self._warm = True
        else:
            self.folder.check(news)
        return news

    def _mend(self, neighbours: Collection[int]) -> None:
        """Write `blockedBy` and `blocks` of these tasks anew. Derived, and so never an error."""
        self._owed.update(neighbours)
        with suppress(OSError):
            self.folder.check(self._owed)
            for number in sorted(self._owed):
                if self.folder.stale(number):
                    self._disk.write(self.path / task_name(number), self.folder.encoded(number), durable=False)
            self._owed.clear()

    def _neighbours(self, changes: Iterable[Change]) -> set[int]:
        """Whose derived fields these changes, made by another, may have touched."""
        found: set[int] = set()
        for change in changes:
            node = self.folder.node(change.task)
            found.update(node.depends_on if node else (), self.folder.dependents(change.task))
            deleted = change.changed.get("task", (None, None))[0]
            was = deleted.get("dependsOn") if isinstance(deleted, dict) else None
            for edges in (was, *change.changed.get("dependsOn", ())):
                if isinstance(edges, list):
                    found.update(number for number in edges if isinstance(number, int))
        return found

    def _save_index_if_worthwhile(self, *, locked: bool = False) -> None:
        """Reading files again costs more than writing the index once a few of them differ from it."""
        folder = self.folder
        if folder.reread <= max(32, len(folder.nodes) // 50):
            return
        folder.reread = 0
        settled = [node for node in folder.nodes.values() if node.inode]
        with suppress(OSError, StoreUnavailable):
            if locked:
                save_index(self._disk.local / "index", settled, self._disk)
            elif self._disk.local.is_dir():
                with self._disk.lock(wait=False) as mine:
                    if mine:
                        save_index(self._disk.local / "index", settled, self._disk)

    def _set_apart(self, source: Path) -> Path:
        return set_apart(source, self.path / "damaged").relative_to(self.path)
