"""Tasks that are about to be created, one by one or as a batch whose drafts refer to each other."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from outlive.errors import CycleError, DependencyError, InvalidTask, UnknownTask
from outlive.printable import some
from outlive.stores.tasks.protocol import TaskReader, TaskWriter
from outlive.stores.tasks.records import DEFAULT_PRIORITY, Task
from outlive.tasks import rules, shape
from outlive.tasks.audit import Audit
from outlive.tasks.edges import arrows, refuse_cycles, with_edges
from outlive.tasks.queries import find_id
from outlive.tasks.refs import Ref, unknown

_COPIED = ("subject", "description", "priority", "labels", "owner", "metadata")


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


def create(tx: TaskWriter, audit: Audit, drafts: Sequence[TaskDraft]) -> list[Task]:
    """Create checked drafts, with their edges among each other and to existing tasks."""
    keys = {draft.key: index for index, draft in enumerate(drafts) if draft.key is not None}
    before = [_split(tx, draft.blocked_by, keys) for draft in drafts]
    after = [_split(tx, draft.blocks, keys) for draft in drafts]
    inner: list[set[int]] = [set(inside) for _, inside in before]
    for index, (_, inside) in enumerate(after):
        for other in inside:
            inner[other].add(index)
    _refuse_batch_cycles(drafts, inner)

    outside = {number for known, _ in (*before, *after) for number in known}
    tasks = tx.lock(outside, edges=any(known for known, _ in after))
    if missing := outside - tasks.keys():
        raise unknown(missing)
    ids = tx.new_ids(len(drafts))
    for index, draft in enumerate(drafts):
        edges = {*before[index][0], *(ids[other] for other in inner[index])}
        fields = {name: getattr(draft, name) for name in _COPIED}
        created = Task(id=ids[index], depends_on=tuple(sorted(edges)), created_at=tx.now, updated_at=tx.now, **fields)
        audit.create(tx, created)
    wanted = [(number, ids[index]) for index, (known, _) in enumerate(after) for number in known]
    for number, other in wanted:
        task = tx.get([number])[number]
        audit.save(tx, "update", task, with_edges(task, add=[other]))
    refuse_cycles(tx, wanted)
    found = tx.get(ids)
    return [found[number] for number in ids]


def _split(tx: TaskReader, refs: Iterable[Ref], keys: dict[str, int]) -> tuple[set[int], set[int]]:
    """Split references into ids of existing tasks and positions of drafts in the same batch."""
    known, inside = set(), set()
    for ref in refs:
        if isinstance(ref, str) and ref in keys:
            inside.add(keys[ref])
        else:
            known.add(_outside(tx, ref, keys))
    return known, inside


def _outside(tx: TaskReader, ref: Ref, keys: dict[str, int]) -> int:
    try:
        return find_id(tx, ref)
    except UnknownTask as error:
        if not keys:
            raise
        raise UnknownTask(f"{error} (The keys of this batch are {some(list(keys))}.)") from None


def _refuse_batch_cycles(drafts: Sequence[TaskDraft], inner: Sequence[set[int]]) -> None:
    cycle = shape.find_cycle(dict(enumerate(inner)))
    if cycle is None:
        return
    names = [drafts[index].key or drafts[index].subject for index in cycle]
    if len(cycle) == 2:
        raise DependencyError(f"task {names[0]!r} of the batch cannot depend on itself")
    raise CycleError(f"the batch has a cycle: {arrows(names)}; leave out one of these edges", names)
