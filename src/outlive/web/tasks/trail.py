"""The audit trail for the page: the newest changes first, each field in a few words."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from outlive.stores.tasks.records import TaskChange
from outlive.tasks.graph import TaskGraph
from outlive.tasks.refs import Ref
from outlive.web.excerpt import line

LONGEST_VALUE = 160  # of a changed field; the task has the whole value
UNTOLD = ("completedAt", "archivedAt", "task")
"""Fields that the name of the change says already."""


class FieldChange(msgspec.Struct, frozen=True):
    field: str
    old: str
    new: str


class ChangeView(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    at: float
    actor: str
    origin: str
    op: str
    task: int
    revision: int
    fields: list[FieldChange]
    note: str


class Trail(msgspec.Struct, frozen=True):
    total: int
    changes: list[ChangeView]


def trail(graph: TaskGraph, ref: Ref | None, skip: int, limit: int) -> Trail:
    """Changes of one task or of all, the newest first."""
    changes = graph.history(ref)
    newest = changes[::-1][skip : skip + limit]
    return Trail(len(changes), [_view(change) for change in newest])


def _view(change: TaskChange) -> ChangeView:
    return ChangeView(
        id=change.id,
        at=change.at.timestamp(),
        actor=line(change.actor, 60),
        origin=line(change.origin, 80),
        op=line(change.op, 40),
        task=change.task,
        revision=change.revision,
        fields=list(_fields(change)),
        note=line(change.note or ""),
    )


def _fields(change: TaskChange) -> Iterator[FieldChange]:
    for field, (old, new) in change.changed.items():
        if field == "lease":
            if new:
                yield FieldChange("lease", "", f"token {new.get('token')}, until {_until(new.get('expiresAt'))}")
        elif field not in UNTOLD:
            yield FieldChange(line(field, 40), _short(old), _short(new))


def _until(moment: Any) -> str:
    """An ISO time in UTC, to the second."""
    try:
        return f"{datetime.fromisoformat(moment):%Y-%m-%d %H:%M:%S} UTC"
    except (TypeError, ValueError):
        return line(str(moment), 40)


def _short(value: Any) -> str:
    if value in (None, "", [], {}):
        return ""
    if isinstance(value, list):
        return line(", ".join(map(str, value[:100])), LONGEST_VALUE)
    return line(str(value), LONGEST_VALUE)
