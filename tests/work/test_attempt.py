"""One attempt at a task: what an agent is told and may do, and how the attempt ends."""

from pathlib import Path

import pytest

from outlive.errors import ConflictError
from outlive.testing import call, calls, say
from outlive.testing.simulator.steps import Step
from outlive.work.shared.records import PERSON, Family, KeyHolders
from tests.work.fleet import PRICE, Asked, Fleet, die, git, writes_a_file


def test_a_task_is_done_in_a_worktree_of_its_own_and_lands_as_one_commit(fleet: Fleet) -> None:
    first, second = fleet.create("one"), fleet.create("two")
    assert fleet.work(slots=2) == "empty"
    assert fleet.status(first) == fleet.status(second) == "completed"
    assert fleet.show(f"work/{first}.txt") == f"done {first}"
    assert (fleet.project / "work" / f"{second}.txt").exists()
    assert list(fleet.worktrees.glob("task-*")) == []
    assert git(fleet.project, "for-each-ref", "refs/outlive") == ""
    message = git(fleet.project, "log", "-1", "--format=%B", "--", f"work/{first}.txt")
    session = fleet.board.run(first).session
    assert message.split("\n\n") == ["one", f"Wrote work/{first}.txt.", f"Task: {first}\nSession: {session}"]
    result = fleet.graph.get(first).result or ""
    assert result == f"Wrote work/{first}.txt.\n\ncommit {fleet.board.run(first).landing}"


def test_an_agent_is_told_its_task_its_rules_and_what_it_builds_on(fleet: Fleet) -> None:
    first = fleet.create("make the tool", description="In C.")
    second = fleet.create("use the tool", description="As the page says.", blocked_by=[first])
    told: dict[int, str] = {}

    def brain(asked: Asked) -> Step:
        told.setdefault(asked.task, asked.texts)
        return say(f"The tool is called {asked.task}.")

    fleet.brain = brain
    assert fleet.work(checks=("true",)) == "empty"
    assert "In C." in told[first]
    assert "- true" in told[first]
    assert f"#{first} make the tool (completed): The tool is called {first}." in told[second]
    assert "lands it on main" in told[second]
    assert '<task by="parent">' in told[second] or "<task" in told[second]
    assert fleet.status(second) == "completed"


def test_a_task_that_changes_nothing_is_done_without_a_commit(fleet: Fleet) -> None:
    task = fleet.create()
    fleet.brain = lambda asked: say("Nothing had to be changed.")
    assert fleet.work() == "empty"
    assert fleet.graph.get(task).result == "Nothing had to be changed."
    assert git(fleet.project, "log", "--format=%s", "main") == "first"


# -- checks


def test_an_agent_is_told_which_checks_fail_until_they_pass(fleet: Fleet) -> None:
    task = fleet.create(metadata={"checks": ["grep -q better work/*.txt"]})

    def brain(asked: Asked) -> Step:
        if not asked.done:
            return call("write_file", path=f"work/{asked.task}.txt", content="good\n")
        if "these checks fail" not in asked.texts:
            return say("It is done.")  # a lie
        if asked.done == 1:
            assert "grep -q better" in asked.texts
            return call("edit_file", path=f"work/{asked.task}.txt", old_text="good", new_text="better")
        return say("Now it is.")

    fleet.brain = brain
    assert fleet.work(checks=("test -d work || { echo no folder; exit 3; }",)) == "empty"
    assert fleet.status(task) == "completed"
    assert fleet.show(f"work/{task}.txt") == "better"
    assert fleet.board.run(task).attempts == 1


def test_an_agent_that_lies_to_the_end_completes_nothing_and_a_person_sees_why(fleet: Fleet) -> None:
    task = fleet.create()
    fleet.brain = lambda asked: say("It is done.")
    assert fleet.work(checks=("echo the house is on fire; false",), rounds=1, attempts=2) == "stuck"
    assert fleet.status(task) == "in_progress"
    assert fleet.graph.get(task).owner == PERSON
    assert fleet.endings(task) == ["checks", "checks", "gave_up"]
    (question,) = fleet.overview.waiting
    assert "2 attempts failed" in question.question
    assert "the house is on fire" in question.question
    assert git(fleet.project, "log", "--format=%s", "main") == "first"


