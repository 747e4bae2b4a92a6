"""Checks of new edges: that they refer to known tasks and close no cycle."""

from collections.abc import Iterable, Sequence
from typing import Any

from outlive.errors import CycleError, DependencyError, UnknownTask
from outlive.stores.tasks.protocol import TaskReader, TaskWriter
from outlive.tasks import shape
from outlive.tasks.draft import TaskDraft
from outlive.tasks.lookup import find_id
from outlive.tasks.refs import Ref, some

_SHOWN = 20


def split(tx: TaskReader, refs: Iterable[Ref], keys: dict[str, int]) -> tuple[set[int], set[int]]:
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


def refuse_batch_cycles(drafts: Sequence[TaskDraft], inner: Sequence[set[int]]) -> None:
    cycle = shape.find_cycle(dict(enumerate(inner)))
    if cycle is None:
        return
    names = [drafts[index].key or drafts[index].subject for index in cycle]
    if len(cycle) == 2:
        raise DependencyError(f"task {names[0]!r} of the batch cannot depend on itself")
    raise CycleError(f"the batch has a cycle: {arrows(names)}; leave out one of these edges", names)


def refuse_cycles(tx: TaskWriter, edges: Sequence[tuple[int, int]]) -> None:
    """Refuse new edges (from, to), already written in `tx`, if a path leads from `to` back to `from`.

    Each reachable task is visited once, however many edges there are.
    """
    for number, other in edges:
        if number == other:
            raise DependencyError(f"task {number} cannot depend on itself; leave {number} out")
    behind = shape.explored([other for _, other in edges], tx.depends_on)
    if behind.keys().isdisjoint(number for number, _ in edges):
        return
    component = shape.components(behind)
    for number, other in edges:
        if component.get(number) == component[other]:
            path = shape.find_path(other, number, tx.depends_on)
            cycle = [number, *(path or ())]
            raise CycleError(
                f"task {number} cannot depend on {other}: that closes the cycle {arrows(cycle)}",
                cycle,
                hint="remove one of these edges first",
            )


def arrows(nodes: Sequence[Any]) -> str:
    """Format a path; the middle of a long one is left out."""
    if len(nodes) > 2 * _SHOWN:
        left = len(nodes) - 2 * _SHOWN
        nodes = [*nodes[:_SHOWN], f"… ({left:,} more) …", *nodes[-_SHOWN:]]
    return " -> ".join(map(str, nodes))
