"""One transaction on the task tables, for the readers and writers of `sql.py`."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from functools import cached_property
from operator import itemgetter
from typing import Any, TypeVar

import msgspec
from msgspec.structs import asdict

from outlive.stores.sql.database import Connection, Database, Row, moment
from outlive.stores.tasks.protocol import ANY_TASK, Fit, TaskQuery
from outlive.stores.tasks.records import (
    FINISHED,
    MAX_LEASE,
    STALE_LEASE,
    STATUSES,
    Lease,
    Task,
    TaskChange,
    believable,
    check_reserve,
    damaged_mark,
    wrong_mark,
)

T = TypeVar("T")

_FIELDS = (
    "id, subject, description, status, owner, priority, revision, result, labels, metadata, extra, created_at, "
    "updated_at, completed_at, archived_at, lease_owner, lease_token, lease_claimed_at, lease_expires_at"
)
_NAMES = _FIELDS.split(", ")
_CHANGE = ", ".join(TaskChange.__struct_fields__)
_INSERT = f"INSERT INTO outlive_tasks ({_FIELDS}) VALUES (:{', :'.join(_NAMES)})"
_UPDATE = f"UPDATE outlive_tasks SET {', '.join(f'{name} = :{name}' for name in _NAMES[1:])} WHERE id = :id"
_GET = f"SELECT {_FIELDS} FROM outlive_tasks WHERE id IN :ids ORDER BY id"
_EDGES = """
    SELECT 0, e.task, e.depends_on, d.status FROM outlive_task_edges e
    LEFT JOIN outlive_tasks d ON d.id = e.depends_on WHERE e.task IN :ids
    UNION ALL SELECT 1, e.depends_on, e.task, t.status FROM outlive_task_edges e
    JOIN outlive_tasks t ON t.id = e.task WHERE e.depends_on IN :ids AND t.archived_at IS NULL"""
"""Dependencies (0) with their status, and dependents (1); then, from a database with a clock, the time (2)."""
_FIRST = """(SELECT id FROM outlive_tasks WHERE status = '{}' AND archived_at IS NULL AND id <> :id
    ORDER BY status, priority, created_at, id LIMIT 1)"""
_NO_OTHER_IS_OPEN = f"COALESCE({_FIRST.format('pending')}, {_FIRST.format('in_progress')}) IS NULL"
"""Waits for the end of all work are over; the order is that of an index."""
_RECORD = f"INSERT INTO outlive_task_changes ({_CHANGE}) VALUES (:{_CHANGE.replace(', ', ', :')})"
_EXPIRED = """
    SELECT id FROM outlive_tasks WHERE status = 'in_progress' AND lease_expires_at IS NOT NULL
    AND (lease_expires_at > {latest} OR lease_expires_at BETWEEN {oldest} AND {now}) ORDER BY id"""
OPEN_DEPENDENCIES = """
    SELECT count(*) FROM outlive_task_edges e LEFT JOIN outlive_tasks d ON d.id = e.depends_on
    WHERE e.task = outlive_tasks.id AND (d.status IS NULL OR d.status IN ('pending', 'in_progress'))"""
_ORDERS = {
    "priority": ("priority", "created_at", "id"),
    "created": ("created_at", "id"),
    "updated": ("updated_at", "id"),
    "status": (
        "CASE status " + " ".join(f"WHEN '{name}' THEN {i}" for i, name in enumerate(STATUSES)) + " END",
        "priority",
        "created_at",
        "id",
    ),
    "id": ("id",),
}


class SQLTransaction:
    """Reader and writer in one."""

    def __init__(self, database: Database, connection: Connection, clock: Callable[[], datetime] | None) -> None:
        self._database = database
        self._connection = connection
        self._clock = clock
        self._known: dict[int, Task] = {}
        """Tasks as last seen in this transaction."""
        self._new: set[int] = set()
        """Ids given out by this transaction."""
        self.last_change = ""
        """The id of a change that exists if and only if this transaction is committed; empty if there is none."""
        self._wakes = False

    @property
    def _server_clock(self) -> str:
        """The clock as an expression, while the time is not known yet."""
        return "" if self._clock or "now" in self.__dict__ else self._database.clock

    @cached_property
    def now(self) -> datetime:
        return self._clock() if self._clock else self._database.now(self._connection)

    # -- reading ---------------------------------------------------------------------------------------

    def get(self, ids: Collection[int]) -> dict[int, Task]:
        if not ids:
            return {}
        return {task.id: task for task in self._with_edges(_GET, ids)}

    def find(self, query: TaskQuery) -> list[Task]:
        direction = " DESC" if query.descending else ""
        order = ", ".join(column + direction for column in _ORDERS[query.sort])
        conditions, values = _conditions(query)
        limit = ""
        if query.limit is not None and query.text is None:
            limit, values["limit"] = " LIMIT :limit", query.limit
        rows = self._connection.rows(
            f"SELECT {_FIELDS} FROM outlive_tasks WHERE {conditions} ORDER BY {order}{limit}", **values
        )
        if query.text is not None:
            # Folding case is not the same everywhere, so it is done here.
            rows = [row for row in rows if query.mentioned(row[1], row[2])][: query.limit]
        return self._tasks(rows)

    def count(self, query: TaskQuery) -> int:
        if query.text is not None:
            return len(self.find(query))
        conditions, values = _conditions(query)
        return int(self._connection.first(f"SELECT count(*) FROM outlive_tasks WHERE {conditions}", **values))

    def ready(self, fit: Fit = ANY_TASK, limit: int | None = None) -> list[Task]:
        return self._tasks(self._ready_rows(_FIELDS, fit, limit))

    def expired(self) -> list[int]:
        asked = {"now": ":now", "oldest": ":oldest", "latest": ":latest"}
        values: dict[str, Any] = {}
        if self._server_clock:  # it need not be asked first
            asked = {
                "now": self._server_clock,
                "oldest": f"{self._server_clock} - INTERVAL '{STALE_LEASE.days} days'",
                "latest": f"{self._server_clock} + INTERVAL '{MAX_LEASE.days} days'",
            }
        else:
            oldest, latest = believable(self.now)
            values = {"now": self.now, "oldest": oldest, "latest": latest}
        rows = self._connection.rows(_EXPIRED.format_map(asked), **values)
        return [row[0] for row in rows]

    def next_expiry(self) -> datetime | None:
        found = self._connection.first(
            "SELECT lease_expires_at FROM outlive_tasks WHERE status = 'in_progress' "
            "AND lease_expires_at >= :oldest ORDER BY lease_expires_at LIMIT 1",
            oldest=believable(self.now)[0],
        )
        return moment(found) if found else None

    def depends_on(self, ids: Collection[int]) -> dict[int, tuple[int, ...]]:
        rows = self._connection.rows(
            "SELECT task, depends_on FROM outlive_task_edges WHERE task IN :ids ORDER BY task, depends_on",
            ids=list(ids),
        )
        return _grouped(rows)

    def dependents(self, ids: Collection[int], *, archived: bool = False) -> dict[int, tuple[int, ...]]:
        condition = "" if archived else "AND t.archived_at IS NULL "
        rows = self._connection.rows(
            "SELECT e.depends_on, e.task FROM outlive_task_edges e JOIN outlive_tasks t ON t.id = e.task "
            f"WHERE e.depends_on IN :ids {condition}ORDER BY e.depends_on, e.task",
            ids=list(ids),
        )
        return _grouped(rows)

    def history(self, task: int | None = None) -> list[TaskChange]:
        condition = "" if task is None else "WHERE task = :task "
        values = {} if task is None else {"task": task}
        rows = self._connection.rows(f"SELECT {_CHANGE} FROM outlive_task_changes {condition}ORDER BY seq", **values)
        return [_change(row) for row in rows]

    def high_water(self) -> int:
        return self._database.high_water(self._connection)

    # -- writing ---------------------------------------------------------------------------------------

    def lock(self, ids: Collection[int], *, edges: bool = False) -> dict[int, Task]:
        if edges:
            self._database.lock_edges(self._connection)
        if not ids:
            return {}
        # The edges, and the time, are asked for by a statement of their own: it sees what the first had to wait for.
        return {task.id: task for task in self._with_edges(f"{_GET} FOR UPDATE", ids)}

    def pick(self, fit: Fit = ANY_TASK) -> Task | None:
        rows = self._ready_rows(_FIELDS, fit, 1, lock=" FOR UPDATE SKIP LOCKED")
        return next(iter(self._tasks(rows)), None)

    def new_ids(self, count: int) -> Sequence[int]:
        wrong = wrong_mark(self.high_water(), lambda: max(known_ids(self._connection), default=0))
        ids = [] if wrong else self._database.new_ids(self._connection, count)
        if used := known_ids(self._connection, ids):
            wrong = f"gives out {min(used)}, which was given out before"
        if wrong:
            raise damaged_mark(f"{self._database.url}, outlive_task_ids", wrong)
        self._new.update(ids)
        return ids

    def reserve(self, high_water: int) -> None:
        check_reserve(high_water)
        if high_water > self.high_water():
            self._database.set_high_water(self._connection, high_water)

    def put(self, task: Task, change: TaskChange) -> None:
        old = self._known.get(task.id)
        if old is None and task.id not in self._new:
            old = self.get([task.id]).get(task.id)
        wakes = self._database.announcement(_NO_OTHER_IS_OPEN) if task.finished else ""
        self._connection.together(
            (_INSERT if old is None else _UPDATE, _row(task)),
            (_RECORD, _recorded(change)),
            *([(wakes, {"id": task.id})] if wakes else []),
        )
        if task.labels != (old.labels if old else ()):
            self._connection.run("DELETE FROM outlive_task_labels WHERE task = :task", task=task.id)
            self._connection.run_many(
                "INSERT INTO outlive_task_labels (label, task) VALUES (:label, :task)",
                [{"label": label, "task": task.id} for label in task.labels],
            )
        if task.depends_on != (old.depends_on if old else ()):
            self._connection.run("DELETE FROM outlive_task_edges WHERE task = :task", task=task.id)
            self._connection.run_many(
                "INSERT INTO outlive_task_edges (task, depends_on) VALUES (:task, :other)",
                [{"task": task.id, "other": other} for other in task.depends_on],
            )
            self._connection.run(
                f"UPDATE outlive_tasks SET blockers = ({OPEN_DEPENDENCIES}) WHERE id = :id", id=task.id
            )
        self._count_blockers_of_dependents(task.id, old is not None and old.finished, task.finished)
        self._known[task.id] = task
        self.last_change = change.id
        self._wakes = self._wakes or task.status == "pending"

    def remove(self, task: int, change: TaskChange) -> None:
        old = self._known.get(task) or self.get([task]).get(task)
        self._connection.run("DELETE FROM outlive_task_edges WHERE task = :task", task=task)
        self._connection.run("DELETE FROM outlive_task_labels WHERE task = :task", task=task)
        self._connection.run("DELETE FROM outlive_tasks WHERE id = :task", task=task)
        self._count_blockers_of_dependents(task, old is not None and old.finished, finished=False)
        self._known.pop(task, None)
        self.record([change])
        self._wakes = True

    def record(self, changes: Sequence[TaskChange]) -> None:
        if changes:
            self._connection.run_many(_RECORD, [_recorded(change) for change in changes])
            self.last_change = changes[-1].id

    def close(self) -> None:
        """Wake those who wait for what was changed."""
        if self._wakes:
            self._database.announce(self._connection)

    # -- inside ----------------------------------------------------------------------------------------

    def _tasks(self, rows: Iterable[Row]) -> list[Task]:
        """Rows with their edges: three statements, however many rows."""
        rows = list(rows)
        return self._joined(rows, self._connection.several(self._edges([row[0] for row in rows]))[0]) if rows else []

    def _with_edges(self, statement: str, ids: Collection[int]) -> list[Task]:
        """The tasks of a statement that returns rows of these ids."""
        return self._joined(*self._connection.several((statement, {"ids": list(ids)}), self._edges(ids)))

    def _edges(self, ids: Collection[int]) -> tuple[str, dict[str, Any]]:
        clock = self._server_clock
        return f"{_EDGES} UNION ALL SELECT 2, 0, 0, CAST({clock} AS TEXT)" if clock else _EDGES, {"ids": list(ids)}

    def _joined(self, rows: list[Row], edges: list[Row]) -> list[Task]:
        depends_on: dict[int, list[int]] = {}
        blocked_by: dict[int, list[int]] = {}
        blocks: dict[int, list[int]] = {}
        for kind, task, other, status in sorted(edges, key=itemgetter(0, 1, 2)):
            if kind == 2:
                self.now = moment(status)
            elif kind == 1:
                blocks.setdefault(task, []).append(other)
            else:
                depends_on.setdefault(task, []).append(other)
                if status not in FINISHED:
                    blocked_by.setdefault(task, []).append(other)
        tasks = [
            _task(row, *(tuple(edges.get(row[0], ())) for edges in (depends_on, blocked_by, blocks))) for row in rows
        ]
        self._known.update((task.id, task) for task in tasks)
        return tasks

    def _ready_rows(self, fields: str, fit: Fit, limit: int | None, lock: str = "") -> list[Row]:
        conditions, values = _having(fit.labels)
        conditions.append("status = 'pending' AND blockers = 0")
        if fit.capabilities is not None:
            conditions.append(
                "NOT EXISTS (SELECT 1 FROM outlive_task_labels l "
                "WHERE l.task = outlive_tasks.id AND l.label NOT IN :able)"
            )
            values["able"] = list(fit.capabilities)
        if fit.without:
            conditions.append(
                "NOT EXISTS (SELECT 1 FROM outlive_task_labels l "
                "WHERE l.task = outlive_tasks.id AND l.label IN :without)"
            )
            values["without"] = list(fit.without)
        ending = ""
        if limit is not None:
            ending = f" LIMIT {limit:d}"  # as a parameter it would make PostgreSQL plan each time
        return self._connection.rows(
            f"SELECT {fields} FROM outlive_tasks WHERE {' AND '.join(conditions)} "
            f"ORDER BY priority, created_at, id{ending}{lock}",
            **values,
        )

    def _count_blockers_of_dependents(self, task: int, was_finished: bool, finished: bool) -> None:
        if was_finished == finished:
            return
        # Locked by a statement of its own: the next one then sees the edges as they are now, and no other
        # writer can take one away in between, which would be counted twice.
        dependents = "id IN (SELECT task FROM outlive_task_edges WHERE depends_on = :task)"
        if self._connection.rows(
            f"SELECT id FROM outlive_tasks WHERE {dependents} ORDER BY id FOR UPDATE", task=task
        ):
            self._connection.run(
                f"UPDATE outlive_tasks SET blockers = blockers + :step WHERE {dependents}",
                step=-1 if finished else 1,
                task=task,
            )
            self._wakes = True


def _conditions(query: TaskQuery) -> tuple[str, dict[str, Any]]:
    parts, values = _having(query.labels)
    if query.statuses is not None:
        parts.append("status IN :statuses")
        values["statuses"] = sorted(query.statuses)
    if query.owner is not None:
        parts.append("owner = :owner")
        values["owner"] = query.owner
    if query.blocked is not None:
        blocked = "(blockers > 0 AND status IN ('pending', 'in_progress'))"
        parts.append(blocked if query.blocked else f"NOT {blocked}")
    if not query.archived:
        parts.append("archived_at IS NULL")
    return " AND ".join(parts) or "TRUE", values


def _having(labels: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Conditions for tasks with all of these labels, and their parameters."""
    with_label = "EXISTS (SELECT 1 FROM outlive_task_labels l WHERE l.task = outlive_tasks.id AND l.label = :{})"
    values: dict[str, Any] = {f"label_{index}": label for index, label in enumerate(labels)}
    return [with_label.format(name) for name in values], values