def test_the_checks_of_a_task_run_only_if_its_agent_may_run_them(fleet: Fleet, tmp_path: Path) -> None:
    task = fleet.create(metadata={"checks": [f"touch {tmp_path}/ran"]})
    fleet.brain = lambda asked: say("Done.")
    assert fleet.work(agent={"mode": "accept-edits"}, rounds=1, attempts=1) == "stuck"
    assert not (tmp_path / "ran").exists()
    assert "was not run" in fleet.board.run(task).endings[0].text


# -- giving up, and a person


def test_after_some_failures_a_task_waits_for_a_person_and_goes_on_with_the_answer(fleet: Fleet) -> None:
    task = fleet.create()

    def brain(asked: Asked) -> Step:
        return writes_a_file(asked) if "A person answered: try harder" in asked.texts else say("Done.")

    fleet.brain = brain
    assert fleet.work(checks=("test -d work",), rounds=1, attempts=2) == "stuck"
    session = fleet.board.run(task).session
    fleet.control.answer(task, "try harder")
    assert fleet.work(checks=("test -d work",), rounds=1, attempts=2) == "empty"
    assert fleet.status(task) == "completed"
    assert fleet.board.run(task).session == session
    assert fleet.overview.waiting == ()


def test_a_task_that_gave_up_can_be_tried_again(fleet: Fleet) -> None:
    task = fleet.create()
    fleet.brain = lambda asked: say("Done.")
    assert fleet.work(checks=("test -d work",), rounds=1, attempts=1) == "stuck"
    fleet.control.retry(task)
    fleet.brain = writes_a_file
    assert fleet.work(checks=("test -d work",), rounds=1, attempts=1) == "empty"


def asks(asked: Asked) -> Step:
    """Ask a person, and do what they say."""
    if not asked.done:
        return call("write_file", path="draft.txt", content="draft\n")
    if asked.done == 1:
        return call("ask_person", question="Which colour?")
    if "A person answered" not in asked.texts:
        return say("I wait.")
    if asked.done == 2:
        assert "You asked: Which colour?\nA person answered: blue" in asked.texts
        return call("write_file", path="colour.txt", content="blue\n")
    return say("It is blue.")


def test_an_agent_asks_a_person_and_goes_on_with_the_answer_in_the_same_session(fleet: Fleet) -> None:
    task, other = fleet.create("colour"), fleet.create("other")
    fleet.brain = lambda asked: asks(asked) if asked.task == task else writes_a_file(asked)
    assert fleet.work() == "stuck"
    assert fleet.status(other) == "completed", "the fleet goes on meanwhile"
    (question,) = fleet.overview.waiting
    assert (question.id, question.question, question.why) == (task, "Which colour?", "asks")
    with pytest.raises(ConflictError, match="empty"):
        fleet.control.answer(task, " ")
    fleet.control.answer(task, "blue")
    with pytest.raises(ConflictError, match="waits for no answer"):
        fleet.control.answer(task, "red")
    assert fleet.work() == "empty"
    assert (fleet.show("colour.txt"), fleet.show("draft.txt")) == ("blue", "draft")
    assert fleet.board.run(task).failed == 0


# -- parts


def splits(asked: Asked) -> Step:
    """Make two parts, one after the other, and put them together."""
    if "split me" not in asked.texts:
        return writes_a_file(asked)
    if not asked.done:
        return calls(
            call("write_file", path="plan.txt", content="two parts\n"),
            call("task_create", subject="part one", addBlocks=[1]),
        )
    if asked.done == 2:
        return call("task_create", subject="part two", addBlocks=[1], addBlockedBy=[2])
    if "are done. Their changes are in this folder" not in asked.texts:
        return say("Two parts have to be done first.")
    if asked.done == 3:
        assert "#2 part one (completed): Wrote work/2.txt." in asked.texts
        return call("bash", command="cat work/2.txt work/3.txt > whole.txt")
    return say("Put together.")


