"""A task that its worker gives up, but nobody else may take."""

import pytest

from outlive.errors import LeaseError, NothingReady
from outlive.tasks.graph import TaskGraph
from outlive.testing import Clock


def token(graph: TaskGraph, number: int) -> int:
    lease = graph.get(number).lease
    assert lease is not None
    return lease.token


@pytest.fixture
def held(graph: TaskGraph) -> int:
    number = graph.claim(graph.create("ask first").id, owner="ann").id
    graph.hold(number, owner="a person", token=token(graph, number), reason="which port?")
    return number


def test_a_held_task_is_in_progress_without_a_lease(graph: TaskGraph, held: int) -> None:
    task = graph.get(held)
    assert (task.status, task.owner, task.lease) == ("in_progress", "a person", None)
    last = graph.history(held)[-1]
    assert (last.op, last.note, last.actor) == ("hold", "which port?", "tester")
    assert graph.doctor() == []


def test_nobody_takes_a_held_task_however_long_it_waits(graph: TaskGraph, held: int, clock: Clock) -> None:
    clock.advance(days=2)
    with pytest.raises(NothingReady):
        graph.claim(owner="bob")
    for owner in ("bob", "ann"):
        with pytest.raises(LeaseError, match="owned by 'a person', without a lease"):
            graph.claim(held, owner=owner)
        with pytest.raises(LeaseError, match="owned by 'a person'"):
            graph.release(held, owner=owner)


@pytest.mark.parametrize("how", [{"force": True}, {"owner": "a person"}])
def test_a_held_task_is_ready_again_once_it_is_released(graph: TaskGraph, held: int, how: dict[str, object]) -> None:
    graph.release(held, **how)  # type: ignore[arg-type]
    assert graph.claim(owner="bob").id == held


def test_only_the_holder_of_the_lease_gives_it_up(graph: TaskGraph) -> None:
    number = graph.claim(graph.create("one").id, owner="ann").id
    old = token(graph, number)
    graph.release(number, owner="ann")
    graph.claim(number, owner="bob")
    with pytest.raises(LeaseError, match=f"cannot hold task {number}: token {old} is stale"):
        graph.hold(number, owner="a person", token=old)
    assert graph.get(number).owner == "bob"
    with pytest.raises(LeaseError, match="stale"):
        graph.hold(graph.create("two").id, owner="a person", token=1)