def _grouped(pairs: Iterable[tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    groups: dict[int, list[int]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in groups.items()}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _recorded(change: TaskChange) -> dict[str, Any]:
    return {**asdict(change), "changed": _json(change.changed)}


def _row(task: Task) -> dict[str, Any]:
    row = {name: getattr(task, name) for name in _NAMES if not name.startswith("lease_")}
    row.update(labels=_json(task.labels), metadata=_json(task.metadata), extra=_json(task.extra))
    for name in Lease.__struct_fields__:
        row[f"lease_{name}"] = getattr(task.lease, name) if task.lease else None
    return row


def _task(row: Row, depends_on: tuple[int, ...], blocked_by: tuple[int, ...], blocks: tuple[int, ...]) -> Task:
    labels, metadata, extra, created, updated, completed, archived, owner, token, claimed, expires = row[8:]
    return Task(
        **dict(zip(_NAMES, row[:8], strict=False)),
        labels=tuple(_decode(labels)),
        metadata=_decode(metadata),
        extra=_decode(extra),
        created_at=moment(created),
        updated_at=moment(updated),
        completed_at=completed and moment(completed),
        archived_at=archived and moment(archived),
        lease=None if owner is None else Lease(owner, token, moment(claimed), moment(expires)),
        depends_on=depends_on,
        blocked_by=blocked_by,
        blocks=blocks,
    )


_decode = msgspec.json.Decoder().decode


def _change(row: Row) -> TaskChange:
    fields = dict(zip(TaskChange.__struct_fields__, row, strict=True))
    fields["at"] = moment(fields["at"])
    fields["changed"] = msgspec.json.decode(fields["changed"], type=dict[str, tuple[Any, Any]])
    return TaskChange(**fields)


def known_ids(connection: Connection, among: Sequence[int] | None = None) -> set[int]:
    """Every id that a task has or had, restricted to `among` if given."""
    condition, values = ("", {}) if among is None else ("WHERE {} IN :ids ", {"ids": list(among)})
    rows = connection.rows(
        f"SELECT id FROM outlive_tasks {condition.format('id')}"
        f"UNION SELECT task FROM outlive_task_changes {condition.format('task')}",
        **values,
    )
    return {number for (number,) in rows}
