"""Tasks that are about to be created."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from outlive.errors import InvalidTask
from outlive.stores.tasks.records import DEFAULT_PRIORITY, Task
from outlive.tasks import rules
from outlive.tasks.refs import Ref


class TaskDraft(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A task to create. In a batch, `key` is a temporary name that other drafts may use instead of an id."""

    subject: str
    description: str = ""
    key: str | None = None
    blocked_by: tuple[Ref, ...] = ()
    blocks: tuple[Ref, ...] = ()
    priority: int = DEFAULT_PRIORITY
    labels: tuple[str, ...] = ()
    owner: str | None = None
    metadata: dict[str, Any] = {}


def checked(draft: TaskDraft, number: int = 1) -> TaskDraft:
    """Validate and normalise a draft; `number` is its place in the batch, for the error."""
    try:
        rules.edges((*draft.blocked_by, *draft.blocks), "the task")
        return replace(
            draft,
            subject=rules.subject(draft.subject),
            description=rules.long_text(draft.description, "the description"),
            priority=rules.priority(draft.priority),
            labels=rules.labels(draft.labels),
            owner=rules.name(draft.owner, "the owner") if draft.owner else None,
            metadata=rules.metadata(draft.metadata),
        )
    except InvalidTask as error:
        raise InvalidTask(f"task {number} of the batch: {error}" if number > 1 else str(error)) from None


def to_task(draft: TaskDraft, number: int, edges: Collection[int], now: datetime) -> Task:
    return Task(
        id=number,
        subject=draft.subject,
        description=draft.description,
        depends_on=tuple(sorted(edges)),
        priority=draft.priority,
        labels=draft.labels,
        owner=draft.owner,
        metadata=draft.metadata,
        created_at=now,
        updated_at=now,
    )