def test_a_task_that_was_split_goes_on_once_its_parts_are_done_with_their_changes(fleet: Fleet) -> None:
    task = fleet.create("split me")
    fleet.brain = splits
    assert fleet.work(slots=2) == "empty"
    assert [fleet.status(number) for number in (1, 2, 3)] == ["completed"] * 3
    assert fleet.show("whole.txt") == "done 2\ndone 3"
    run = fleet.board.run(task)
    assert (run.attempts, run.failed, fleet.endings(task)) == (2, 0, ["split"])
    assert git(fleet.project, "log", "-1", "--format=%s", "main") == "split me"


def test_agents_make_a_limited_number_of_tasks_out_of_one(fleet: Fleet) -> None:
    fleet.create("breed")

    def brain(asked: Asked) -> Step:
        if not asked.done:
            made = [call("task_create", subject=f"child {n}", addBlocks=[asked.task]) for n in range(3)]
            return calls(made)
        if any("which is the limit" in result.text for result in asked.results):
            return say("No more.")
        return say("Made.")

    fleet.brain = brain
    assert fleet.work(split=5, slots=2) == "empty"
    tasks = fleet.graph.find()
    assert fleet.board.all(Family)["1"].tasks == 5
    assert fleet.graph.count() <= 6
    assert tasks == [] or all(task.finished for task in tasks)


def test_an_agent_neither_claims_nor_completes_tasks(fleet: Fleet) -> None:
    task, other = fleet.create(), fleet.create("other", priority=3)
    offered: list[str] = []

    def brain(asked: Asked) -> Step:
        offered.extend(str(tool["name"]) for tool in asked.request.tools)
        if asked.task == task and not asked.done:
            return call("task_complete", taskId=other)
        return say("Done.")

    fleet.brain = brain
    with fleet.parts() as parts:
        assert parts.options.until_empty
    assert fleet.work() == "empty"
    assert not {"task_complete", "task_claim", "task_update"} & set(offered)
    assert {"task_create", "ask_person"} <= set(offered)
    assert fleet.board.run(other).attempts == 1, "it was done by a worker"


# -- contained


def test_an_agent_that_goes_in_circles_is_stopped_and_a_person_sees_why(fleet: Fleet) -> None:
    task = fleet.create()
    fleet.brain = lambda asked: call("bash", command="echo again")
    assert fleet.work(attempts=1, agent={"max_turns": 40}) == "stuck"
    assert fleet.endings(task)[0] in ("repetition", "turns")
    assert fleet.overview.waiting[0].id == task


def test_an_agent_does_not_write_outside_of_its_worktree(fleet: Fleet, tmp_path: Path) -> None:
    fleet.create()
    targets = [str(tmp_path / "outside.txt"), str(fleet.project / "inside.txt"), "../sibling.txt", ".git"]

    def brain(asked: Asked) -> Step:
        if asked.done < len(targets):
            return call("write_file", path=targets[asked.done], content="mine\n")
        return say("Tried.")

    fleet.brain = brain
    assert fleet.work(agent={"mode": "accept-edits"}) == "empty"
    assert not (tmp_path / "outside.txt").exists()
    assert not (fleet.project / "inside.txt").exists()
    assert not (fleet.worktrees / "sibling.txt").exists()
    assert git(fleet.project, "status", "--porcelain") == ""


# -- landing


def conflicts(asked: Asked) -> Step:
    """Change a line that the other task changes, too, and keep both when told to."""
    told = "conflict markers" in asked.texts
    if not asked.done:
        return call("read_file", path="shared.txt")
    if asked.done == 1:
        return call("edit_file", path="shared.txt", old_text="line 4\n", new_text=f"by task {asked.task}\n")
    if told and asked.done == 2:
        return call("bash", command="sed -i '/^[<=>]\\{7\\}/d' shared.txt")
    return say("Merged." if told else "Changed.")


