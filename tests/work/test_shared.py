"""What workers share: the board, budgets, concurrency keys."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from outlive.errors import ConflictError, DamagedRecord, LeaseError
from outlive.stores import Stores, open_stores
from outlive.stores.tasks.records import Task
from outlive.tasks.graph import TaskGraph
from outlive.testing import Clock
from outlive.work.control import FleetControl
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.budgets import TaskCosts, spent_labels
from outlive.work.shared.keys import ConcurrencyKeys, keys_of
from outlive.work.shared.records import MAX_ENDINGS, TaskRun


@pytest.fixture
def stores(tmp_path: Path, clock: Clock) -> Iterator[Stores]:
    with open_stores(f"sqlite:///{tmp_path / 'store.db'}", durability="process", clock=clock) as stores:
        yield stores


@pytest.fixture
def graph(stores: Stores) -> TaskGraph:
    return TaskGraph(stores.tasks, actor="tester")


@pytest.fixture
def board(stores: Stores) -> FleetBoard:
    return FleetBoard(stores.fleet)


@pytest.fixture
def control(graph: TaskGraph, board: FleetBoard, stores: Stores) -> FleetControl:
    return FleetControl(graph, board, stores.logs)


def claim(graph: TaskGraph, owner: str = "a") -> Task:
    return graph.claim(owner=owner, ttl=timedelta(minutes=1))


def token(task: Task) -> int:
    assert task.lease is not None
    return task.lease.token


# -- the board


def test_an_attempt_that_was_replaced_writes_nothing(graph: TaskGraph, board: FleetBoard, clock: Clock) -> None:
    graph.create("one")
    old = claim(graph)
    board.begin(old, worker="a", machine="A")
    clock.advance(minutes=2)
    new = claim(graph, "b")
    board.begin(new, worker="b", machine="B")
    for write in (
        lambda: board.update(old.id, token(old), activity="too late"),
        lambda: board.end(old.id, token(old), "failed"),
        lambda: board.begin(old, worker="a", machine="A"),
    ):
        with pytest.raises(LeaseError, match="b works on it now"):
            write()
    run = board.run(old.id)
    assert (run.worker, run.machine, run.activity, run.failed) == ("b", "B", "", 0)


def test_an_attempt_that_never_ended_has_died(graph: TaskGraph, board: FleetBoard, clock: Clock) -> None:
    graph.create("one")
    board.begin(claim(graph), worker="a", machine="A")
    clock.advance(minutes=2)
    second = claim(graph, "b")
    earlier, run = board.begin(second, worker="b", machine="B")
    assert (earlier.worker, earlier.machine) == ("a", "A")
    assert (run.attempts, run.died, run.failed) == (2, 1, 0)
    assert [(ending.worker, ending.why) for ending in run.endings] == [("a", "expired")]
    board.end(second.id, token(second), "checks", "red")
    graph.release(second.id, token=token(second))
    _, run = board.begin(claim(graph, "c"), worker="c", machine="C")
    assert (run.attempts, run.died, run.failed) == (3, 1, 1), "an attempt that ended has not died"


def test_the_last_endings_are_kept(graph: TaskGraph, board: FleetBoard) -> None:
    graph.create("one")
    for number in range(MAX_ENDINGS + 3):
        task = claim(graph)
        board.begin(task, worker="a", machine="A")
        board.end(task.id, token(task), f"ending {number}", "x" * 10**6)
        graph.release(task.id, token=token(task))
    ends = board.run(1).endings
    assert [end.why for end in ends] == [f"ending {number}" for number in range(3, MAX_ENDINGS + 3)]
    assert all(len(end.text) < 10_000 for end in ends)


def test_a_damaged_record_is_named_and_not_overwritten(board: FleetBoard, stores: Stores) -> None:
    stores.fleet.change("run", "7", lambda _old, _now: b"{broken")
    with pytest.raises(DamagedRecord, match="run '7'"):
        board.run(7)
    with pytest.raises(DamagedRecord):
        board.change(TaskRun, "7", lambda _old, _now: TaskRun())
    assert stores.fleet.get("run", "7") == b"{broken"


# -- budgets


def test_each_budget_stops_what_it_is_about(board: FleetBoard, control: FleetControl, clock: Clock) -> None:
    docs, code = TaskCosts(board, 1, ["docs"]), TaskCosts(board, 2, ["code"])
    docs.count(3.0, 1)
    code.count(4.0, 1)
    assert not docs.exceeded(3.0)
    for name, dollars, stopped in (
        ("day", 7.0, (True, True)),
        ("total", 7.0, (True, True)),
        ("task", 4.0, (False, True)),
        ("task:1", 3.0, (True, False)),
        ("label:code", 4.0, (False, True)),
        ("day", 7.1, (False, False)),
    ):
        control.budget(name, dollars)
        assert (bool(docs.exceeded(3.0)), bool(code.exceeded(4.0))) == stopped, name
        control.budget(name, None)


def test_the_budget_of_a_day_is_free_again_on_the_next(
    board: FleetBoard, control: FleetControl, clock: Clock
) -> None:
    costs = TaskCosts(board, 1, [])
    costs.count(5.0, 1)
    control.budget("day", 5.0)
    assert "the budget day of $5.00 is spent ($5.00)" in costs.exceeded(0.0)
    clock.advance(days=1)
    assert not costs.exceeded(0.0)
    control.budget("total", 5.0)
    assert costs.exceeded(0.0)


def test_tasks_whose_label_has_no_money_left_are_not_begun(board: FleetBoard, control: FleetControl) -> None:
    TaskCosts(board, 1, ["docs", "large"]).count(5.0, 1)
    assert spent_labels(board) == []
    control.budget("label:docs", 5.0)
    control.budget("label:large", 5.1)
    assert spent_labels(board) == ["docs"]


@pytest.mark.parametrize("name", ["week", "task:", "task:x", "label:", "day:1", ""])
def test_a_budget_of_nothing_is_refused(control: FleetControl, name: str) -> None:
    with pytest.raises(ConflictError, match="there is no budget"):
        control.budget(name, 1.0)


# -- concurrency keys


def test_a_key_is_held_by_as_many_as_its_limit_says(board: FleetBoard) -> None:
    keys = ConcurrencyKeys(board, {"db": 2}, timedelta(minutes=1))
    assert [keys.take("db", holder) for holder in "abc"] == [True, True, False]
    assert keys.take("db", "a"), "its holder extends it"
    assert keys.full() == ("key:db",)
    keys.release("db", "a")
    assert keys.full() == ()
    assert keys.take("db", "c")
    assert not keys.take("db", "a")
    assert [keys.take("other", holder) for holder in "ab"] == [True, False]


def test_a_holder_that_says_nothing_loses_its_key(board: FleetBoard, clock: Clock) -> None:
    keys = ConcurrencyKeys(board, {}, timedelta(minutes=1))
    assert keys.take("db", "a")
    clock.advance(seconds=50)
    assert keys.take("db", "a")
    clock.advance(seconds=50)
    assert not keys.take("db", "b")
    clock.advance(seconds=20)
    assert keys.full() == ()
    assert keys.take("db", "b")


def test_the_keys_of_a_task_are_in_its_labels() -> None:
    assert keys_of(["docs", "key:db", "key:disk"]) == ["db", "disk"]


def test_a_key_that_was_taken_by_a_clock_far_ahead_is_free(board: FleetBoard, clock: Clock) -> None:
    keys = ConcurrencyKeys(board, {}, timedelta(minutes=1))
    clock.advance(days=400)
    assert keys.take("db", "a")
    clock.advance(days=-400)
    assert keys.full() == ()
    assert keys.take("db", "b")
