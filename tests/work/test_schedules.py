"""Tasks that come again: once for each time, however many workers look, also with a kill in between."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from outlive.stores import open_stores
from outlive.tasks.graph import TaskGraph
from outlive.testing import Clock
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.records import Schedule
from outlive.work.shared.schedules import make_due, repeat

DAY = timedelta(days=1)


@pytest.fixture(params=["sqlite", "files"])
def shared(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[tuple[TaskGraph, FleetBoard]]:
    url = "files:.tasks" if request.param == "files" else f"sqlite:///{tmp_path / 'store.db'}"
    with open_stores(url, base=tmp_path, durability="process", clock=clock) as stores:
        yield TaskGraph(stores.tasks, actor="tester"), FleetBoard(stores.fleet)


def subjects(graph: TaskGraph) -> list[str]:
    return [task.subject for task in graph.ready()]


def test_a_task_comes_again_when_it_is_due_and_the_last_one_is_done(
    shared: tuple[TaskGraph, FleetBoard], clock: Clock
) -> None:
    graph, board = shared
    first = graph.create("nightly", description="all of it", labels=["docs"], priority=1, metadata={"checks": "true"})
    repeat(board, first, DAY)
    assert make_due(board, graph) == []
    clock.advance(days=1)
    assert make_due(board, graph) == [], "the last one is open"
    graph.complete(first.id, force=True)
    assert make_due(board, graph) == [], "and so this time is left out"
    clock.advance(days=1)
    (again,) = make_due(board, graph)
    assert (again.subject, again.description, again.priority) == ("nightly", "all of it", 1)
    assert "docs" in again.labels
    assert again.metadata["checks"] == "true"
    assert make_due(board, graph) == []


def test_times_that_nobody_was_there_for_come_once(shared: tuple[TaskGraph, FleetBoard], clock: Clock) -> None:
    graph, board = shared
    first = graph.create("nightly")
    plan = repeat(board, first, DAY)
    graph.complete(first.id, force=True)
    clock.advance(days=10, hours=1)
    assert len(make_due(board, graph)) == 1
    assert board.all(Schedule)[str(first.id)].due == plan.due + 10 * DAY
    assert make_due(board, graph) == []


def test_two_workers_at_once_make_one_task(shared: tuple[TaskGraph, FleetBoard], clock: Clock) -> None:
    graph, board = shared
    for number in range(4):
        task = graph.create(f"plan {number}")
        repeat(board, task, DAY)
        graph.complete(task.id, force=True)
    clock.advance(days=1)
    with ThreadPoolExecutor(4) as pool:
        made = [task.subject for tasks in pool.map(lambda _: make_due(board, graph), range(4)) for task in tasks]
    assert sorted(made) == sorted(subjects(graph)) == [f"plan {number}" for number in range(4)]


def test_a_kill_between_the_task_and_the_schedule_makes_nothing_twice(
    shared: tuple[TaskGraph, FleetBoard], clock: Clock
) -> None:
    graph, board = shared
    first = graph.create("nightly")
    plan = repeat(board, first, DAY)
    graph.complete(first.id, force=True)
    clock.advance(days=1)
    (made,) = make_due(board, graph)
    board.change(Schedule, str(first.id), lambda _old, _now: plan)  # as it was when the process was killed
    assert make_due(board, graph) == []
    graph.complete(made.id, force=True)
    board.change(Schedule, str(first.id), lambda _old, _now: plan)
    assert make_due(board, graph) == [], "nor once it is done"
    assert subjects(graph) == []
    clock.advance(days=1)
    assert len(make_due(board, graph)) == 1


def test_a_time_that_a_wrong_clock_set_does_not_hold_up_the_next(
    shared: tuple[TaskGraph, FleetBoard], clock: Clock
) -> None:
    graph, board = shared
    first = graph.create("nightly")
    clock.advance(days=400)
    repeat(board, first, DAY)
    clock.advance(days=-400)
    graph.complete(first.id, force=True)
    assert len(make_due(board, graph)) == 1
    assert board.all(Schedule)[str(first.id)].due == board.now() + DAY
