"""Changes to the fields of a task, validated before anything is written."""

from collections.abc import Collection, Iterable
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from outlive.errors import LeaseError
from outlive.stores.tasks.records import Status, Task
from outlive.tasks import rules
from outlive.tasks.refs import Ref


class TaskEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Changes to a task; unset fields stay. Edges can be named from both sides."""

    subject: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    owner: str | UnsetType | None = UNSET
    priority: int | UnsetType = UNSET
    labels: Iterable[str] | UnsetType = UNSET
    add_labels: Iterable[str] = ()
    remove_labels: Iterable[str] = ()
    metadata: dict[str, Any] | UnsetType = UNSET
    result: str | UnsetType | None = UNSET
    add_blocked_by: Collection[Ref] = ()
    remove_blocked_by: Collection[Ref] = ()
    add_blocks: Collection[Ref] = ()
    remove_blocks: Collection[Ref] = ()

    def target(self) -> Status | None:
        return None if isinstance(self.status, UnsetType) else rules.status(self.status)

    def applied(self, task: Task) -> Task:
        """Return the task with its own fields changed, without status and edges."""
        fields: dict[str, Any] = {}
        if not isinstance(self.subject, UnsetType):
            fields["subject"] = rules.subject(self.subject)
        if not isinstance(self.description, UnsetType):
            fields["description"] = rules.long_text(self.description, "the description")
        if not isinstance(self.priority, UnsetType):
            fields["priority"] = rules.priority(self.priority)
        if not isinstance(self.metadata, UnsetType):
            fields["metadata"] = rules.metadata(self.metadata)
        if not isinstance(self.result, UnsetType):
            fields["result"] = self.result and rules.long_text(self.result, "the result")
        if not isinstance(self.owner, UnsetType):
            fields["owner"] = (self.owner and rules.name(self.owner, "the owner")) or None
            if task.lease and fields["owner"] != task.owner:
                raise LeaseError(f"cannot give task {task.id} to another: {rules.held(task)}; release it first")
        labels = set(task.labels if isinstance(self.labels, UnsetType) else rules.labels(self.labels))
        labels = (labels | set(rules.labels(self.add_labels))) - set(self.remove_labels)
        return replace(task, labels=tuple(sorted(labels)), **fields)
