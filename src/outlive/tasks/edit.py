"""Changes to the fields of a task, validated before anything is written."""

from collections.abc import Iterable
from typing import Any, TypedDict

from msgspec.structs import replace

from outlive.errors import LeaseError
from outlive.stores.tasks.records import Task
from outlive.tasks import rules
from outlive.tasks.refs import Ref


class TaskEdit(TypedDict, total=False):
    """Changes to a task; fields that are not given stay. Edges can be named from both sides."""

    subject: str
    description: str
    status: str
    owner: str | None
    priority: int
    labels: Iterable[str]
    add_labels: Iterable[str]
    remove_labels: Iterable[str]
    metadata: dict[str, Any]
    result: str | None
    add_blocked_by: Iterable[Ref]
    remove_blocked_by: Iterable[Ref]
    add_blocks: Iterable[Ref]
    remove_blocks: Iterable[Ref]


EDGE_FIELDS = ("add_blocked_by", "remove_blocked_by", "add_blocks", "remove_blocks")


def checked_edit(edit: TaskEdit) -> dict[str, Any]:
    """Refuse unknown fields; iterables become tuples, because a transaction may run twice."""
    fields: dict[str, Any] = {**edit}
    if unknown := fields.keys() - TaskEdit.__annotations__.keys():
        raise TypeError(f"a task has no {', '.join(sorted(unknown))} to update")
    edges = {side: tuple(fields.get(side, ())) for side in EDGE_FIELDS}
    rules.edges([ref for refs in edges.values() for ref in refs])
    labels = {key: tuple(value) for key, value in fields.items() if key.endswith("labels")}
    return {**fields, **edges, **labels}


def applied(edit: dict[str, Any], task: Task) -> Task:
    """Return the task with its own fields changed, without status and edges."""
    fields: dict[str, Any] = {}
    if "subject" in edit:
        fields["subject"] = rules.subject(edit["subject"])
    if "description" in edit:
        fields["description"] = rules.long_text(edit["description"], "the description")
    if "priority" in edit:
        fields["priority"] = rules.priority(edit["priority"])
    if "metadata" in edit:
        fields["metadata"] = rules.metadata(edit["metadata"])
    if "result" in edit:
        fields["result"] = edit["result"] and rules.long_text(edit["result"], "the result")
    if "owner" in edit:
        fields["owner"] = (edit["owner"] and rules.name(edit["owner"], "the owner")) or None
        if task.lease and fields["owner"] != task.owner:
            raise LeaseError(f"cannot give task {task.id} to another: {rules.held(task)}; release it first")
    labels = set(rules.labels(edit["labels"]) if "labels" in edit else task.labels)
    labels = (labels | set(rules.labels(edit.get("add_labels", ())))) - set(edit.get("remove_labels", ()))
    return replace(task, labels=tuple(sorted(labels)), **fields)
