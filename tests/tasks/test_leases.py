"""Claims run out, and a worker that was too slow cannot undo what another does. On all three engines."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from outlive.cli.flags import remedy
from outlive.errors import InvalidTask, LeaseError, NothingReady
from outlive.stores.clock import file_time, store_time
from outlive.stores.tasks import sql_quick
from outlive.stores.tasks.records import MAX_LEASE, Task
from outlive.tasks.graph import TaskGraph
from outlive.testing import Clock
from tests.engines import Engine
from tests.truth import assert_sound

MINUTE = timedelta(minutes=1)


def token(task: Task) -> int:
    assert task.lease is not None
    return task.lease.token


def test_a_claim_gives_a_lease_with_a_token(graph: TaskGraph, clock: Clock) -> None:
    made = graph.create("one")
    task = graph.claim(made.id, owner="ann", ttl=MINUTE)
    assert (task.status, task.owner) == ("in_progress", "ann")
    assert task.lease is not None
    assert (task.lease.owner, task.lease.claimed_at, task.lease.expires_at) == ("ann", clock.now, clock.now + MINUTE)
    assert task == graph.get(made.id)
    assert graph.ready() == []


def test_tokens_grow_with_every_claim(graph: TaskGraph, clock: Clock) -> None:
    made = graph.create("one")
    tokens = []
    for owner in ("ann", "bo", "ann"):
        tokens.append(token(graph.claim(made.id, owner=owner, ttl=MINUTE)))
        graph.release(made.id)
    graph.complete(made.id)
    graph.reopen(made.id)
    tokens.append(token(graph.claim(made.id, owner="cy", ttl=MINUTE)))
    clock.advance(minutes=2)
    tokens.append(token(graph.claim(owner="dee", ttl=MINUTE)))
    assert tokens == sorted(set(tokens))


def test_a_task_whose_lease_ran_out_is_ready_again(graph: TaskGraph, clock: Clock) -> None:
    made = graph.create("one")
    graph.claim(made.id, owner="ann", ttl=MINUTE)
    clock.advance(seconds=59)
    assert graph.ready() == []
    clock.advance(seconds=1)
    assert [task.id for task in graph.ready()] == [made.id]
    task = graph.get(made.id)
    assert (task.status, task.owner, task.lease) == ("pending", None, None)
    last = graph.history(made.id)[-1]
    assert (last.op, last.note) == ("expire", "the lease of ann ran out")
    assert_sound(graph.store)


@pytest.mark.parametrize("by_id", [True, False])
def test_another_takes_over_what_ran_out(graph: TaskGraph, clock: Clock, by_id: bool) -> None:
    made = graph.create("one")
    first = graph.claim(made.id, owner="ann", ttl=MINUTE)
    clock.advance(minutes=1)
    second = graph.claim(made.id if by_id else None, owner="bo", ttl=MINUTE)
    assert (second.id, second.owner) == (made.id, "bo")
    assert token(second) > token(first)


@pytest.mark.parametrize("act", ["complete", "cancel", "release", "heartbeat"])
def test_a_worker_that_was_too_slow_cannot_act_on_what_another_now_holds(
    graph: TaskGraph, clock: Clock, act: str
) -> None:
    made = graph.create("one")
    slow = graph.claim(made.id, owner="ann", ttl=MINUTE)
    clock.advance(minutes=1)
    fast = graph.claim(owner="bo", ttl=MINUTE)
    with pytest.raises(LeaseError, match="stale"):
        getattr(graph, act)(made.id, token=token(slow))
    with pytest.raises(LeaseError, match="'bo'"):
        getattr(graph, act)(made.id, owner="ann")
    assert graph.get(made.id) == fast
    assert graph.complete(made.id, owner="bo", token=token(fast)).task.status == "completed"


def test_the_same_owner_with_an_old_token_is_refused_too(graph: TaskGraph, clock: Clock) -> None:
    made = graph.create("one")
    old = graph.claim(made.id, owner="ann", ttl=MINUTE)
    clock.advance(minutes=1)
    new = graph.claim(made.id, owner="ann", ttl=MINUTE)
    with pytest.raises(LeaseError, match="stale"):
        graph.complete(made.id, owner="ann", token=token(old))
    assert graph.complete(made.id, owner="ann", token=token(new)).task.status == "completed"


def test_a_token_is_stale_once_the_task_was_given_back(graph: TaskGraph, clock: Clock) -> None:
    made = graph.create("one")
    old = graph.claim(made.id, owner="ann", ttl=MINUTE)
    clock.advance(minutes=1)
    graph.ready()
    with pytest.raises(LeaseError, match="stale"):
        graph.complete(made.id, token=token(old))
    assert graph.get(made.id).status == "pending"


def test_a_late_worker_may_still_finish_what_nobody_else_took(graph: TaskGraph, clock: Clock) -> None:
    made = graph.create("one")
    held = graph.claim(made.id, owner="ann", ttl=MINUTE)
    clock.advance(minutes=5)
    assert graph.complete(made.id, owner="ann", token=token(held)).task.status == "completed"


def test_a_heartbeat_keeps_the_lease_and_its_token(graph: TaskGraph, clock: Clock) -> None:
    made = graph.create("one")
    held = graph.claim(made.id, owner="ann", ttl=MINUTE)
    for _ in range(3):
        clock.advance(seconds=40)
        beat = graph.heartbeat(made.id, owner="ann", token=token(held), ttl=MINUTE)
        assert beat.lease is not None
        assert (beat.lease.token, beat.lease.expires_at) == (token(held), clock.now + MINUTE)
        assert graph.ready() == []
    clock.advance(seconds=60)
    assert [task.id for task in graph.ready()] == [made.id]


def test_release_gives_back(graph: TaskGraph) -> None:
    made = graph.create("one")
    held = graph.claim(made.id, owner="ann")
    task = graph.release(made.id, owner="ann", token=token(held))
    assert (task.status, task.owner, task.lease) == ("pending", None, None)
    assert [task.id for task in graph.ready()] == [made.id]


def test_a_task_can_be_taken_away_by_force(graph: TaskGraph) -> None:
    made = graph.create("one")
    graph.claim(made.id, owner="ann")
    assert graph.release(made.id, owner="bo", force=True).status == "pending"


def test_finishing_ends_the_lease(graph: TaskGraph, clock: Clock) -> None:
    for finish in (graph.complete, graph.cancel):
        made = graph.create("one")
        graph.claim(made.id, owner="ann", ttl=MINUTE)
        assert finish(made.id, owner="ann").task.lease is None
    clock.advance(days=1)
    assert graph.ready() == []


def test_a_task_in_progress_without_a_lease_never_runs_out(graph: TaskGraph, clock: Clock) -> None:
    made = graph.create("by hand")
    graph.update(made.id, status="in_progress", owner="ann")
    clock.advance(days=1000)
    assert graph.ready() == []
    with pytest.raises(LeaseError, match="without a lease"):
        graph.claim(made.id, owner="bo")


def test_only_the_leases_that_ran_out_are_given_back(graph: TaskGraph, clock: Clock) -> None:
    short, long = graph.create("short").id, graph.create("long").id
    graph.claim(short, owner="ann", ttl=MINUTE)
    graph.claim(long, owner="bo", ttl=3 * MINUTE)
    clock.advance(minutes=2)
    assert [task.id for task in graph.ready()] == [short]
    assert graph.get(long).owner == "bo"


def test_a_waiting_worker_wakes_when_the_last_blocker_is_completed(engine: Engine) -> None:
    graph, other = engine.graph(), engine.graph()
    blocker = graph.create("blocker").id
    task = graph.create("task", blocked_by=[blocker]).id
    graph.claim(blocker, owner="bo")
    taken: list[Task] = []
    worker = threading.Thread(target=lambda: taken.append(graph.wait_claim(owner="ann", timeout=300)))
    worker.start()
    other.complete(blocker)
    worker.join(300)
    assert [found.id for found in taken] == [task]
    assert other.get(task).owner == "ann"


def test_a_worker_that_need_not_wait_does_not_watch_the_store(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = engine.graph()
    made = graph.create("one").id
    monkeypatch.delattr(type(graph.store), "watch")
    assert graph.wait_claim(owner="ann", timeout=60).id == made


def test_a_waiting_worker_wakes_when_a_lease_runs_out(engine: Engine) -> None:
    """By the real clock, with a lease so short that it has run out before anyone could wait for long."""
    graph = engine.graph()
    made = graph.create("one").id
    graph.claim(made, owner="ann", ttl=timedelta(milliseconds=200))
    assert graph.wait_claim(owner="bo", timeout=60).id == made


# -- wrong clocks ------------------------------------------------------------------------------------------

WRONG = timedelta(days=400)


def test_a_worker_whose_clock_is_far_ahead_takes_nothing_over(engine: Engine, clock: Clock) -> None:
    graph, wrong = engine.graph(clock), engine.graph(Clock(clock.now + WRONG))
    made = graph.create("one").id
    held = graph.claim(made, owner="ann")
    assert wrong.ready() == []
    with pytest.raises(NothingReady, match=r"'ann' ran out 399 days ago by this clock .*in the name of 'ann'"):
        wrong.claim(owner="bo")
    with pytest.raises(LeaseError, match="by this clock"):
        wrong.claim(made, owner="bo")
    wrong.create("another", priority=4)  # what it writes does not make its clock right
    assert wrong.claim(owner="bo").subject == "another"
    with pytest.raises(LeaseError, match="by this clock"):
        wrong.claim(made, owner="bo")
    assert graph.get(made) == held
    assert graph.heartbeat(made, owner="ann", token=token(held)).lease is not None
    (problem,) = wrong.doctor()
    assert "by this clock" in problem.what
    assert remedy(problem).endswith(f"outlive task release {made} --owner ann")


def test_after_a_long_rest_the_holder_can_be_released_by_name(graph: TaskGraph, clock: Clock) -> None:
    made = graph.create("one").id
    graph.claim(made, owner="ann lee")
    clock.now += WRONG
    with pytest.raises(LeaseError, match="in the name of 'ann lee'"):
        graph.claim(made, owner="bo")
    graph.release(made, owner="ann lee")
    assert graph.claim(owner="bo").id == made


def test_a_lease_that_a_wrong_clock_left_is_taken_over_by_a_right_one(engine: Engine, clock: Clock) -> None:
    graph, wrong = engine.graph(clock), engine.graph(Clock(clock.now + WRONG))
    made = graph.create("one").id
    left = wrong.claim(made, owner="ann")
    assert [task.id for task in graph.ready()] == [made]
    assert "a clock that was ahead" in (graph.history(made)[-1].note or "")
    taken = graph.claim(owner="bo")
    assert token(taken) > token(left)
    with pytest.raises(LeaseError, match="stale"):
        wrong.complete(made, token=token(left))


def test_a_lease_lasts_a_week_at_most(graph: TaskGraph) -> None:
    made = graph.create("one").id
    for ttl in (MAX_LEASE + MINUTE, timedelta.max, timedelta(0)):
        with pytest.raises(InvalidTask, match="at most 7 days"):
            graph.claim(made, owner="ann", ttl=ttl)
    graph.claim(made, owner="ann", ttl=MAX_LEASE)
    with pytest.raises(InvalidTask, match="at most 7 days"):
        graph.heartbeat(made, owner="ann", ttl=MAX_LEASE + MINUTE)
    assert graph.ready() == []


@pytest.mark.parametrize("wrong_by", [timedelta(hours=3), -timedelta(hours=3), WRONG, -WRONG])
def test_leases_follow_the_store_where_the_clock_of_the_machine_disagrees(
    engine: Engine, wrong_by: timedelta, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """With the time of the file system, which a server gives; a database server has its own."""
    graph, other = engine.graph(), engine.graph()
    made, spare = graph.create("one").id, graph.create("two").id
    held = graph.claim(made, owner="ann")
    for module in ("stores.clock", "stores.tasks.files.store", "stores.sql.sqlite"):
        monkeypatch.setattr(f"outlive.{module}.machine_time", lambda: datetime.now(UTC) + wrong_by)
    assert [task.id for task in other.ready()] == [spare]
    taken = other.claim(owner="bo")
    assert (taken.id, other.get(made).owner) == (spare, "ann")
    assert taken.lease is not None
    assert abs(taken.lease.claimed_at - datetime.now(UTC)) < timedelta(hours=1)
    monkeypatch.undo()
    assert graph.get(made) == held
    if engine.name != "postgres":
        assert ("ahead of" if wrong_by > timedelta(0) else "behind") in caplog.text


def test_a_store_that_may_only_be_read_is_measured_with_the_clock_of_the_machine(tmp_path: Path) -> None:
    assert file_time(tmp_path / "missing") is None
    assert abs(store_time(tmp_path / "missing") - datetime.now(UTC)) < timedelta(minutes=5)


def test_the_quick_answer_of_a_database_knows_the_longest_lease(sqlite: Engine) -> None:
    graph = sqlite.graph()
    made, spare = graph.create("one").id, graph.create("two").id
    ahead = sqlite.graph(Clock(datetime.now(UTC) + MAX_LEASE))
    ahead.claim(made, owner="ann", ttl=MINUTE)
    url = f"sqlite:///{sqlite.path}"
    assert sql_quick.ready_json(url, sqlite.path.parent, None) is None, "the lease is to be given back first"
    graph.release(made)
    graph.claim(made, owner="ann", ttl=MAX_LEASE)
    assert f'"id":{spare}'.encode() in (sql_quick.ready_json(url, sqlite.path.parent, None) or b"")
