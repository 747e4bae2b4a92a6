"""One transaction on the file store."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from outlive.stores.disk import errors_named
from outlive.stores.record_folder import Journal
from outlive.stores.tasks.files.folder import TaskFolder
from outlive.stores.tasks.files.names import archived_name, task_name
from outlive.stores.tasks.protocol import ANY_TASK, Fit, SortKey, TaskQuery
from outlive.stores.tasks.records import STATUSES, Task, TaskChange, believable, check_reserve, damaged_mark

_FRESH_SCAN_SECONDS = 0.25
"""A full scan counts as fresh for this long where only a manual edit could make a difference."""
_ORDERS: dict[SortKey, Callable[[Task], tuple[Any, ...]]] = {
    "priority": lambda task: (task.priority, task.created_at, task.id),
    "created": lambda task: (task.created_at, task.id),
    "updated": lambda task: (task.updated_at, task.id),
    "status": lambda task: (STATUSES.index(task.status), task.priority, task.created_at, task.id),
    "id": lambda task: (task.id,),
}


class FileTransaction:
    """Reader and writer in one: a snapshot of the folder, and the changes to be committed together."""

    def __init__(self, folder: TaskFolder, now: datetime, *, scanned: bool) -> None:
        self._folder = folder
        self.now = now
        self.changes: list[TaskChange] = []
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
            elif error := self._folder.damage(number):
                raise type(error)(error.message, hint=error.hint or "see what is wrong with it", code="damaged_task")
        return found

    def find(self, query: TaskQuery) -> list[Task]:
        self._scan()
        nodes = list(self._folder.entries.values())
        if query.archived:
            nodes += self._folder.archived_nodes()
        if query.statuses is not None:
            nodes = [node for node in nodes if node.status in query.statuses]
        found = [task for node in nodes if query.matches(task := self._folder.full(node))]
        return sorted(found, key=_ORDERS[query.sort], reverse=query.descending)[: query.limit]

    def count(self, query: TaskQuery) -> int:
        return len(self.find(replace(query, limit=None)))

    def ready(self, fit: Fit = ANY_TASK, limit: int | None = None) -> list[Task]:
        self._scan()
        return self._ready(fit, limit)

    def expired(self) -> list[int]:
        if self._folder.age() >= _FRESH_SCAN_SECONDS:
            self._scan()
        oldest, latest = (moment.timestamp() for moment in believable(self.now))
        now = self.now.timestamp()
        return sorted(
            node.id
            for node in self._folder.entries.values()
            if node.status == "in_progress"
            and node.lease_until is not None
            and (oldest <= node.lease_until <= now or node.lease_until > latest)
        )

    def next_expiry(self) -> datetime | None:
        self._scan()
        running = [node for node in self._folder.entries.values() if node.status == "in_progress"]
        leases = [node.task().lease for node in running if node.lease_until is not None]
        return min((lease.expires_at for lease in leases if lease and not lease.stale(self.now)), default=None)

    def depends_on(self, ids: Collection[int]) -> dict[int, tuple[int, ...]]:
        self._scan()
        return {number: node.depends_on for number in ids if (node := self._folder.node(number))}

    def dependents(self, ids: Collection[int], *, archived: bool = False) -> dict[int, tuple[int, ...]]:
        if archived:
            self._scan()  # asked before something is removed for good: an edge added by hand must count
        find = self._folder.all_dependents if archived else self._folder.dependents
        return {number: tuple(sorted(find(number))) for number in ids}

    def history(self, task: int | None = None) -> list[TaskChange]:
        return self._folder.history.read(task)

    def high_water(self) -> int:
        return self._folder.high_water()

    # -- writing ---------------------------------------------------------------------------------------

    def lock(self, ids: Collection[int], *, edges: bool = False) -> dict[int, Task]:
        if edges:
            self._scan()
        return self.get(ids)

    def pick(self, fit: Fit = ANY_TASK) -> Task | None:
        """Pick a ready task, checked on disk; a better one that was just edited by hand may be missed."""
        if self._folder.age() < _FRESH_SCAN_SECONDS:
            for task in self._ready(fit, 1):
                if self.get([task.id]).get(task.id) == task:
                    return task
        return next(iter(self.ready(fit, 1)), None)

    def new_ids(self, count: int) -> Sequence[int]:
        folder = self._folder
        with errors_named("cannot read", folder.path):
            wrong = folder.wrong_mark()
        if wrong is not None:
            raise damaged_mark(str(folder.mark_path), wrong)
        while True:
            last = folder.high_water()
            ids = range(last + 1, last + 1 + count)
            if not folder.given_out(ids):
                break
            folder.scan()
            self.reserve(max(*ids, folder.largest_known(last)))
        self.reserve(max(ids, default=last))
        return ids

    def reserve(self, high_water: int) -> None:
        check_reserve(high_water)
        with errors_named("cannot write to", self._folder.path):
            self._folder.reserve(max(high_water, self._folder.high_water()))

    def put(self, task: Task, change: TaskChange) -> None:
        self._remember(task.id)
        self._folder.place(task)
        self.changes.append(change)

    def remove(self, task: int, change: TaskChange) -> None:
        self._remember(task)
        self._folder.displace(task)
        self.changes.append(change)

    def record(self, changes: Sequence[TaskChange]) -> None:
        self.changes.extend(changes)

    def commit(self) -> bool:
        """Commit. Returns False if only the journal has the change so far, until it is carried out."""
        if not self.changes:
            return True
        folder = self._folder
        files = self._files()
        writes = [(name, data) for name, data in files.items() if data is not None]
        single = writes[0] if len(files) == len(writes) == 1 else None
        if any(name.startswith("archive/") for name in files):
            folder.archive.mkdir(mode=0o700, exist_ok=True)
        staged = folder.disk.staged(self.changes[-1].id)
        try:
            folder.disk.stage(staged, single[1] if single else Journal(files).encode())
            size = folder.history.append(self.changes)
            try:
                folder.disk.commit(staged, folder.path / single[0] if single else folder.journal_path)
            except OSError:
                folder.history.take_back(size)
                raise
        except OSError:
            staged.unlink(missing_ok=True)
            raise
        folder.history.mark_settled()
        if not single:
            try:
                folder.carry_out()
            except OSError:
                return False
        return True

    def neighbours(self) -> set[int]:
        """The tasks whose derived fields this change touches."""
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
        """Ready tasks by what is known, without reading the disk again."""
        found: list[Task] = []
        for node in self._folder.ready():
            if limit is not None and len(found) >= limit:
                break
            task = self._folder.full(node)
            if fit.suits(task.labels):
                found.append(task)
        return found

    def _look_at(self, ids: Collection[int]) -> None:
        """Notice manual edits of these tasks. What this transaction has changed is newer than the files."""
        if not self._scanned:
            self._folder.check_tasks(number for number in ids if number not in self._before)

    def _remember(self, number: int) -> None:
        if number not in self._before:
            node = self._folder.node(number)
            self._before[number] = node.task() if node else None

    def _files(self) -> dict[str, bytes | None]:
        """The files that this change writes or removes."""
        files: dict[str, bytes | None] = {}
        for number, old in self._before.items():
            hot, archived = task_name(number), archived_name(number)
            node = self._folder.node(number)
            was = None if old is None else archived if old.archived_at else hot
            goes = None if node is None else archived if node.task().archived_at else hot
            if was is not None and was != goes:
                files[was] = None
            if goes is not None:
                files[goes] = self._folder.encoded(number)
        return files
