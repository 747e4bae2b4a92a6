"""What the worker processes of the tests do: `python -m tests.workers JOB URL [ARGUMENT]`.

A worker says "ready", waits for a line on its input, so that all begin at once, and prints its result as JSON.
"""

import json
import sys
from collections.abc import Callable

from outlive.errors import CycleError, LeaseError, NothingReady
from outlive.stores import open_stores
from outlive.tasks.graph import TaskGraph


def create(graph: TaskGraph, count: str) -> list[int]:
    return [graph.create(f"number {index}").id for index in range(int(count))]


def claim_all(graph: TaskGraph, owner: str) -> list[int]:
    """Claim the best one until nothing is left."""
    taken = []
    while True:
        try:
            taken.append(graph.claim(owner=owner).id)
        except NothingReady:
            return taken


def claim_each(graph: TaskGraph, argument: str) -> list[int]:
    """Try to claim every one of 1 … n by its id."""
    owner, last = argument.split(",")
    taken = []
    for number in range(1, int(last) + 1):
        try:
            taken.append(graph.claim(number, owner=owner).id)
        except LeaseError:
            continue
    return taken


def complete(graph: TaskGraph, ids: str) -> list[list[int]]:
    """What each completion reports as unblocked."""
    return [[task.id for task in graph.complete(int(number)).unblocked] for number in ids.split(",")]


def link(graph: TaskGraph, edges: str) -> list[str]:
    """Add edges A-B (A depends on B), one after the other."""
    results = []
    for edge in edges.split(","):
        task, _, other = edge.partition("-")
        try:
            graph.update(int(task), add_blocked_by=[int(other)])
            results.append("added")
        except CycleError as error:
            results.append(f"refused: {error}")
    return results


def complete_all(graph: TaskGraph, ids: str) -> list[int]:
    return [graph.complete(int(number)).task.id for number in ids.split(",")]


def follow(graph: TaskGraph, ids: str) -> list[int]:
    """Create a task after each of these."""
    return [graph.create(f"after {number}", blocked_by=[int(number)]).id for number in ids.split(",")]


def unlink(graph: TaskGraph, edges: str) -> list[int]:
    """Remove edges A-B, one after the other."""
    pairs = [edge.partition("-") for edge in edges.split(",")]
    return [graph.update(int(task), remove_blocked_by=[int(other)]).id for task, _, other in pairs]


def set_completed(graph: TaskGraph, ids: str) -> list[int]:
    """Complete by a change of status."""
    return [graph.update(int(number), status="completed").id for number in ids.split(",")]


def churn(graph: TaskGraph, argument: str) -> list[int]:
    """Complete and reopen, many times over."""
    ids = [int(number) for number in argument.split(",")]
    for _ in range(10):
        for number in ids:
            graph.complete(number, force=True)
        for number in ids:
            graph.reopen(number)
    return ids


def first_open(graph: TaskGraph, name: str) -> list[int]:
    return [graph.create(name).id]


JOBS: dict[str, Callable[[TaskGraph, str], object]] = {
    job.__name__: job
    for job in (
        create,
        claim_all,
        claim_each,
        complete,
        complete_all,
        set_completed,
        follow,
        link,
        unlink,
        churn,
        first_open,
    )
}


def main() -> None:
    job, url, argument = sys.argv[1:]
    graph = TaskGraph(open_stores(url, durability="process").tasks, actor=None, origin="worker")
    if job != "first_open":
        graph.count()
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(JOBS[job](graph, argument)), flush=True)
    graph.store.close()


if __name__ == "__main__":
    main()
