"""A worker: which tasks it takes, that it is alive, and how it ends."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta

import pytest

from outlive.errors import ConfigError
from outlive.testing import call, say
from outlive.testing.simulator.steps import Step
from outlive.work.control import UnknownWorker
from outlive.work.shared.records import KeyHolders, WorkerRecord
from tests.work.fleet import PATIENCE, PRICE, Asked, Fleet, writes_a_file


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.05)


class Held:
    """A brain that holds its first request until it is let go."""

    def __init__(self, fleet: Fleet) -> None:
        self.began, self.go = threading.Event(), threading.Event()
        fleet.brain = self

    def __call__(self, asked: Asked) -> Step:
        if not asked.done:
            return call("write_file", path=f"work/{asked.task}.txt", content="begun\n")
        if asked.done == 1:
            self.began.set()
            return call("bash", command=f"for n in $(seq 600); do test -e {self.flag} && exit; sleep 0.1; done")
        return say("Done.")

    flag = ""


@pytest.fixture
def held(fleet: Fleet) -> Held:
    held = Held(fleet)
    held.flag = str(fleet.project.parent / "go")
    return held


def let_go(fleet: Fleet) -> None:
    (fleet.project.parent / "go").touch()


# -- how it ends


def test_a_drained_worker_finishes_what_it_has_and_takes_no_more(fleet: Fleet, held: Held) -> None:
    first, second = fleet.create(), fleet.create()
    with fleet.working() as worker:
        held.began.wait(PATIENCE)
        worker.drain()
        let_go(fleet)
        assert worker.join() == "drained"
    assert (fleet.status(first), fleet.status(second)) == ("completed", "pending")
    assert fleet.overview.workers == ()


def test_a_task_that_is_not_done_within_the_grace_is_given_back_with_its_work(fleet: Fleet, held: Held) -> None:
    task = fleet.create()
    with fleet.working() as worker:
        held.began.wait(PATIENCE)
        worker.drain()
        worker.drain(0.0)  # a second signal
        assert worker.join() == "drained"
    assert fleet.status(task) == "pending"
    run = fleet.board.run(task)
    assert (run.failed, run.died, fleet.endings(task)) == (0, 0, ["drained"])
    let_go(fleet)
    assert fleet.work() == "empty"
    assert fleet.show(f"work/{task}.txt") == "begun"
    assert fleet.board.run(task).session == run.session


def test_a_worker_can_be_drained_from_elsewhere(fleet: Fleet, held: Held) -> None:
    fleet.create()
    with fleet.working(owner="build-7") as worker:
        held.began.wait(PATIENCE)
        fleet.control.drain("build-7", timedelta(0))
        assert worker.join() == "drained"
    with pytest.raises(UnknownWorker):
        fleet.control.drain("build-7", timedelta(0))


def test_a_worker_that_is_to_empty_the_graph_says_how_it_is_left(fleet: Fleet) -> None:
    assert fleet.work() == "empty", "there are no tasks"
    first = fleet.create()
    fleet.create(blocked_by=[first], labels=["gpu"])
    assert fleet.work() == "empty"
    asks = fleet.create("ask")
    fleet.create(blocked_by=[asks])
    fleet.brain = lambda asked: say("I wait.") if asked.done else call("ask_person", question="What?")
    assert fleet.work() == "stuck", "the rest waits for a person"
    fleet.control.cancel(asks)
    fleet.brain = writes_a_file
    assert fleet.work() == "empty"
    fleet.create(labels=["gpu"])
    assert fleet.work(capabilities=("docs",)) == "stuck", "nothing that is left fits"
    assert fleet.work(capabilities=("gpu",)) == "empty"


def test_a_worker_stops_at_its_budget(fleet: Fleet) -> None:
    tasks = [fleet.create() for _ in range(3)]
    fleet.price = PRICE
    assert fleet.work(budget=3.0) == "budget"
    assert [fleet.status(task) for task in tasks] == ["completed", "pending", "pending"]
    assert fleet.overview.spending.today == 3.0


def test_two_workers_of_one_name_are_not_alive_at_once(fleet: Fleet) -> None:
    with fleet.working(owner="build-7"):
        until(lambda: fleet.overview.workers)
        with pytest.raises(ConfigError, match="a worker called 'build-7' runs on"):
            fleet.work(owner="build-7")
    assert fleet.work(owner="build-7") == "empty", "once the other has ended"


# -- what it takes


def test_a_worker_takes_only_what_it_is_asked_for(fleet: Fleet) -> None:
    docs, gpu, plain = fleet.create(labels=["docs"]), fleet.create(labels=["gpu"]), fleet.create()
    assert fleet.work(labels=("docs",)) == "stuck"
    assert [fleet.status(task) for task in (docs, gpu, plain)] == ["completed", "pending", "pending"]
    assert fleet.work(capabilities=()) == "stuck"
    assert [fleet.status(task) for task in (gpu, plain)] == ["pending", "completed"]


def test_tasks_under_one_key_are_worked_on_one_after_the_other(fleet: Fleet) -> None:
    tasks = [fleet.create(labels=["key:db"]) for _ in range(3)]
    other = fleet.create()
    log = fleet.project.parent / "log"

    def brain(asked: Asked) -> Step:
        if not asked.done:
            return call(
                "bash", command=f"echo begin {asked.task} >> {log}; sleep 0.3; echo end {asked.task} >> {log}"
            )
        return say("Done.")

    fleet.brain = brain
    assert fleet.work(slots=4, capabilities=()) == "empty"
    lines = [line for line in log.read_text().splitlines() if not line.endswith(f" {other}")]
    for begin, end in zip(lines[::2], lines[1::2], strict=True):
        assert begin.split() == ["begin", end.split()[1]], lines
    assert len(lines) == 2 * len(tasks)
    assert fleet.board.all(KeyHolders) == {}, "every key was given back"


def test_a_paid_out_label_keeps_its_tasks_waiting(fleet: Fleet) -> None:
    costly, plain = fleet.create(labels=["costly"]), fleet.create()
    fleet.price = PRICE
    fleet.control.budget("label:costly", 1.0)
    fleet.brain = lambda asked: writes_a_file(asked)
    assert fleet.work() == "stuck"
    assert (fleet.status(costly), fleet.status(plain)) == ("pending", "completed")
    assert fleet.endings(costly) == ["budget"]


# -- while it works


def test_a_cancelled_task_stops_its_agent_and_keeps_its_work(fleet: Fleet, held: Held) -> None:
    task = fleet.create()
    with fleet.working():
        held.began.wait(PATIENCE)
        fleet.control.cancel(task, "no longer wanted")
        until(lambda: fleet.board.run(task).phase == "cancelled")
    assert fleet.status(task) == "cancelled"
    assert fleet.endings(task) == ["cancelled"]
    wip = fleet.board.run(task).wip
    assert fleet.show(f"work/{task}.txt", wip) == "begun"


def test_a_worker_whose_task_was_taken_away_leaves_it_alone(fleet: Fleet, held: Held) -> None:
    task = fleet.create()
    with fleet.working():
        held.began.wait(PATIENCE)
        fleet.graph.release(task, force=True)
        taken = fleet.graph.claim(task, owner="somebody else")
        until(lambda: fleet.said("ended"))
    assert fleet.said("ended")[0]["why"] == "lost"
    assert fleet.graph.get(task).owner == "somebody else"
    assert fleet.graph.get(task).revision == taken.revision


def test_the_lease_is_extended_while_all_slots_wait(fleet: Fleet, held: Held) -> None:
    tasks = [fleet.create() for _ in range(3)]
    with fleet.working(slots=3, lease=6):
        until(lambda: len(fleet.overview.working) == 3)
        held.began.wait(PATIENCE)
        first = fleet.overview.working[0]
        until(lambda: fleet.overview.working[0].seconds > first.seconds + 7)
        assert all(task.seconds_left is not None and task.seconds_left > 0 for task in fleet.overview.working)
        let_go(fleet)
        until(lambda: all(fleet.status(task) == "completed" for task in tasks))
    assert all(fleet.board.run(task).attempts == 1 for task in tasks)


def test_what_a_worker_does_is_seen(fleet: Fleet, held: Held) -> None:
    task, blocked = fleet.create("look at me"), fleet.create("later")
    fleet.graph.update(blocked, add_blocked_by=[task])
    waiting = fleet.create("next")
    with fleet.working(owner="build-7", lease=6):
        held.began.wait(PATIENCE)
        until(lambda: fleet.overview.working[0].activity)
        seen = fleet.overview
        let_go(fleet)
        until(lambda: fleet.status(waiting) == fleet.status(blocked) == "completed")
    (worker,) = seen.workers
    assert (worker.name, worker.slots, worker.busy, worker.alive, worker.draining) == ("build-7", 1, 1, True, False)
    (working,) = seen.working
    assert (working.id, working.worker, working.phase, working.attempts) == (task, "build-7", "working", 1)
    assert working.activity.startswith("bash for n in")
    assert (seen.ready, seen.blocked, seen.expired) == (1, 1, ())
    assert seen.oldest_ready_seconds is not None


def test_a_worker_that_is_gone_is_shown_as_gone(fleet: Fleet) -> None:
    old = WorkerRecord(machine="a", pid=1, slots=2, started=fleet.board.now(), expires=fleet.board.now())
    fleet.board.change(WorkerRecord, "build-7", lambda _old, _now: old)
    (worker,) = fleet.overview.workers
    assert not worker.alive
    assert worker.seconds_left <= 0


def test_a_broken_checkout_is_no_failure_of_its_tasks(fleet: Fleet) -> None:
    fleet.brain = writes_a_file
    settings = fleet.project / ".git" / "config"
    sound = settings.read_text()
    with fleet.working():
        until(lambda: fleet.said("started"))
        settings.write_text("[broken")
        task = fleet.create()
        until(lambda: fleet.endings(task))
        settings.write_text(sound)
        until(lambda: fleet.status(task) == "completed")
    assert set(fleet.endings(task)) == {"checkout"}
    assert fleet.board.run(task).failed == 0
