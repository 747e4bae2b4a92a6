"""Problems of a graph whose records are all readable."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from outlive.printable import some
from outlive.stores.tasks.protocol import Problem
from outlive.stores.tasks.records import Task
from outlive.tasks import rules, shape
from outlive.tasks.edges import arrows

_MAX_SHOWN = 20  # ids in one finding; the rest is counted


def graph_problems(tasks: Sequence[Task], unreadable: Collection[int | None], now: datetime) -> Iterator[Problem]:
    """Find dependencies on missing tasks, a cycle, and leases that ran out implausibly long ago."""
    for task in tasks:
        if task.status == "in_progress" and task.lease and task.lease.stale(now):
            remedy = rules.RELEASE_HINT.format(task.lease.owner)
            yield Problem(
                f"task {task.id}",
                rules.stale_lease(task, now),
                remedy,
                task=task.id,
                code="stale_lease",
                data={"id": task.id, "owner": task.lease.owner},
            )
    known = {task.id for task in tasks} | set(unreadable)
    for task in tasks:
        lost = [number for number in task.depends_on if number not in known]
        if lost:
            yield Problem(
                f"task {task.id}",
                f"depends on {some(lost, _MAX_SHOWN)}, which does not exist, and stays blocked",
                "drop these dependencies",
                task=task.id,
                code="drop_dependencies",
                data={"id": task.id, "dropped": tuple(lost[:_MAX_SHOWN])},
            )
    cycle = shape.find_cycle({task.id: task.depends_on for task in tasks})
    if cycle:
        yield Problem(
            f"task {cycle[0]}",
            f"depends on itself: {arrows(cycle)}",
            "drop one of these dependencies",
            task=cycle[0],
            code="drop_dependencies",
            data={"id": cycle[0], "dropped": (cycle[1],)},
        )
