"""Problems of a graph whose records are all readable."""

import shlex
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from outlive.stores.tasks.protocol import Problem
from outlive.stores.tasks.records import Task
from outlive.tasks import rules, shape
from outlive.tasks.edges import arrows
from outlive.tasks.refs import some

_MAX_SHOWN = 20


def graph_problems(tasks: Sequence[Task], unreadable: Collection[int | None], now: datetime) -> Iterator[Problem]:
    """Find dependencies on missing tasks, a cycle, and leases that ran out implausibly long ago."""
    for task in tasks:
        if task.status == "in_progress" and task.lease and task.lease.stale(now):
            release = f"outlive task release {task.id} --owner {shlex.quote(task.lease.owner)}"
            remedy = f"if the clock is right, give it back with: {release}"
            yield Problem(f"task {task.id}", rules.stale_lease(task, now), remedy, task=task.id)
    known = {task.id for task in tasks} | set(unreadable)
    for task in tasks:
        lost = [number for number in task.depends_on if number not in known]
        if lost:
            options = " ".join(f"--remove-blocked-by {number}" for number in lost[:_MAX_SHOWN])
            yield Problem(
                f"task {task.id}",
                f"depends on {some(lost, _MAX_SHOWN)}, which does not exist, and stays blocked",
                f"outlive task update {task.id} {options}",
                task=task.id,
            )
    cycle = shape.find_cycle({task.id: task.depends_on for task in tasks})
    if cycle:
        yield Problem(
            f"task {cycle[0]}",
            f"depends on itself: {arrows(cycle)}",
            f"outlive task update {cycle[0]} --remove-blocked-by {cycle[1]}",
            task=cycle[0],
        )
