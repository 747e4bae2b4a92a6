"""Tasks as tools: names beside ids, claims in the session's name, refusals that help, a state block that knows."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from outlive.events import TasksSeen
from outlive.stores.logs.reading import full_log
from outlive.tools.builtin.task_context import keep_claims, work_of
from tests.tools.workbench import Workbench


@pytest.fixture
def other(bench: Workbench) -> Iterator[Workbench]:
    """Another agent in the same workspace."""
    other = Workbench(bench.root, session="other", owner="another")
    yield other
    other.close()


def seen(bench: Workbench) -> list[tuple[int, str]]:
    return [(task.id, task.status) for task in bench.session.state.tasks]


def test_tasks_of_one_answer_name_each_other_by_key_or_subject(bench: Workbench) -> None:
    bench.call("task_create", subject="Design", key="design")
    bench.call("task_create", subject="Build", key="build", addBlockedBy=["design"])
    text = bench.call("task_create", subject="Ship", addBlockedBy=["build", "Design"]).text
    assert text == "created #3 Ship (pending, waits for #1, #2)"
    bench.call("task_create", subject="Research", addBlocks=["design"])
    assert bench.graph.get(1).blocked_by == (4,)
    assert bench.graph.get(3).depends_on == (1, 2)


@pytest.mark.parametrize("ref", [1, "1", "#1", "task_1", "first", "The first"])
def test_a_task_has_many_names(bench: Workbench, ref: object) -> None:
    bench.call("task_create", subject="The first", key="first", description="In full.")
    text = bench.call("task_get", task_id=ref).text
    assert text == "#1 The first (pending)\ndescription:\nIn full."


def test_keys_live_on_when_the_session_is_resumed(bench: Workbench, tmp_path: Path) -> None:
    bench.call("task_create", subject="Design", key="design")
    bench.close()
    again = Workbench(bench.root)
    assert "waits for #1" in again.call("task_create", subject="Build", addBlockedBy=["design"]).text
    again.close()


def test_keys_of_another_session_are_not_ours(bench: Workbench, other: Workbench) -> None:
    bench.call("task_create", subject="Design", key="design")
    assert "'design' is not a task id" in other.refused("task_get", task_id="design")


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({}, "subject"),
        ({"subject": ""}, "blank"),
        ({"subject": "x", "key": "12"}, "cannot be a key"),
        ({"subject": "x", "key": "taken"}, "belongs to task #1"),
        ({"subject": "x", "addBlockedBy": ["nobody knows"]}, "is not a task id"),
        ({"subject": "x", "addBlockedBy": ["Twins"]}, "2 tasks have the subject"),
        ({"subject": "x", "addBlockedBy": [99]}, "list all tasks to see their ids (task_list with all)"),
        ({"subject": "x", "addBlockedBy": "1"}, "addBlockedBy"),
        ({"subject": "x", "add_blocked_by": [1]}, "add_blocked_by"),
        ({"subject": "x", "addBlockedBy": [1], "addBlocks": [1]}, "1"),
        ({"subject": "x\0"}, "NUL"),
        ({"subject": "x" * 300}, "200"),
    ],
)
def test_a_task_that_cannot_be_is_refused_and_nothing_is_made(
    bench: Workbench, given: dict[str, object], word: str
) -> None:
    bench.call("task_create", subject="First", key="taken")
    bench.call("task_create", subject="Twins")
    bench.call("task_create", subject="Twins")
    assert word in bench.refused("task_create", **given)
    assert bench.graph.count() == 3


def test_a_cycle_is_refused_by_name(bench: Workbench) -> None:
    bench.call("task_create", subject="A", key="a")
    bench.call("task_create", subject="B", addBlockedBy=["a"])
    text = bench.refused("task_update", task_id="a", addBlockedBy=["B"])
    assert "cycle" in text
    assert bench.graph.get(1).depends_on == ()


# -- working


def test_the_best_ready_task_is_claimed_and_completed(bench: Workbench) -> None:
    bench.call("task_create", subject="A", key="a", description="Do it well.")
    bench.call("task_create", subject="B", addBlockedBy=["a"])
    text = bench.call("task_claim").text
    assert text == "claimed, for 60 minutes: #1 A (in_progress, owner agent, blocks #2)\nDo it well."
    assert seen(bench) == [(1, "in_progress"), (2, "pending")]
    assert bench.call("task_complete", task_id=1, result="went well").text == "completed #1 A; now ready: #2 B"
    assert bench.graph.get(1).result == "went well"
    assert seen(bench) == [(2, "pending")]
    bench.call("task_claim")
    bench.call("task_complete", task_id="B")
    assert seen(bench) == []
    assert "no open tasks are left" in bench.refused("task_claim")


def test_what_another_holds_is_not_ours(bench: Workbench, other: Workbench) -> None:
    bench.call("task_create", subject="A")
    other.call("task_claim", task_id=1)
    assert "held by 'another'" in bench.refused("task_claim", task_id=1)
    assert "held by 'another'" in bench.refused("task_complete", task_id=1)
    for status in ("completed", "cancelled", "pending", "in_progress"):
        assert "held by 'another'" in bench.refused("task_update", task_id=1, status=status)
    assert bench.graph.get(1).owner == "another"


def test_a_claim_that_ran_out_cannot_complete_what_another_took(bench: Workbench, other: Workbench) -> None:
    bench.call("task_create", subject="A")
    bench.call("task_claim", task_id=1)
    bench.graph.release(1, force=True)
    twin = Workbench(bench.root, session="twin", owner="agent")  # of the same name: only the token tells them apart
    twin.call("task_claim", task_id=1)
    assert "stale" in bench.refused("task_complete", task_id=1)
    twin.call("task_complete", task_id=1)
    twin.close()


def test_claiming_again_what_is_ours_renews_it(bench: Workbench) -> None:
    bench.call("task_create", subject="A")
    bench.call("task_claim", task_id=1)
    before = bench.graph.get(1).lease
    assert bench.call("task_claim", task_id=1).text.startswith("it is yours already")
    after = bench.graph.get(1).lease
    assert before
    assert after
    assert after.token == before.token
    assert after.expires_at >= before.expires_at


def test_leases_are_kept_alive_when_it_is_time(bench: Workbench) -> None:
    bench.call("task_create", subject="A")
    bench.call("task_create", subject="B")
    bench.call("task_claim", task_id=1)
    bench.call("task_claim", task_id=2)
    bench.graph.heartbeat(1, owner="agent", ttl=timedelta(seconds=30))
    short = bench.graph.get(1).lease
    assert keep_claims(bench.context) == []
    assert bench.graph.get(1).lease == short
    bench.graph.release(2, force=True)
    work_of(bench.context).renewed -= 10_000
    (lost,) = keep_claims(bench.context)
    assert "task 2" in lost
    after = bench.graph.get(1).lease
    assert short
    assert after
    assert after.expires_at > short.expires_at + timedelta(minutes=30)


def test_an_update_changes_what_is_given_and_claims_on_in_progress(bench: Workbench) -> None:
    bench.call("task_create", subject="A", description="old")
    bench.call("task_create", subject="B")
    text = bench.call("task_update", task_id=1, subject="A2", status="in_progress", addBlocks=[2]).text
    assert text == "updated #1 A2 (in_progress, owner agent, blocks #2)"
    task = bench.graph.get(1)
    assert task.description == "old"
    assert task.lease is not None
    bench.call("task_update", task_id=2, removeBlockedBy=[1])
    assert bench.graph.get(2).ready
    bench.call("task_update", task_id=1, status="pending")
    assert bench.graph.get(1).owner is None
    bench.call("task_update", task_id=1, status="completed")
    bench.call("task_update", task_id=1, status="pending")
    assert bench.graph.get(1).status == "pending"


def test_an_update_that_is_refused_changes_nothing(bench: Workbench) -> None:
    bench.call("task_create", subject="A")
    bench.call("task_create", subject="B", addBlockedBy=[1])
    assert "blocked by 1" in bench.refused("task_update", task_id=2, subject="B2", status="completed")
    assert "cycle" in bench.refused("task_update", task_id=1, status="in_progress", addBlockedBy=[2])
    assert "nothing to change" in bench.refused("task_update", task_id=1)
    assert "status" in bench.refused("task_update", task_id=1, status="done")
    assert bench.graph.get(2).subject == "B"
    assert bench.graph.get(1).status == "pending"


def test_refusals_speak_of_tools(bench: Workbench) -> None:
    bench.call("task_create", subject="A")
    bench.call("task_create", subject="B", addBlockedBy=[1])
    text = bench.refused("task_complete", task_id=2)
    assert "removeBlockedBy" in text
    assert "--" not in text


def test_a_resumed_session_holds_what_it_held(bench: Workbench) -> None:
    bench.close()
    first = Workbench(bench.root, session="one", owner="session one")
    first.call("task_create", subject="A")
    first.call("task_claim", task_id=1)
    first.close()
    again = Workbench(bench.root, session="one", owner="session one")
    assert again.call("task_claim", task_id=1).text.startswith("it is yours already")
    again.close()
    namesake = Workbench(bench.root, session="two", owner="session one")
    assert "held by 'session one'" in namesake.refused("task_claim", task_id=1)
    namesake.close()


# -- looking


def test_a_list_keeps_to_its_budget(bench: Workbench) -> None:
    assert bench.call("task_list").text == "there are no open tasks"
    for number in range(100):
        bench.graph.create(f"Task number {number} with quite a long subject to fill the list")
    text = bench.call("task_list", budget=200).text
    assert "more" in text
    assert len(text) < 1200
    bench.graph.complete(1)
    assert "✓ 1 " not in bench.call("task_list").text
    assert "✓ 1 " in bench.call("task_list", all=True, budget=50_000).text
    assert "budget" in bench.refused("task_list", budget=0)


def test_a_task_is_shown_whole(bench: Workbench) -> None:
    bench.graph.create("A", labels=["docs"])
    bench.graph.create("B", blocked_by=[1], description="much\nto say")
    bench.graph.complete(1, result="all good")
    bench.call("task_claim", task_id=2)
    assert "result:\nall good" in bench.call("task_get", task_id=1).text
    text = bench.call("task_get", task_id=2).text
    assert "held by 'agent' until" in text
    assert "finished dependencies: #1" in text
    assert "much\nto say" in text


def test_the_state_block_knows_ours_first_then_touched_then_ready(bench: Workbench, other: Workbench) -> None:
    for number in range(1, 61):
        bench.graph.create(f"T{number}")
    other.call("task_claim", task_id=3)
    bench.call("task_claim", task_id=20)
    bench.call("task_update", task_id=50, description="touched")
    assert seen(bench)[:3] == [(20, "in_progress"), (50, "pending"), (1, "pending")]
    assert 3 not in dict(seen(bench))
    assert len(seen(bench)) <= 36
    events = [event for event in full_log(bench.logs, "s").events if isinstance(event, TasksSeen)]
    assert len(events) == 2
    bench.call("task_update", task_id=50, description="again")
    assert len([e for e in full_log(bench.logs, "s").events if isinstance(e, TasksSeen)]) == 2


def test_a_blocked_task_stays_in_the_state_block_after_a_resume(bench: Workbench) -> None:
    bench.call("task_create", subject="A", key="a")
    bench.call("task_create", subject="B", addBlockedBy=["a"])
    bench.close()
    again = Workbench(bench.root)
    again.call("task_claim", task_id="a")
    assert seen(again) == [(1, "in_progress"), (2, "pending")]
    again.close()