def test_a_conflict_is_resolved_by_the_agent_and_both_changes_land(fleet: Fleet) -> None:
    fleet.create("one")
    fleet.create("two")
    fleet.brain = conflicts
    assert fleet.work(slots=2) == "empty"
    text = fleet.show("shared.txt")
    assert "by task 1" in text
    assert "by task 2" in text
    assert "<<<<" not in text
    assert git(fleet.project, "rev-list", "--count", "main") == "3"


@pytest.mark.parametrize(("rounds", "held"), [(1, True), (3, False)])
def test_nobody_else_lands_while_an_agent_resolves_its_last_conflict(fleet: Fleet, rounds: int, held: bool) -> None:
    seen: list[bool] = []

    def brain(asked: Asked) -> Step:
        if "conflict markers" in asked.texts:
            key = fleet.board.get(KeyHolders, "landing:main")
            seen.append(bool(key and key.holders))
        return conflicts(asked)

    fleet.create("one")
    fleet.create("two")
    fleet.brain = brain
    assert fleet.work(slots=2, rounds=rounds) == "empty"
    assert set(seen) == {held}
    key = fleet.board.get(KeyHolders, "landing:main")
    assert key is None or not key.holders


def test_conflict_markers_never_land(fleet: Fleet) -> None:
    fleet.create("one")
    task = fleet.create("two", blocked_by=[])
    fleet.brain = lambda asked: say("I do not care.") if "conflict markers" in asked.texts else conflicts(asked)
    assert fleet.work(slots=2, rounds=1, attempts=1) == "stuck"
    assert "<<<<" not in fleet.show("shared.txt")
    waiting = fleet.overview.waiting[0]
    assert waiting.id in (1, task)
    assert "shared.txt" in waiting.question


def test_what_the_user_has_changed_is_in_the_way_and_a_person_is_asked(fleet: Fleet) -> None:
    task = fleet.create()
    (fleet.project / "work").mkdir()
    (fleet.project / "work" / f"{task}.txt").write_text("of the user\n")
    assert fleet.work() == "stuck"
    (question,) = fleet.overview.waiting
    assert (question.id, question.why) == (task, "in_the_way")
    assert f"work/{task}.txt" in question.question
    assert (fleet.project / "work" / f"{task}.txt").read_text() == "of the user\n"
    (fleet.project / "work" / f"{task}.txt").unlink()
    fleet.control.answer(task, "I have moved it away.")
    assert fleet.work() == "empty"
    assert fleet.show(f"work/{task}.txt") == f"done {task}"


# -- money


def test_a_budget_ends_a_run_before_the_next_request(fleet: Fleet) -> None:
    task = fleet.create()
    fleet.price = PRICE
    fleet.brain = lambda asked: call("bash", command=f"echo {asked.done}")
    fleet.control.budget("day", 3.0)
    assert fleet.work() == "budget"
    assert fleet.overview.spending.today == 3.0
    assert fleet.endings(task) == ["budget"]
    assert fleet.board.run(task).failed == 0
    assert fleet.status(task) == "pending"
    fleet.control.budget("day", 10.0)
    fleet.brain = lambda asked: say("Done.")
    assert fleet.work() == "empty"
    assert fleet.overview.spending.today == 4.0


def test_a_request_that_was_under_way_when_its_worker_was_killed_counts(fleet: Fleet) -> None:
    task = fleet.create()
    fleet.price = PRICE
    fleet.control.budget("day", 3.0)
    fleet.brain = lambda asked: die() if asked.done == 1 else call("bash", command=f"echo {asked.done}")
    fleet.work_until_killed(task)
    assert fleet.overview.spending.today == 2.0
    fleet.brain = lambda asked: call("bash", command=f"echo {asked.done}")
    assert fleet.work() == "budget"
    assert fleet.overview.spending.today == 3.0
    assert fleet.board.run(task).requests == 2
