"""Helpers of the task store tests."""

import threading
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from outlive.stores.tasks.protocol import Fit, TaskQuery, TaskReader, TaskStore, TaskWriter
from outlive.stores.tasks.records import Lease, Task, TaskChange

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
EVERYTHING = TaskQuery(archived=True, sort="id")

OpenStore: TypeAlias = Callable[["Clock"], TaskStore]


class Clock:
    """A clock that moves only when told to."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **span: float) -> None:
        self.now += timedelta(**span)


class RefusedByTest(Exception):
    """Raised by a test inside a transaction."""


def change_of(task: Task, op: str = "create", *, at: datetime = NOON, **fields: Any) -> TaskChange:
    return TaskChange(
        id=uuid4().hex,
        at=at,
        actor=fields.pop("actor", "tester"),
        origin=fields.pop("origin", "here"),
        op=op,
        task=task.id,
        revision=task.revision,
        **fields,
    )


def held_until(moment: datetime, owner: str = "ann", token: int = 2) -> Lease:
    return Lease(owner=owner, token=token, claimed_at=NOON, expires_at=moment)


def a_task(number: int, **fields: Any) -> Task:
    fields.setdefault("subject", f"task {number}")
    return Task(id=number, created_at=NOON, updated_at=NOON, **fields)


def new_id(store: TaskStore) -> int:
    return store.write(lambda tx: tx.new_ids(1)[0])


def add(store: TaskStore, *subjects: str, **fields: Any) -> list[int]:
    """Create tasks in one transaction; returns their ids."""

    def work(tx: TaskWriter) -> list[int]:
        numbers = tx.new_ids(len(subjects))
        for number, subject in zip(numbers, subjects, strict=True):
            task = a_task(number, subject=subject, **fields)
            tx.put(task, change_of(task))
        return list(numbers)

    return store.write(work)


def put(store: TaskStore, task: Task, op: str = "create") -> None:
    store.write(lambda tx: tx.put(task, change_of(task, op)))


def change(store: TaskStore, number: int, **fields: Any) -> None:
    """Change fields of a task, locking the tasks involved first, as callers must."""

    def work(tx: TaskWriter) -> None:
        edges = fields.get("depends_on", ())
        dependents = tx.dependents([number]).get(number, ())
        task = tx.lock({number, *edges, *dependents}, edges=bool(edges))[number]
        new = replace(task, revision=task.revision + 1, **fields)
        tx.put(new, change_of(new, "change", changed={name_in_json(name): (None, None) for name in fields}))

    store.write(work)


def name_in_json(name: str) -> str:
    return next(field.encode_name for field in msgspec.structs.fields(Task) if field.name == name)


def remove(store: TaskStore, number: int) -> None:
    def work(tx: TaskWriter) -> None:
        task = tx.lock([number])[number]
        gone = replace(task, revision=task.revision + 1)
        was = {"dependsOn": list(task.depends_on)}
        tx.remove(number, change_of(gone, "delete", changed={"task": (was, None)}))

    store.write(work)


def get(store: TaskStore, *numbers: int) -> dict[int, Task]:
    return store.read(lambda tx: tx.get(numbers))


def find(store: TaskStore, query: TaskQuery = TaskQuery()) -> list[Task]:  # noqa: B008 - frozen
    return store.read(lambda tx: tx.find(query))


def count(store: TaskStore, query: TaskQuery = TaskQuery()) -> int:  # noqa: B008 - frozen
    return store.read(lambda tx: tx.count(query))


def ready(store: TaskStore, fit: Fit = Fit(), limit: int | None = None) -> list[Task]:  # noqa: B008 - frozen
    return store.read(lambda tx: tx.ready(fit, limit))


def history(store: TaskStore, number: int | None = None) -> list[TaskChange]:
    return store.read(lambda tx: tx.history(number))


def ids(tasks: Collection[Task]) -> list[int]:
    return [task.id for task in tasks]


def nonempty(edges: dict[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    return {number: others for number, others in edges.items() if others}


def everything(store: TaskStore) -> tuple[list[Task], list[Task], list[TaskChange]]:
    """Return tasks, ready tasks and history."""
    return store.read(lambda tx: (tx.find(EVERYTHING), tx.ready(), tx.history()))


def assert_derived(store: TaskStore) -> None:
    """Assert that `blocked_by`, `blocks` and readiness follow from `depends_on` and `status`."""

    def look(tx: TaskReader) -> tuple[list[Task], list[Task], list[Task]]:
        return tx.find(EVERYTHING), tx.ready(), tx.find(TaskQuery(blocked=True, sort="id"))

    tasks, ready_now, blocked = store.read(look)
    finished = {task.id for task in tasks if task.finished}
    hot = [task for task in tasks if task.archived_at is None]
    for task in tasks:
        assert task.blocked_by == tuple(number for number in task.depends_on if number not in finished), task
        assert task.blocks == tuple(other.id for other in hot if task.id in other.depends_on), task
    expected = [task for task in hot if task.status == "pending" and set(task.depends_on) <= finished]
    assert ids(ready_now) == ids(sorted(expected, key=lambda task: (task.priority, task.created_at, task.id)))
    assert ids(blocked) == [task.id for task in hot if task.blocked_by and not task.finished]


def in_threads(rounds: int, *works: Callable[[], object]) -> None:
    """Run each function in so many threads, and raise the first error."""
    failures: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - handed to the test
            failures.append(error)

    each = max(1, rounds // len(works))
    threads = [threading.Thread(target=run, args=(work,)) for work in works for _ in range(each)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
