"""Saves a changed task together with its entry in the audit trail: who, when, what, from where."""

import os
import time
from typing import Any

from msgspec.structs import replace

from outlive.stores.tasks.protocol import TaskReader, TaskWriter
from outlive.stores.tasks.records import Task, TaskChange, task_to_json
from outlive.tasks import rules

_BOOKKEEPING = {"id", "blockedBy", "blocks", "updatedAt", "revision", "version"}


class Audit:
    def __init__(self, actor: str | None, origin: str | None) -> None:
        self._actor = rules.name(actor, "the actor") if actor else None
        self._origin = origin or f"{os.uname().nodename}:{os.getpid()}"

    def create(self, tx: TaskWriter, task: Task, *, op: str = "create", note: str | None = None) -> None:
        changed = {"subject": (None, task.subject)}
        tx.put(rules.dependencies(task), self._change(tx, op, task.id, task.revision, changed, note=note))

    def save(
        self, tx: TaskWriter, op: str, old: Task, new: Task, *, note: str | None = None, actor: str | None = None
    ) -> Task:
        """Write `new` if it differs, and return the task as it is now."""
        was, now = task_to_json(old), task_to_json(new)
        changed = {
            key: (was.get(key), now.get(key))
            for key in {**was, **now}
            if key not in _BOOKKEEPING and was.get(key) != now.get(key)
        }
        if not changed:
            return old
        new = replace(rules.dependencies(new), revision=old.revision + 1, updated_at=tx.now)
        tx.put(new, self._change(tx, op, new.id, new.revision, changed, note=note, actor=actor))
        # Derived fields depend on the edges only.
        return tx.get([new.id])[new.id] if "dependsOn" in changed else new

    def delete(self, tx: TaskWriter, task: Task) -> None:
        """Delete a task; the trail keeps all of it."""
        changed = {"task": (task_to_json(task), None)}
        tx.remove(task.id, self._change(tx, "delete", task.id, task.revision + 1, changed))

    def _change(
        self,
        tx: TaskReader,
        op: str,
        task: int,
        revision: int,
        changed: dict[str, tuple[Any, Any]],
        *,
        note: str | None = None,
        actor: str | None = None,
    ) -> TaskChange:
        return TaskChange(
            id=f"{time.time_ns():016x}{os.urandom(5).hex()}",  # sorted by time, which is good for indexes
            at=tx.now,
            actor=self._actor or actor or _user(),
            origin=self._origin,
            op=op,
            task=task,
            revision=revision,
            changed=changed,
            note=note,
        )


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"uid {os.getuid()}"
