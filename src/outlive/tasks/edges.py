"""Edges that are to be added: what they refer to, and that they close no cycle."""

from collections.abc import Iterable, Sequence
from typing import Any

from outlive.errors import CycleError, DependencyError
from outlive.stores.protocol import TaskReader, TaskWriter
from outlive.tasks import shape
from outlive.tasks.draft import Draft
from outlive.tasks.lookup import find_id
from outlive.tasks.refs import Ref


def split(tx: TaskReader, refs: Iterable[Ref], keys: dict[str, int]) -> tuple[set[int], set[int]]:
    """Ids of tasks that exist already, and positions of drafts in the same batch."""
    known, inside = set(), set()
    for ref in refs:
        if isinstance(ref, str) and ref in keys:
            inside.add(keys[ref])
        else:
            known.add(find_id(tx, ref))
    return known, inside


def refuse_batch_cycles(drafts: Sequence[Draft], inner: Sequence[set[int]]) -> None:
    cycle = shape.find_cycle(dict(enumerate(inner)))
    if cycle is None:
        return
    names = [drafts[index].key or drafts[index].subject for index in cycle]
    if len(cycle) == 2:
        raise DependencyError(f"task {names[0]!r} of the batch cannot depend on itself")
    raise CycleError(f"the batch has a cycle: {arrows(names)}; leave out one of these edges", names)


def refuse_cycles(tx: TaskWriter, edges: Iterable[tuple[int, int]]) -> None:
    """Refuse new edges (from, to) when a path leads from `to` back to `from`."""
    for number, other in edges:
        if number == other:
            raise DependencyError(f"task {number} cannot depend on itself; leave {number} out")
        path = shape.find_path(other, number, tx.depends_on)
        if path is not None:
            cycle = [number, *path]
            raise CycleError(
                f"task {number} cannot depend on {other}: that closes the cycle {arrows(cycle)}; "
                f"remove one of these edges first (--remove-blocked-by)",
                cycle,
            )


def arrows(nodes: Iterable[Any]) -> str:
    return " -> ".join(map(str, nodes))
