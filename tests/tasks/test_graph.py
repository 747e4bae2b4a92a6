"""The operations on the graph, on all three engines."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from outlive.errors import NothingReady
from outlive.stores.tasks.protocol import Fit, TaskQuery
from outlive.stores.tasks.records import Task
from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import TaskGraph
from outlive.testing import Clock
from tests.truth import assert_sound

ALL = TaskQuery(archived=True, sort="id")


def ids(tasks: list[Task] | tuple[Task, ...]) -> list[int]:
    return [task.id for task in tasks]


@pytest.fixture
def chain(graph: TaskGraph) -> list[int]:
    """Four tasks, each after the one before."""
    keys = "abcd"
    drafts = [
        TaskDraft(key=key, subject=key, blocked_by=tuple(keys[max(0, i - 1) : i])) for i, key in enumerate(keys)
    ]
    return ids(graph.create_many(drafts))


# -- create ------------------------------------------------------------------------------------------------


def test_create_returns_the_task_as_it_is_stored(graph: TaskGraph, clock: Clock) -> None:
    task = graph.create(
        "  Write the parser ",
        description="all of it",
        priority=1,
        labels=["b", "a", "b"],
        owner="ann",
        metadata={"points": 3},
    )
    assert task == graph.get(task.id)
    assert (task.subject, task.description, task.status) == ("Write the parser", "all of it", "pending")
    assert (task.priority, task.labels, task.owner, task.metadata) == (1, ("a", "b"), "ann", {"points": 3})
    assert task.created_at == task.updated_at == clock.now
    assert (task.revision, task.lease, task.completed_at, task.result) == (1, None, None, None)


def test_ids_count_up_from_one(graph: TaskGraph) -> None:
    assert [graph.create(f"task {index}").id for index in range(3)] == [1, 2, 3]


def test_a_thread_goes_on_with_its_store_after_another_one_began(graph: TaskGraph) -> None:
    with ThreadPoolExecutor(1) as thread:
        thread.submit(graph.create, "one").result()
        graph.create("two")
        assert thread.submit(graph.create, "three").result().id == 3


def test_create_can_link_in_both_directions(graph: TaskGraph) -> None:
    before, after = graph.create("before"), graph.create("after")
    between = graph.create("between", blocked_by=[before.id], blocks=[after.id])
    assert between.blocked_by == (before.id,)
    assert between.blocks == (after.id,)
    assert graph.get(before.id).blocks == (between.id,)
    assert graph.get(after.id).blocked_by == (between.id,)
    assert ids(graph.ready()) == [before.id]


def test_naming_a_dependency_twice_means_once(graph: TaskGraph) -> None:
    one = graph.create("one")
    two = graph.create("two", blocked_by=[one.id, str(one.id), f"#{one.id}", f"task_{one.id}", f"task_{one.id}.json"])
    assert two.depends_on == (one.id,)


def test_a_batch_goes_in_whole_with_temporary_names_in_any_order(graph: TaskGraph) -> None:
    there = graph.create("there already")
    made = graph.create_many(
        [
            TaskDraft(key="ship", subject="Ship", blocked_by=("test", "docs")),
            TaskDraft(key="test", subject="Test", blocked_by=("build",)),
            TaskDraft(key="build", subject="Build", blocked_by=(there.id,), priority=0),
            TaskDraft(key="docs", subject="Docs", blocks=()),
            TaskDraft(subject="Prepare", blocks=("build", there.id)),
        ]
    )
    ship, test, build, docs, prepare = made
    assert [task.subject for task in made] == ["Ship", "Test", "Build", "Docs", "Prepare"]
    assert ship.depends_on == tuple(sorted([test.id, docs.id]))
    assert test.depends_on == (build.id,)
    assert build.depends_on == tuple(sorted([there.id, prepare.id]))
    assert graph.get(there.id).depends_on == (prepare.id,)
    assert sorted(ids(graph.ready())) == sorted([docs.id, prepare.id])
    assert_sound(graph.store)


def test_an_empty_batch_makes_nothing(graph: TaskGraph) -> None:
    assert graph.create_many([]) == []
    assert graph.history() == []


def test_a_temporary_name_goes_before_an_id_that_looks_the_same(graph: TaskGraph) -> None:
    graph.create("one")
    first, second = graph.create_many(
        [TaskDraft(key="1", subject="first"), TaskDraft(subject="second", blocked_by=("1",))]
    )
    assert second.depends_on == (first.id,)


# -- update ------------------------------------------------------------------------------------------------


def test_update_changes_what_is_given_and_leaves_the_rest(graph: TaskGraph, clock: Clock) -> None:
    made = graph.create("old", description="keep", labels=["keep", "drop"], priority=3, metadata={"keep": True})
    clock.advance(minutes=1)
    task = graph.update(made.id, subject="new", add_labels=["more"], remove_labels=["drop"], owner="bo")
    assert (task.subject, task.description, task.labels) == ("new", "keep", ("keep", "more"))
    assert (task.priority, task.metadata, task.owner) == (3, {"keep": True}, "bo")
    assert (task.revision, task.created_at, task.updated_at) == (2, made.created_at, clock.now)
    again = graph.update(made.id, labels=["only"], owner=None, metadata={}, description="", priority=0)
    assert (again.labels, again.owner, again.metadata, again.description, again.priority) == (
        ("only",),
        None,
        {},
        "",
        0,
    )


def test_an_update_that_changes_nothing_leaves_no_trace(graph: TaskGraph, clock: Clock) -> None:
    made = graph.create("same", labels=["x"])
    clock.advance(minutes=1)
    assert graph.update(made.id, subject="same", labels=["x"]) == made
    assert graph.update(made.id) == made
    assert len(graph.history(made.id)) == 1


def test_edges_can_be_added_and_removed_from_both_sides(graph: TaskGraph) -> None:
    a, b, c = (graph.create(name).id for name in "abc")
    task = graph.update(b, add_blocked_by=[a], add_blocks=[c])
    assert (task.blocked_by, task.blocks) == ((a,), (c,))
    assert graph.get(a).blocks == (b,)
    assert graph.get(c).blocked_by == (b,)
    assert_sound(graph.store)
    task = graph.update(b, remove_blocked_by=[a], remove_blocks=[c])
    assert (task.blocked_by, task.blocks) == ((), ())
    assert graph.get(a).blocks == graph.get(c).blocked_by == ()
    assert ids(graph.ready()) == [a, b, c]


def test_an_edge_can_be_turned_around_in_one_update(graph: TaskGraph) -> None:
    a, b = graph.create("a").id, graph.create("b").id
    graph.update(b, add_blocked_by=[a])
    graph.update(b, remove_blocked_by=[a], add_blocks=[a])
    assert graph.get(a).depends_on == (b,)
    assert graph.get(b).depends_on == ()


def test_removing_a_dependency_that_is_not_there_is_no_error(graph: TaskGraph) -> None:
    a, b = graph.create("a").id, graph.create("b").id
    assert graph.update(a, remove_blocked_by=[b, 999]).revision == 1


def test_a_status_set_by_hand_follows_the_same_rules(graph: TaskGraph, clock: Clock) -> None:
    a, b = graph.create("a").id, graph.create("b").id
    graph.update(b, add_blocked_by=[a])
    assert graph.update(a, status="in_progress", owner="ann").owner == "ann"
    done = graph.update(a, status="completed")
    assert (done.status, done.completed_at, done.lease) == ("completed", clock.now, None)
    assert ids(graph.ready()) == [b]
    assert graph.update(a, status="pending").completed_at is None
    assert graph.get(b).blocked_by == (a,)
    graph.update(a, status="cancelled")
    assert ids(graph.ready()) == [b]
    graph.update(b, status="completed", force=True)
    assert_sound(graph.store)


# -- list and ready ----------------------------------------------------------------------------------------


def test_find_shows_open_tasks_unless_asked_otherwise(graph: TaskGraph) -> None:
    a, b, c = (graph.create(name).id for name in "abc")
    graph.complete(a)
    graph.claim(b, owner="ann")
    assert ids(graph.find()) == [b, c]
    assert graph.count() == 2
    assert ids(graph.find(TaskQuery(sort="id"))) == [a, b, c]


def test_ready_is_by_priority_then_by_age(graph: TaskGraph, clock: Clock) -> None:
    numbers = []
    for priority in (2, 0, 4, 0, 2):
        numbers.append(graph.create(f"P{priority}", priority=priority).id)
        clock.advance(seconds=1)
    a, b, c, d, e = numbers
    assert ids(graph.ready()) == [b, d, a, e, c]
    assert ids(graph.ready(limit=3)) == [b, d, a]


def test_the_best_task_is_claimed_by_label_and_capability(graph: TaskGraph) -> None:
    plain = graph.create("plain", priority=0).id
    gpu = graph.create("gpu", labels=["gpu"]).id
    assert graph.claim(owner="ann", fit=Fit(labels=("gpu",))).id == gpu
    assert graph.claim(owner="bo", fit=Fit(capabilities=())).id == plain
    with pytest.raises(NothingReady):
        graph.claim(owner="cy")


# -- complete, cancel, reopen ------------------------------------------------------------------------------


def test_completing_the_last_blocker_makes_a_task_ready(graph: TaskGraph, clock: Clock) -> None:
    a, b = graph.create("a").id, graph.create("b").id
    last = graph.create("last", blocked_by=[a, b]).id
    clock.advance(minutes=5)
    first = graph.complete(a, result="went well")
    assert (first.task.status, first.task.result, first.task.completed_at) == ("completed", "went well", clock.now)
    assert first.unblocked == ()
    second = graph.complete(b)
    assert ids(second.unblocked) == [last]
    assert second.unblocked[0] == graph.get(last)
    assert graph.get(last).depends_on == (a, b)


def test_completing_twice_changes_nothing(graph: TaskGraph) -> None:
    a = graph.create("a").id
    graph.create("b", blocked_by=[a])
    done = graph.complete(a, result="fine").task
    again = graph.complete(a)
    assert (again.task, again.unblocked) == (done, ())
    assert graph.complete(a, result="fine").task == done
    assert len(graph.history(a)) == 2


def test_a_blocked_task_can_be_completed_by_force(graph: TaskGraph, chain: list[int]) -> None:
    assert graph.complete(chain[1], force=True).task.status == "completed"
    assert ids(graph.ready()) == [chain[0], chain[2]]


def test_a_cancelled_task_no_longer_blocks(graph: TaskGraph, chain: list[int]) -> None:
    outcome = graph.cancel(chain[0], reason="not needed")
    assert (outcome.task.status, outcome.task.result) == ("cancelled", "not needed")
    assert ids(outcome.unblocked) == [chain[1]]
    assert ids(graph.ready()) == [chain[1]]


def test_a_blocked_task_can_be_cancelled(graph: TaskGraph, chain: list[int]) -> None:
    graph.cancel(chain[2])
    assert graph.get(chain[3]).blocked_by == ()
    assert graph.get(chain[3]).ready


@pytest.mark.parametrize("finish", ["complete", "cancel"])
def test_reopening_blocks_the_dependents_again(graph: TaskGraph, chain: list[int], finish: str) -> None:
    getattr(graph, finish)(chain[0])
    graph.claim(chain[1], owner="ann")
    task = graph.reopen(chain[0])
    assert (task.status, task.completed_at, task.owner) == ("pending", None, None)
    assert graph.get(chain[1]).blocked_by == (chain[0],)
    assert graph.get(chain[1]).status == "in_progress"
    assert_sound(graph.store)


# -- delete ------------------------------------------------------------------------------------------------


def test_delete_removes_a_task_that_nobody_needs(graph: TaskGraph, chain: list[int]) -> None:
    graph.delete(chain[3])
    assert ids(graph.find(ALL)) == chain[:3]
    assert graph.get(chain[2]).blocks == ()
    assert_sound(graph.store)


def test_delete_by_force_hands_the_dependencies_down(graph: TaskGraph, chain: list[int]) -> None:
    a, b, c, d = chain
    other = graph.create("other").id
    graph.update(b, add_blocked_by=[other])
    outcome = graph.delete(b, force=True)
    assert outcome.task.id == b
    assert outcome.unblocked == ()
    assert graph.get(c).depends_on == (a, other)
    assert graph.get(a).blocks == graph.get(other).blocks == (c,)
    assert graph.get(d).depends_on == (c,)
    assert_sound(graph.store)


def test_delete_by_force_reports_what_became_ready(graph: TaskGraph, chain: list[int]) -> None:
    outcome = graph.delete(chain[0], force=True)
    assert ids(outcome.unblocked) == [chain[1]]
    assert ids(graph.ready()) == [chain[1]]


def test_the_id_of_a_deleted_task_is_not_used_again(graph: TaskGraph) -> None:
    one = graph.create("one").id
    graph.delete(one)
    assert graph.create("two").id > one


def test_the_trail_of_a_deleted_task_holds_all_of_it(graph: TaskGraph) -> None:
    task = graph.create("precious", description="words", labels=["x"])
    graph.delete(task.id)
    last = graph.history(task.id)[-1]
    assert last.op == "delete"
    before, after = last.changed["task"]
    assert after is None
    assert (before["subject"], before["description"], before["labels"]) == ("precious", "words", ["x"])


# -- archive -----------------------------------------------------------------------------------------------


def test_archive_moves_old_finished_tasks_out_of_the_way(graph: TaskGraph, clock: Clock) -> None:
    old, cancelled, young, open_ = (graph.create(name).id for name in ("old", "cancelled", "young", "open"))
    after = graph.create("after", blocked_by=[old]).id
    graph.complete(old)
    graph.cancel(cancelled)
    clock.advance(days=8)
    graph.complete(young)
    moved = graph.archive(older_than=timedelta(days=7))
    assert ids(moved) == [old, cancelled]
    assert ids(graph.find(TaskQuery(sort="id"))) == [young, open_, after]
    assert ids(graph.find(ALL)) == [old, cancelled, young, open_, after]
    assert graph.get(old).archived_at == clock.now
    assert graph.get(after).depends_on == (old,)
    assert graph.get(after).ready
    assert graph.archive(older_than=timedelta(days=7)) == []
    assert_sound(graph.store)


def test_an_archived_task_still_counts_as_a_dependency(graph: TaskGraph) -> None:
    old = graph.create("old").id
    graph.complete(old)
    graph.archive()
    new = graph.create("new", blocked_by=[old])
    assert (new.depends_on, new.blocked_by) == ((old,), ())
    assert graph.get(old).blocks == (new.id,)
    assert graph.reopen(old).archived_at is None
    assert graph.get(new.id).blocked_by == (old,)
    assert ids(graph.find(TaskQuery(sort="id"))) == [old, new.id]
    assert_sound(graph.store)


def test_an_archived_task_can_be_changed_and_deleted(graph: TaskGraph) -> None:
    a, b = graph.create("a").id, graph.create("b").id
    graph.complete(a)
    graph.complete(b)
    graph.archive()
    assert graph.update(a, subject="renamed", add_blocked_by=[b]).subject == "renamed"
    graph.delete(b, force=True)
    assert ids(graph.find(ALL)) == [a]
    assert graph.get(a).depends_on == ()
    assert graph.find(TaskQuery()) == []
    assert_sound(graph.store)


# -- questions about the shape -----------------------------------------------------------------------------


def test_subtree_is_the_task_and_all_it_depends_on(graph: TaskGraph, chain: list[int]) -> None:
    graph.create("unrelated")
    assert ids(graph.subtree(chain[2])) == [chain[2], chain[1], chain[0]]
    assert ids(graph.subtree(chain[0])) == [chain[0]]


def test_unblocks_are_the_open_tasks_that_wait_for_it(graph: TaskGraph, chain: list[int]) -> None:
    graph.complete(chain[3], force=True)
    assert ids(graph.unblocks(chain[0])) == [chain[1], chain[2]]
    assert graph.unblocks(chain[3]) == []


def test_the_critical_path_is_the_longest_chain_of_open_tasks(graph: TaskGraph, chain: list[int]) -> None:
    short = graph.create("short").id
    graph.create("end", blocked_by=[short])
    assert ids(graph.critical_path()) == chain
    graph.complete(chain[0])
    assert ids(graph.critical_path()) == chain[1:]
    assert ids(graph.critical_path(chain[2])) == chain[1:3]
    for number in chain[1:]:
        graph.complete(number)
    assert [task.subject for task in graph.critical_path()] == ["short", "end"]


def test_the_critical_path_to_a_task_ends_there(graph: TaskGraph, chain: list[int]) -> None:
    """What lies behind a finished task is not in the way."""
    graph.complete(chain[2], force=True)
    assert ids(graph.critical_path(chain[3])) == [chain[3]]
    graph.complete(chain[3])
    assert graph.critical_path(chain[3]) == []


def test_an_empty_graph_has_no_critical_path(graph: TaskGraph) -> None:
    assert graph.critical_path() == []


# -- the audit trail ---------------------------------------------------------------------------------------


def test_the_trail_tells_who_did_what_when_and_from_where(graph: TaskGraph, clock: Clock) -> None:
    made = graph.create("one")
    clock.advance(minutes=1)
    graph.update(made.id, subject="uno", priority=0)
    clock.advance(minutes=1)
    graph.claim(made.id, owner="ann")
    graph.complete(made.id, result="done")
    changes = graph.history(made.id)
    assert [change.op for change in changes] == ["create", "update", "claim", "complete"]
    assert {change.actor for change in changes} == {"tester"}
    assert {change.origin for change in changes} == {"tests"}
    assert [change.revision for change in changes] == [1, 2, 3, 4]
    assert (changes[-1].at - changes[0].at) == timedelta(minutes=2)
    assert changes[1].changed == {"subject": ("one", "uno"), "priority": (2, 0)}
    assert changes[3].changed["result"] == (None, "done")
    assert changes[3].changed["status"] == ("in_progress", "completed")


def test_the_trail_names_the_worker_when_no_actor_is_given(graph: TaskGraph) -> None:
    anonymous = TaskGraph(graph.store)
    made = anonymous.create("one")
    anonymous.claim(made.id, owner="ann")
    anonymous.complete(made.id, owner="ann")
    changes = anonymous.history(made.id)
    assert [change.actor for change in changes][1:] == ["ann", "ann"]
    assert changes[0].actor
    assert ":" in changes[0].origin


def test_both_ends_of_a_rewired_edge_are_in_the_trail(graph: TaskGraph, chain: list[int]) -> None:
    graph.delete(chain[1], force=True)
    assert graph.history(chain[2])[-1].op == "rewire"
    assert graph.history(chain[2])[-1].changed == {"dependsOn": ([chain[1]], [chain[0]])}


def test_a_refused_change_leaves_no_trace(graph: TaskGraph, chain: list[int]) -> None:
    before = graph.history()
    with pytest.raises(Exception, match="cycle"):
        graph.update(chain[0], subject="new name", add_blocked_by=[chain[3]])
    assert graph.history() == before
    assert graph.get(chain[0]).subject == "a"


# -- waiting -----------------------------------------------------------------------------------------------


def test_waiting_ends_at_once_when_something_is_ready(graph: TaskGraph) -> None:
    one = graph.create("one").id
    assert ids(graph.wait_ready(timeout=300)) == [one]
    assert graph.wait_claim(owner="ann", timeout=300).id == one


def test_waiting_in_vain_gives_nothing(graph: TaskGraph) -> None:
    assert graph.wait_ready(timeout=0.05) == []
    with pytest.raises(NothingReady, match="nothing became ready"):
        graph.wait_claim(owner="ann", timeout=0.05)
