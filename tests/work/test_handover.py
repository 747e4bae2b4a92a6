"""A session outlives its process and its machine."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from outlive.testing import call, say
from outlive.testing.simulator.steps import Step
from tests.work.fleet import PRICE, Asked, Fleet, die, git, writes_a_file

Machines = Callable[[str], Fleet]


def steps(ledger: Path) -> Callable[[Asked], Step]:
    """Write three files, and run a command between them; the ledger shows what was run."""

    def brain(asked: Asked) -> Step:
        if asked.done in (0, 2, 4):
            return call("write_file", path=f"part-{asked.done}.txt", content=f"part {asked.done}\n")
        if asked.done in (1, 3):
            return call("bash", command=f"echo {asked.done} >> '{ledger}'")
        return say("All written.")

    return brain


def dies_at(done: int, brain: Callable[[Asked], Step]) -> Callable[[Asked], Step]:
    return lambda asked: die() if asked.done == done else brain(asked)


@pytest.mark.parametrize("done", [0, 2, 5])
def test_another_machine_goes_on_in_the_same_session_with_its_files(
    machine: Machines, tmp_path: Path, done: int
) -> None:
    a, b = machine("a"), machine("b")
    task = a.create()
    brain = steps(tmp_path / "ledger")
    a.brain = dies_at(done, brain)
    a.work_until_killed(task, owner="worker-a")
    session = a.board.run(task).session
    seen: list[str] = []

    def goes_on(asked: Asked) -> Step:
        seen.append(asked.texts)
        return brain(asked)

    b.brain = goes_on
    assert b.work(owner="worker-b") == "empty"
    git(b.project, "fetch", "-q")
    assert [b.show(f"part-{n}.txt", "origin/main") for n in (0, 2, 4)] == ["part 0", "part 2", "part 4"]
    assert (tmp_path / "ledger").read_text() == "1\n3\n", "no command ran twice"
    run = b.board.run(task)
    assert (run.session, run.attempts, run.died, run.failed) == (session, 2, 1, 0)
    assert run.machine == "b"
    assert "This session goes on on b; until now it ran on a" in "".join(seen)
    assert git(b.project, "rev-list", "--count", "origin/main") == "2"
    assert git(tmp_path / "remote.git", "for-each-ref", "refs/outlive") == ""


def test_a_command_that_was_interrupted_is_not_repeated_silently(machine: Machines, tmp_path: Path) -> None:
    a, b = machine("a"), machine("b")
    task = a.create()
    ledger = tmp_path / "ledger"
    command = f"echo ran >> '{ledger}'; kill -9 $PPID; sleep 5"

    def brain(asked: Asked) -> Step:
        if not asked.done:
            return call("bash", command=command)
        assert "interrupted" in asked.results[0].text
        assert "look before" in asked.results[0].text
        return say("It had run.")

    a.brain = b.brain = brain
    a.work_until_killed(task)
    assert b.work(owner="b") == "empty"
    assert ledger.read_text() == "ran\n"


def test_work_that_has_landed_is_completed_without_another_request(machine: Machines, tmp_path: Path) -> None:
    """The machine died between the push and the completion."""
    a, b = machine("a"), machine("b")
    task = a.create()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("outlive.work.attempts.attempt.Attempt._complete", lambda *_: die())
        a.work_until_killed(task)
    assert git(tmp_path / "remote.git", "rev-list", "--count", "main") == "2"
    b.brain = lambda asked: pytest.fail("no request is needed")
    assert b.work(owner="b") == "empty"
    assert b.status(task) == "completed"
    assert git(tmp_path / "remote.git", "rev-list", "--count", "main") == "2"
    result = b.graph.get(task).result or ""
    assert f"Wrote work/{task}.txt." in result, "what the agent has reported is not lost"
    assert b.board.run(task).landing in result


def test_a_push_that_never_arrived_is_made_again(machine: Machines, tmp_path: Path) -> None:
    a, b = machine("a"), machine("b")
    task = a.create()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("outlive.work.repository.worktree.Worktree.land", lambda *_: die())
        a.work_until_killed(task, lease=5)  # for that long it holds the key of landing
    assert git(tmp_path / "remote.git", "rev-list", "--count", "main") == "1"
    b.brain = writes_a_file
    assert b.work(owner="b") == "empty"
    assert git(tmp_path / "remote.git", "rev-list", "--count", "main") == "2"
    assert git(tmp_path / "remote.git", "show", f"main:work/{task}.txt") == f"done {task}"


def test_a_session_that_had_only_begun_is_told_its_task(fleet: Fleet) -> None:
    task = fleet.create(description="All of it.")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("outlive.work.attempts.opening.TaskAgent.say", lambda *_: die())
        fleet.work_until_killed(task)

    def brain(asked: Asked) -> Step:
        assert "All of it." in asked.texts
        return writes_a_file(asked)

    fleet.brain = brain
    assert fleet.work() == "empty"


def test_a_question_is_not_lost_with_its_machine(fleet: Fleet) -> None:
    task = fleet.create()

    def brain(asked: Asked) -> Step:
        return die() if asked.done else call("ask_person", question="Which colour?")

    fleet.brain = brain
    fleet.work_until_killed(task)
    fleet.brain = lambda asked: say("Done.")
    assert fleet.work() == "stuck"
    assert [question.question for question in fleet.overview.waiting] == ["Which colour?"]
    fleet.control.answer(task, "blue")
    assert fleet.work() == "empty"


def test_what_a_dead_machine_has_spent_is_counted(fleet: Fleet) -> None:
    task = fleet.create()
    fleet.price = PRICE
    brain = steps(fleet.project.parent / "ledger")
    fleet.brain = dies_at(2, brain)
    fleet.work_until_killed(task)
    fleet.brain = brain
    assert fleet.work() == "empty"
    run = fleet.board.run(task)
    assert (run.requests, run.dollars) == (6, 6.0)
    assert fleet.overview.spending.total == 7.0, "the request that was under way is counted, too"


def test_machines_that_die_of_a_task_again_and_again_leave_it_to_a_person(fleet: Fleet) -> None:
    task = fleet.create()
    fleet.brain = lambda asked: die()
    for _ in range(3):
        fleet.work_until_killed(task, attempts=1)
    assert fleet.work(attempts=1) == "stuck"
    (question,) = fleet.overview.waiting
    assert question.why == "gave_up"
    assert "3 died" in question.question


def test_a_process_that_lost_its_task_writes_nothing_and_its_worktree_is_kept(
    machine: Machines, tmp_path: Path
) -> None:
    """A machine that was cut off for longer than its lease comes back."""
    a, b = machine("a"), machine("b")
    task = a.create()
    done: list[str] = []

    def brain(asked: Asked) -> Step:
        if asked.done == 1 and not done:
            done.append("lost")
            a.graph.release(task, force=True)
            b.brain = writes_a_file
            with ThreadPoolExecutor(1) as elsewhere:
                assert elsewhere.submit(b.work, owner="b").result() == "empty"
            return call("write_file", path="zombie.txt", content="too late\n")
        return writes_a_file(asked) if asked.done < 2 else say("Done, too late.")

    a.brain = brain
    a.work(owner="a")
    assert git(tmp_path / "remote.git", "rev-list", "--count", "main") == "2"
    assert "zombie.txt" not in git(tmp_path / "remote.git", "ls-tree", "-r", "--name-only", "main")
    run = a.board.run(task)
    assert (run.worker, run.phase) == ("b", "done")
    events = a.stores.logs.read(run.session).events
    assert [event.id for event in events] == sorted({event.id for event in events})
    assert [line["why"] in ("lost", "taken_over") for line in a.said("ended")] == [True]


def test_worktrees_of_tasks_that_are_over_are_removed_once_they_are_stored(fleet: Fleet) -> None:
    done, cancelled, dirty = (fleet.create(name) for name in ("done", "cancelled", "dirty"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("outlive.work.repository.worktree.Worktree.remove", lambda *_: die())
        fleet.work_until_killed(done)  # completed; the record says that it was landing
    for task in (cancelled, dirty):
        fleet.brain = lambda asked: die() if asked.done else writes_a_file(asked)
        fleet.work_until_killed(task)
        fleet.control.cancel(task)
    (precious,) = fleet.worktrees.glob(f"task-{dirty}-*[0-9]")
    (precious / "not stored.txt").write_text("precious\n")
    fleet.brain = writes_a_file
    assert fleet.work() == "empty"
    assert [path for path in fleet.worktrees.iterdir() if path.is_dir()] == [precious]
    assert (precious / "not stored.txt").exists()
