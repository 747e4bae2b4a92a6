"""Experiments on the task graph. Each runs on a real graph in a temporary folder, with a clock of its own."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from outlive.errors import NothingReady, TaskError
from outlive.stores import open_stores
from outlive.tasks.example import PLAN
from outlive.tasks.graph import TaskGraph
from outlive.web.learn.graph import EVERYTHING
from outlive.web.learn.quiz.question import QuizFinding

TODO_OR_TASK = ("A to-do list in the conversation", "A task on disk")
LEASE = timedelta(minutes=1)


@dataclass(slots=True)
class _Clock:
    now: datetime = field(default_factory=lambda: datetime(2026, 1, 1, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now


@contextmanager
def planned(done: Iterable[int] = ()) -> Iterator[tuple[TaskGraph, _Clock]]:
    """The plan of the first lesson in a store of its own, with some tasks completed."""
    clock = _Clock()
    with tempfile.TemporaryDirectory(prefix="outlive-learn-") as folder:
        stores = open_stores("files:.tasks", base=Path(folder), durability="process", clock=clock)
        with stores:
            graph = TaskGraph(stores.tasks, actor="quiz")
            graph.create_many(PLAN)
            for number in done:
                graph.complete(number)
            yield graph, clock


def refusal(act: Callable[[], object]) -> str:
    """Why something is refused, or nothing."""
    try:
        act()
    except (TaskError, NothingReady) as error:
        return error.message
    return ""


def listed(numbers: Iterable[int]) -> str:
    """`2 and 3`."""
    names = [str(number) for number in sorted(numbers)]
    if len(names) < 2:
        return names[0] if names else "none"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def chosen(choices: Iterable[str], found: str, evidence: str) -> QuizFinding:
    """The choice that says what was found."""
    return QuizFinding(list(choices).index(found), evidence)


def _either(refused: str, evidence: str) -> QuizFinding:
    """0 if it was refused, 1 if not."""
    return QuizFinding(0 if refused else 1, f"{evidence} The engine answered: {refused or 'done.'}")


# -- to-do or task


def second_claim() -> QuizFinding:
    with planned() as (graph, _):
        graph.claim(1, owner="ada")
        refused = refusal(lambda: graph.claim(1, owner="bob"))
    return QuizFinding(
        1 if refused else 0, f"ada claimed task 1, then bob tried. The engine answered: {refused or 'done.'}"
    )


def must_wait() -> QuizFinding:
    with planned() as (graph, _):
        refused = refusal(lambda: graph.claim(4, owner="ada"))
    return QuizFinding(
        1 if refused else 0, f"ada tried to claim task 4 first. The engine answered: {refused or 'done.'}"
    )


def who_works() -> QuizFinding:
    with planned() as (graph, clock):
        graph.claim(1, owner="ada", ttl=LEASE)
        holder = graph.get(1).owner
        clock.now += 2 * LEASE
        graph.ready()
        later = graph.get(1).status
    evidence = f"While ada held task 1 its file named {holder!r}; when the lease had run out it was {later} again."
    return QuizFinding(1 if holder and later == "pending" else 0, evidence)


# -- the graph

READY_AFTER_FIRST = ("2 and 3", "2", "2, 3 and 6", "2, 3, 4, 5, 6 and 7")
STILL_BLOCKED = ("Yes, one is enough", "No, it waits for task 3")
REOPENED = ("4 stays ready", "4 is blocked again")
REFUSED_OR_NOT = ("It is refused", "It is done")
TWICE = ("Nothing changes", "It is completed a second time, with a new date")
CANCELLED = ("It waits for ever", "It no longer waits for that task")
IDS = ("The number is used again", "The number is never used again")
EXPIRED = ("Nobody, until a person cleans up", "Any other worker")
BEST = ("The one with the smallest number", "The most urgent one that is ready")


def ready_after_first() -> QuizFinding:
    with planned() as (graph, _):
        unblocked = listed(task.id for task in graph.complete(1).unblocked)
    return chosen(READY_AFTER_FIRST, unblocked, f"The engine completed task 1. Ready now: {unblocked}.")


def one_of_two() -> QuizFinding:
    with planned([1, 2]) as (graph, _):
        task = graph.get(4)
    return QuizFinding(
        0 if task.ready else 1, f"With 1 and 2 completed, blockedBy of task 4 is {list(task.blocked_by)}."
    )


def reopened() -> QuizFinding:
    with planned([1, 2, 3]) as (graph, _):
        before = graph.get(4).ready
        graph.reopen(2)
        after = graph.get(4)
    evidence = f"Before: ready = {before}. After reopening 2, blockedBy of task 4 is {list(after.blocked_by)}."
    return QuizFinding(0 if after.ready else 1, evidence)


def cycle() -> QuizFinding:
    with planned() as (graph, _):
        return _either(
            refusal(lambda: graph.update(1, add_blocked_by=[7])), "The engine was asked to let task 1 wait for 7."
        )


def blocked() -> QuizFinding:
    with planned([1]) as (graph, _):
        return _either(refusal(lambda: graph.complete(5)), "Task 5 waits for 4, and was to be completed.")


def stale_token() -> QuizFinding:
    with planned() as (graph, clock):
        lease = graph.claim(1, owner="ada", ttl=LEASE).lease
        token = lease.token if lease else 0
        clock.now += 2 * LEASE
        graph.claim(1, owner="bob", ttl=LEASE)
        refused = refusal(lambda: graph.complete(1, owner="ada", token=token))
    return _either(refused, "ada's lease ran out, bob claimed the task, ada came back with the old token.")


def twice() -> QuizFinding:
    with planned([1]) as (graph, _):
        before = graph.get(1)
        graph.complete(1)
        after = graph.get(1)
    return QuizFinding(0 if before == after else 1, f"Revision before: {before.revision}, after: {after.revision}.")


def cancelled() -> QuizFinding:
    with planned([1, 2, 3, 4, 5]) as (graph, _):
        graph.cancel(6)
        task = graph.get(7)
    return QuizFinding(
        0 if task.blocked_by else 1, f"After 6 was cancelled, blockedBy of task 7 is {list(task.blocked_by)}."
    )


def ids() -> QuizFinding:
    with planned() as (graph, _):
        graph.delete(7)
        made = graph.create("Celebrate")
    return QuizFinding(0 if made.id == 7 else 1, f"Task 7 was deleted; the next task got the number {made.id}.")


def expired() -> QuizFinding:
    with planned() as (graph, clock):
        graph.claim(1, owner="ada", ttl=LEASE)
        clock.now += 2 * LEASE
        refused = refusal(lambda: graph.claim(1, owner="bob"))
        owner = graph.get(1).owner
    return QuizFinding(
        0 if refused else 1, f"A minute after ada's lease ended, bob claimed task 1: it is held by {owner!r}."
    )


def best() -> QuizFinding:
    with planned([1, 2]) as (graph, _):
        ready = listed(task.id for task in graph.find(EVERYTHING) if task.ready)
        graph.update(3, priority=4)
        graph.update(6, priority=0)
        taken = graph.claim(owner="ada").id
    evidence = f"Ready were {ready}; 6 was made the most urgent. A claim without a number took {taken}."
    return QuizFinding(1 if taken == 6 else 0, evidence)
