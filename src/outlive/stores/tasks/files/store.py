"""The file engine: `.tasks/task_N.json`, one file a task, on `stores/record_folder.py`.

A change of one file commits by renaming it into place, without a journal. `blockedBy` and `blocks` in the files are
derived, and mended by the next writer.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from outlive.errors import DamagedRecord
from outlive.stores.clock import machine_time, store_time
from outlive.stores.disk import errors_named, file_state
from outlive.stores.polling import PollingWatch
from outlive.stores.tasks.files.folder import TaskFolder
from outlive.stores.tasks.files.names import task_name
from outlive.stores.tasks.files.problems import problems
from outlive.stores.tasks.files.transaction import FileTransaction
from outlive.stores.tasks.protocol import Problem, TaskReader, TaskWriter, Watch
from outlive.stores.tasks.records import TaskChange

T = TypeVar("T")


class FileTaskStore:
    """See the module. `clock` is for tests that must not wait for a lease to expire."""

    def __init__(self, path: Path, *, durability: str = "full", clock: Callable[[], datetime] | None = None) -> None:
        self.path = path
        self.url = f"files:{path}"
        self.clock = clock
        self.folder = TaskFolder(path, durable=durability == "full")
        self._history = self.folder.history
        self._mutex = threading.RLock()
        self._warm = False
        self._owed: set[int] = set()
        """Tasks whose derived fields could not be written because the disk was full; the next change tries again."""

    def read(self, work: Callable[[TaskReader], T]) -> T:
        with self._mutex, errors_named("cannot read", self.path):
            result = self.folder.consistent(lambda: self._look(work), self._cool)
            self.folder.save_index()
            return result

    def write(self, work: Callable[[TaskWriter], T]) -> T:
        with self._mutex, self.folder.locked():
            with errors_named("cannot read", self.path):
                scanned = self._recover()
            now = self.clock() if self.clock else store_time(self.folder.disk.local / "lock")
            transaction = FileTransaction(self.folder, now, scanned=scanned)
            try:
                result = work(transaction)
                with errors_named("cannot write to", self.path):
                    self._warm = transaction.commit()
            except BaseException:
                if transaction.changes:
                    self._forget()
                raise
            self._mend(transaction.neighbours())
            self.folder.save_index(locked=True)
            return result

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        yield PollingWatch(self._state)

    def left_out(self) -> list[str]:
        damaged = [error for _, error in sorted(self.folder.damaged.items())]
        return [str(error) for error in (self.folder.journal_error, *damaged) if error]

    def check(self) -> list[Problem]:
        with self._mutex, errors_named("cannot read", self.path):
            self._forget()
            if not self.path.exists():
                return []
            self._catch_up()
            self.folder.archived_nodes()
            return problems(self.folder)

    def repair(self) -> list[str]:
        """Quarantine damaged files in `.tasks/damaged/` and rewrite derived fields."""
        folder = self.folder
        with self._mutex, folder.locked(), errors_named("cannot repair", self.path):
            self._forget()
            done = folder.repair_files()
            self._recover()
            if wrong := folder.wrong_mark():
                done.append(f"rewrote the mark of the last id, for it {wrong}")
            folder.reserve(folder.high_water())
            folder.archived_nodes()
            for name, error in sorted(folder.damaged.items()):
                if isinstance(error, DamagedRecord):
                    done.append(f"set {name} apart as {folder.set_apart(self.path / name)}")
            folder.damaged.clear()
            for number in folder.stale_ids():
                self._write_derived(number)
                done.append(f"rewrote blockedBy and blocks of {task_name(number)}")
        return done

    def close(self) -> None:
        self._forget()

    # -- inside ----------------------------------------------------------------------------------------

    def _state(self) -> object:
        """A value that changes when a file is replaced or a line is added to the history."""
        return file_state(self.path), file_state(self._history.path)

    def _look(self, work: Callable[[TaskReader], T]) -> T:
        scanned = self._catch_up() is None
        return work(FileTransaction(self.folder, (self.clock or machine_time)(), scanned=scanned))

    def _cool(self) -> None:
        """Make the next read scan everything."""
        self._warm = False

    def _forget(self) -> None:
        self._cool()
        self.folder.forget()

    def _recover(self) -> bool:
        """Catch up with other writers, and finish the committed change of one that died."""
        self.folder.carry_out()
        news = self._catch_up()
        if not self._history.settled:
            self._mend(self._neighbours(self._history.settle()))
        return news is None

    def _catch_up(self) -> set[int] | None:
        """Learn what others changed; None if that needs a full scan."""
        self.folder.read_journal()
        news = self._history.news() if self._warm else None
        if news is None:
            self._history.mark_seen()
            self.folder.scan()
            self._warm = True
        else:
            self.folder.check_tasks(news)
        return news

    def _mend(self, neighbours: Collection[int]) -> None:
        """Rewrite `blockedBy` and `blocks` of these tasks. They are derived, so a failure is not an error."""
        self._owed.update(neighbours)
        with suppress(OSError):
            self.folder.check_tasks(self._owed)
            for number in sorted(self._owed):
                if self.folder.stale(number):
                    self._write_derived(number)
            self._owed.clear()

    def _neighbours(self, changes: Iterable[TaskChange]) -> set[int]:
        """The tasks whose derived fields another writer's changes may have touched."""
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

    def _write_derived(self, number: int) -> None:
        self.folder.disk.write(self.path / task_name(number), self.folder.encoded(number), durable=False)
