"""Filters and orders in Python, for engines and fields where the database cannot be asked the same everywhere."""

from collections.abc import Iterable
from typing import Any

from outlive.stores.tasks.protocol import TaskQuery
from outlive.stores.tasks.records import STATUSES, Task


def matches(task: Task, query: TaskQuery) -> bool:
    return (
        (query.statuses is None or task.status in query.statuses)
        and (query.owner is None or task.owner == query.owner)
        and set(query.labels) <= set(task.labels)
        and (query.blocked is None or query.blocked == (bool(task.blocked_by) and not task.finished))
        and (query.archived or task.archived_at is None)
        and mentions(task.subject, task.description, query.text)
    )


def mentions(subject: str, description: str, text: str | None) -> bool:
    return text is None or text.casefold() in f"{subject}\n{description}".casefold()


def ordered(tasks: Iterable[Task], query: TaskQuery) -> list[Task]:
    def key(task: Task) -> tuple[Any, ...]:
        return {
            "priority": (task.priority, task.created_at, task.id),
            "created": (task.created_at, task.id),
            "updated": (task.updated_at, task.id),
            "status": (STATUSES.index(task.status), task.priority, task.created_at, task.id),
            "id": (task.id,),
        }[query.sort]

    found = sorted(tasks, key=key, reverse=query.descending)
    return found if query.limit is None else found[: query.limit]
