"""Changes of the edges of a task, which may not close a cycle."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from outlive.errors import CycleError, DependencyError
from outlive.stores.tasks.protocol import TaskWriter
from outlive.stores.tasks.records import Task
from outlive.tasks import shape

_MAX_SHOWN = 20  # at each end of a path: a cycle may have thousands of tasks


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


def with_edges(task: Task, *, add: Iterable[int] = (), remove: Iterable[int] = ()) -> Task:
    """Return the task with other dependencies."""
    return replace(task, depends_on=tuple(sorted((set(task.depends_on) | set(add)) - set(remove))))


def arrows(nodes: Sequence[Any]) -> str:
    """Format a path; the middle of a long one is left out."""
    if len(nodes) > 2 * _MAX_SHOWN:
        omitted = len(nodes) - 2 * _MAX_SHOWN
        nodes = [*nodes[:_MAX_SHOWN], f"… ({omitted:,} more) …", *nodes[-_MAX_SHOWN:]]
    return " -> ".join(map(str, nodes))
