"""The file engine: `.tasks/task_N.json`, one file a task.

Writers take turns under one lock. A change of one file commits by renaming it into place, a change of several
by renaming a journal into place. Everything else on disk is derived and mended by the next writer.
Readers never wait: each file is replaced as a whole, and an unfinished journal is read over the files.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from outlive.errors import DamagedRecord, StoreUnavailable
from outlive.stores.files.disk import Disk, errors_named, read_bytes
from outlive.stores.files.folder import Folder
from outlive.stores.files.history import History
from outlive.stores.files.index import save_index
from outlive.stores.files.journal import Journal, JournalFile
from outlive.stores.files.names import task_name
from outlive.stores.protocol import ANY, Fit, Problem, TaskQuery, TaskReader, TaskWriter, Watch
from outlive.stores.records import Change, Task
from outlive.stores.selection import matches, ordered

T = TypeVar("T")

_GITIGNORE = b"# Locks and derived data of outlive. They heal themselves; do not commit them.\n.local/\n"
_GITATTRIBUTES = b"history.jsonl merge=union\n"
_POLL = 0.05
_RECENT = 0.25
"""Seconds for which a full scan counts as fresh where only an edit by hand could make a difference."""


class FileTaskStore:
    """See the module. `clock` is there for tests that must not wait for a lease to run out."""

    def __init__(
        self,
        path: Path,
        *,
        durability: str = "full",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.path = path
        self.url = f"files:{path}"
        self.clock = clock
        local = path / ".local"
        self.disk = Disk(local, durable=durability == "full")
        self.folder = Folder(path, local / "index")
        self.history = History(path / "history.jsonl", self.disk)
        self.journal = JournalFile(path, self.disk)
        self._mutex = threading.RLock()
        self._warm = False

    def read(self, work: Callable[[TaskReader], T]) -> T:
        with self._mutex, errors_named("cannot read", self.path):
            for _ in range(3):
                before = self.journal.state()
                result = self._look(work)
                if self.journal.state() == before:
                    break
                # A change of several files went on meanwhile; look again rather than see half of it.
                self._warm = False
            else:
                # Writers leave no moment in between, so take turns with them for once. Where no lock can be
                # had, on a disk that may only be read, there is no better look than the last one.
                with suppress(StoreUnavailable), self._locked():
                    result = self._look(work)
            self._save_index_if_worthwhile()
            return result

    def write(self, work: Callable[[TaskWriter], T]) -> T:
        with self._mutex, self._locked():
            with errors_named("cannot read", self.path):
                scanned = self._recover()
            transaction = _Transaction(self, scanned=scanned)
            try:
                result = work(transaction)
                with errors_named("cannot write to", self.path):
                    transaction.commit()
            except BaseException:
                if transaction.changes:
                    self._forget()
                raise
            self._mend(transaction.neighbours())
            self._save_index_if_worthwhile(locked=True)
            return result

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        yield _Watch(self)

    def left_out(self) -> list[str]:
        return [str(error) for _, error in sorted(self.folder.damaged.items())]

    def check(self) -> list[Problem]:
        with self._mutex, errors_named("cannot read", self.path):
            self._forget()
            if not self.path.exists():
                return []
            try:
                self._catch_up()
            except DamagedRecord as error:
                return [Problem(str(self.path), str(error), "move the journal away", repairable=False)]
            for number in self.folder.archived_ids():
                self.folder.node(number)
            return [*self._damage(), *self._stale(), *self._oddities()]

    def repair(self) -> list[str]:
        """Set damaged files apart in `.tasks/damaged/`, and write derived fields anew."""
        done = []
        with self._mutex, self._locked(), errors_named("cannot repair", self.path):
            self._forget()
            self._recover()
            self._reserve(self._high_water())
            for number in self.folder.archived_ids():
                self.folder.node(number)
            for number in sorted(self.folder.damaged):
                for name in (task_name(number), f"archive/{task_name(number)}"):
                    source = self.path / name
                    if source.exists() or source.is_symlink():
                        done.append(f"set {name} apart as {self._set_apart(source).relative_to(self.path)}")
            self.folder.damaged.clear()
            for number in sorted(self.folder.nodes):
                if self.folder.stale(number):
                    self.disk.write(self.path / task_name(number), self.folder.encoded(number), durable=False)
                    done.append(f"wrote blockedBy and blocks of {task_name(number)} anew")
        return done

    def close(self) -> None:
        self._forget()

    # -- inside ----------------------------------------------------------------------------------------

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with errors_named("cannot write to", self.path):
            self._set_up()
            lock = self.disk.lock()
            lock.__enter__()
        try:
            yield
        finally:
            lock.__exit__(None, None, None)

    def _set_up(self) -> None:
        for folder in (self.disk.local, self.folder.archive, self.path / "damaged"):
            if folder.is_symlink():
                raise StoreUnavailable(f"{folder}: is a symbolic link; put a real folder there. Nothing was changed.")
        if not self.disk.local.is_dir():
            self.disk.local.mkdir(parents=True, exist_ok=True)
            for name, data in ((".gitignore", _GITIGNORE), (".gitattributes", _GITATTRIBUTES)):
                with suppress(FileExistsError), (self.path / name).open("xb") as file:
                    file.write(data)

    def _look(self, work: Callable[[TaskReader], T]) -> T:
        scanned = self._catch_up() is None
        return work(_Transaction(self, scanned=scanned))

    def _forget(self) -> None:
        self._warm = False
        self.folder.forget()

    def _recover(self) -> bool:
        """Catch up with other writers, and finish for one that died what it had committed."""
        if self.journal.carry_out():
            self._warm = False
        news = self._catch_up()
        if not self.history.settled:
            self._mend(self._neighbours(self.history.settle()))
        return news is None

    def _catch_up(self) -> set[int] | None:
        """Know what others changed: in a warm process by looking at just that, else (None) by a full scan."""
        pending = self.journal.load()
        self.folder.overlay = pending.files if pending else {}
        news = self.history.news() if self._warm else None
        if news is None:
            self.history.mark_seen()
            self.folder.scan()
            self._warm = True
        else:
            self.folder.check(news)
        return news

    def _mend(self, neighbours: Collection[int]) -> None:
        """Write `blockedBy` and `blocks` of these tasks anew. Derived, and so never an error."""
        with suppress(OSError):
            self.folder.check(neighbours)
            for number in sorted(neighbours):
                if self.folder.stale(number):
                    self.disk.write(self.path / task_name(number), self.folder.encoded(number), durable=False)

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
                save_index(self.disk.local / "index", settled, self.disk)
            elif self.disk.local.is_dir():
                with self.disk.lock(wait=False) as mine:
                    if mine:
                        save_index(self.disk.local / "index", settled, self.disk)

    def _high_water(self) -> int:
        raw = read_bytes(self.disk.local / "high-water") or b""
        marked = int(raw) if raw.strip().isdigit() else None
        if marked is None:
            # Lost or never written: every id that was ever seen counts.
            archived = self.folder.archived_ids()
            named = [change.task for change in self.history.read()]
            marked = max([0, *archived, *named])
        return max([marked, *self.folder.nodes, *self.folder.damaged])

    def _reserve(self, high_water: int) -> None:
        self.disk.write(self.disk.local / "high-water", b"%d\n" % high_water)

    def _set_apart(self, source: Path) -> Path:
        target = self.path / "damaged" / source.name
        target.parent.mkdir(exist_ok=True)
        copy = 1
        while target.exists():
            copy += 1
            target = target.with_name(f"{source.name}.{copy}")
        return source.rename(target)

    def _damage(self) -> list[Problem]:
        return [
            Problem(
                str(self.path / task_name(number)),
                str(error).removeprefix(f"{self.path / task_name(number)}: "),
                "mend the file by hand, or set it apart with: outlive task doctor --repair",
                repairable=True,
                task=number,
            )
            for number, error in sorted(self.folder.damaged.items())
        ]

    def _stale(self) -> list[Problem]:
        return [
            Problem(
                str(self.path / task_name(number)),
                "blockedBy or blocks in the file lag behind the truth (readers of outlive do not notice)",
                "outlive task doctor --repair",
                repairable=True,
                harmless=True,
                task=number,
            )
            for number in sorted(self.folder.nodes)
            if self.folder.stale(number)
        ]

    def _oddities(self) -> list[Problem]:
        found = [
            Problem(str(self.path / name), "not a task file; ignored", "move it elsewhere", harmless=True)
            for name in self.folder.foreign()
        ]
        found += [
            Problem(
                f"{self.history.path}:{line}",
                "a line of the audit trail cannot be read",
                "what it said is lost; the tasks are not touched by it",
                harmless=True,
            )
            for line in self.history.damaged()
        ]
        changes = self.history.read()
        deleted = {change.task for change in changes if change.op == "delete"}
        known = {change.task for change in changes} - deleted
        for number in sorted(known - self.folder.nodes.keys() - self.folder.damaged.keys()):
            if self.folder.node(number) is None:
                found.append(
                    Problem(
                        str(self.path / task_name(number)),
                        "the audit trail knows this task, but its file is gone",
                        f"restore it from a backup or from git; see: outlive task history {number}",
                        task=number,
                    )
                )
        return found


class _Transaction:
    """Reader and writer in one: a look at the folder, and the changes that are to be committed together."""

    def __init__(self, store: FileTaskStore, *, scanned: bool) -> None:
        self._store = store
        self._folder = store.folder
        self.now = store.clock()
        self.changes: list[Change] = []
        self._before: dict[int, Task | None] = {}
        self._scanned = scanned

    # -- reading ---------------------------------------------------------------------------------------

    def get(self, ids: Collection[int]) -> dict[int, Task]:
        self._look_at(ids)
        found = {}
        for number in ids:
            node = self._folder.node(number)
            if node is not None:
                self._look_at(node.depends_on)
                found[number] = self._folder.full(node)
            elif number in self._folder.damaged:
                raise DamagedRecord(f"{self._folder.damaged[number]}; see: outlive task doctor")
        return found

    def find(self, query: TaskQuery) -> list[Task]:
        self._scan()
        nodes = list(self._folder.nodes.values())
        if query.archived:
            nodes += [node for node in map(self._folder.node, self._folder.archived_ids()) if node]
        if query.statuses is not None:
            nodes = [node for node in nodes if node.status in query.statuses]
        return ordered((task for node in nodes if matches(task := self._folder.full(node), query)), query)

    def count(self, query: TaskQuery) -> int:
        return len(self.find(query))

    def ready(self, fit: Fit = ANY, limit: int | None = None) -> list[Task]:
        self._scan()
        return self._ready(fit, limit)

    def expired(self) -> list[int]:
        if self._folder.age() >= _RECENT:
            self._scan()
        now = self.now.timestamp()
        return sorted(
            node.id
            for node in self._folder.nodes.values()
            if node.lease_until is not None and node.lease_until <= now and node.status == "in_progress"
        )

    def next_expiry(self) -> datetime | None:
        self._scan()
        running = [node for node in self._folder.nodes.values() if node.status == "in_progress"]
        leases = [node.task().lease for node in running if node.lease_until is not None]
        return min((lease.expires_at for lease in leases if lease), default=None)

    def depends_on(self, ids: Collection[int]) -> dict[int, tuple[int, ...]]:
        self._scan()
        return {number: node.depends_on for number in ids if (node := self._folder.node(number))}

    def dependents(self, ids: Collection[int], *, archived: bool = False) -> dict[int, tuple[int, ...]]:
        if archived:
            self._scan()  # asked before something is removed for good: an edge added by hand must count
        find = self._folder.all_dependents if archived else self._folder.dependents
        return {number: tuple(sorted(find(number))) for number in ids}

    def history(self, task: int | None = None) -> list[Change]:
        return self._store.history.read(task)

    def high_water(self) -> int:
        return self._store._high_water()

    # -- writing ---------------------------------------------------------------------------------------

    def lock(self, ids: Collection[int], *, edges: bool = False) -> dict[int, Task]:
        if edges:
            self._scan()
        return self.get(ids)

    def pick(self, fit: Fit = ANY) -> Task | None:
        """The task itself is looked at anew; a better one that just now came by hand may be overlooked."""
        if self._folder.age() < _RECENT:
            for task in self._ready(fit, 1):
                if self.get([task.id]).get(task.id) == task:
                    return task
        return next(iter(self.ready(fit, 1)), None)

    def new_ids(self, count: int) -> Sequence[int]:
        path = self._store.path
        while True:
            last = self._store._high_water()
            ids = range(last + 1, last + 1 + count)
            names = [name for number in ids for name in (task_name(number), f"archive/{task_name(number)}")]
            if not any((path / name).exists() or (path / name).is_symlink() for name in names):
                break
            self._folder.scan()
            self.reserve(max(ids))
        self.reserve(max(ids, default=last))
        return ids

    def reserve(self, high_water: int) -> None:
        with errors_named("cannot write to", self._store.path):
            self._store._reserve(max(high_water, self._store._high_water()))

    def put(self, task: Task, change: Change) -> None:
        self._remember(task.id)
        self._folder.place(task)
        self.changes.append(change)

    def remove(self, task: int, change: Change) -> None:
        self._remember(task)
        self._folder.displace(task)
        self.changes.append(change)

    def record(self, changes: Sequence[Change]) -> None:
        self.changes.extend(changes)

    def commit(self) -> None:
        if not self.changes:
            return
        store = self._store
        files = self._files()
        writes = [(name, data) for name, data in files.items() if data is not None]
        single = writes[0] if len(files) == len(writes) == 1 else None
        if any(name.startswith("archive/") for name in files):
            self._folder.archive.mkdir(exist_ok=True)
        staged = store.disk.staged(self.changes[-1].id)
        store.disk.stage(staged, single[1] if single else Journal(files).encode())
        try:
            size = store.history.append(self.changes)
            try:
                if single:
                    store.disk.commit(staged, store.path / single[0])
                else:
                    store.journal.commit(staged)
            except OSError:
                store.history.take_back(size)
                raise
        except OSError:
            staged.unlink(missing_ok=True)
            raise
        store.history.mark_settled()
        if not single:
            try:
                store.journal.carry_out()
            except OSError:
                # It is committed: readers see it in the journal, and the next writer carries it out.
                store._warm = False

    def neighbours(self) -> set[int]:
        """Whose derived fields this change touches."""
        found: set[int] = set()
        for number, old in self._before.items():
            node = self._folder.node(number)
            found.update(old.depends_on if old else (), node.depends_on if node else ())
            found.update(self._folder.dependents(number))
        return found

    # -- inside ----------------------------------------------------------------------------------------

    def _scan(self) -> None:
        if not self._scanned and not self.changes:
            self._folder.scan()
        self._scanned = True

    def _ready(self, fit: Fit, limit: int | None) -> list[Task]:
        """Ready tasks by what is known without another look at the disk."""
        found: list[Task] = []
        for node in self._folder.ready():
            if limit is not None and len(found) >= limit:
                break
            task = self._folder.full(node)
            if fit.suits(task.labels):
                found.append(task)
        return found

    def _look_at(self, ids: Collection[int]) -> None:
        """Notice edits by hand to these tasks. What this transaction has changed is newer than the files."""
        if not self._scanned:
            self._folder.check(number for number in ids if number not in self._before)

    def _remember(self, number: int) -> None:
        if number not in self._before:
            node = self._folder.node(number)
            self._before[number] = node.task() if node else None

    def _files(self) -> dict[str, bytes | None]:
        """The files this change writes or removes."""
        files: dict[str, bytes | None] = {}
        for number, old in self._before.items():
            hot, archived = task_name(number), f"archive/{task_name(number)}"
            node = self._folder.node(number)
            was = None if old is None else archived if old.archived_at else hot
            goes = None if node is None else archived if node.task().archived_at else hot
            if was is not None and was != goes:
                files[was] = None
            if goes is not None:
                files[goes] = self._folder.encoded(number)
        return files


class _Watch:
    """Polls: a look at two file times a few times a second is cheaper than a dependency for each platform."""

    def __init__(self, store: FileTaskStore) -> None:
        self._store = store
        self._seen = self._state()

    def wait(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, _POLL))
            state = self._state()
            if state != self._seen:
                self._seen = state
                return True
        return False

    def _state(self) -> tuple[int, ...]:
        state: list[int] = []
        for path in (self._store.path, self._store.history.path):
            with suppress(FileNotFoundError):
                found = path.stat()
                state += (found.st_mtime_ns, found.st_size, found.st_ino)
        return tuple(state)
