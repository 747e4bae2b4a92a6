"""What is refused, on all three engines: each error names the ids and the way out, and nothing was changed."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from outlive.errors import (
    BlockedError,
    ConflictError,
    CycleError,
    DependencyError,
    HasDependents,
    InvalidTask,
    LeaseError,
    NothingReady,
    OutliveError,
    TaskError,
    UnknownTask,
)
from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import TaskGraph
from outlive.testing.tasks.support import everything


@pytest.fixture
def tasks(graph: TaskGraph) -> dict[str, int]:
    """a <- b <- c, and x held by ann, and done."""
    a = graph.create("Write the parser").id
    b = graph.create("Test the parser", blocked_by=[a]).id
    c = graph.create("Ship it", blocked_by=[b]).id
    x = graph.claim(graph.create("Held").id, owner="ann").id
    done = graph.complete(graph.create("Done").id).task.id
    return {"a": a, "b": b, "c": c, "x": x, "done": done}


def refused(graph: TaskGraph, kind: type[OutliveError], act: Callable[[], object], *words: object) -> OutliveError:
    before = everything(graph.store)
    with pytest.raises(kind) as caught:
        act()
    assert everything(graph.store) == before, "a refusal changed something"
    for word in words:
        assert str(word) in str(caught.value)
    return caught.value


OPERATIONS: dict[str, Callable[[TaskGraph, int | str], object]] = {
    "get": lambda graph, ref: graph.get(ref),
    "update": lambda graph, ref: graph.update(ref, subject="x"),
    "add_blocked_by": lambda graph, ref: graph.update(1, add_blocked_by=[ref]),
    "add_blocks": lambda graph, ref: graph.update(1, add_blocks=[ref]),
    "create": lambda graph, ref: graph.create("x", blocked_by=[ref]),
    "create blocks": lambda graph, ref: graph.create("x", blocks=[ref]),
    "claim": lambda graph, ref: graph.claim(ref, owner="bo"),
    "heartbeat": lambda graph, ref: graph.heartbeat(ref),
    "release": lambda graph, ref: graph.release(ref),
    "complete": lambda graph, ref: graph.complete(ref),
    "cancel": lambda graph, ref: graph.cancel(ref),
    "reopen": lambda graph, ref: graph.reopen(ref),
    "delete": lambda graph, ref: graph.delete(ref),
    "delete by force": lambda graph, ref: graph.delete(ref, force=True),
    "history": lambda graph, ref: graph.history(ref),
    "subtree": lambda graph, ref: graph.subtree(ref),
    "unblocks": lambda graph, ref: graph.unblocks(ref),
    "critical_path": lambda graph, ref: graph.critical_path(ref),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_unknown_id_is_refused_by_every_operation(graph: TaskGraph, tasks: dict[str, int], operation: str) -> None:
    refused(graph, UnknownTask, lambda: OPERATIONS[operation](graph, 777), 777, "list all tasks")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_subject_where_an_id_belongs_is_refused_with_the_id_that_was_meant(
    graph: TaskGraph, tasks: dict[str, int], operation: str
) -> None:
    error = refused(graph, UnknownTask, lambda: OPERATIONS[operation](graph, "write the PARSER"))
    assert f'Did you mean {tasks["a"]} ("Write the parser")' in str(error)


@pytest.mark.parametrize(
    "ref", ["nothing like it at all", "", "0", 0, -1, "1.5", "12a", "1e3", "９" * 20, 10**15, "1 2"]
)
def test_what_is_no_id_is_refused(graph: TaskGraph, tasks: dict[str, int], ref: int | str) -> None:
    refused(graph, UnknownTask, lambda: graph.get(ref))


def test_all_unknown_ids_are_named_at_once(graph: TaskGraph, tasks: dict[str, int]) -> None:
    refused(graph, UnknownTask, lambda: graph.create("x", blocked_by=[700, 1, 701], blocks=[702]), "700, 701, 702")


def test_a_task_cannot_depend_on_itself(graph: TaskGraph, tasks: dict[str, int]) -> None:
    a = tasks["a"]
    refused(graph, DependencyError, lambda: graph.update(a, add_blocked_by=[a]), f"task {a} cannot depend on itself")
    refused(graph, DependencyError, lambda: graph.update(a, add_blocks=[a]), f"task {a} cannot depend on itself")
    batch = [TaskDraft(key="me", subject="x", blocked_by=("me",))]
    refused(graph, DependencyError, lambda: graph.create_many(batch), "'me'", "itself")


def test_a_cycle_is_refused_and_printed(graph: TaskGraph, tasks: dict[str, int]) -> None:
    a, b, c = tasks["a"], tasks["b"], tasks["c"]
    error = refused(
        graph,
        CycleError,
        lambda: graph.update(a, add_blocked_by=[c]),
        f"{a} -> {c} -> {b} -> {a}",
        "remove one of these edges",
    )
    assert isinstance(error, CycleError)
    assert error.cycle == (a, c, b, a)
    error = refused(graph, CycleError, lambda: graph.update(c, add_blocks=[a]), f"{a} -> {c} -> {b} -> {a}")
    error = refused(graph, CycleError, lambda: graph.create("x", blocked_by=[c], blocks=[a]), f"-> {c} -> {b} -> {a}")


def test_a_cycle_through_finished_tasks_is_refused_as_well(graph: TaskGraph, tasks: dict[str, int]) -> None:
    a, b, c = tasks["a"], tasks["b"], tasks["c"]
    graph.complete(a)
    graph.complete(b)
    graph.archive()
    refused(graph, CycleError, lambda: graph.update(a, add_blocked_by=[c]), f"{a} -> {c} -> {b} -> {a}")


def test_a_cycle_within_a_batch_is_refused_with_its_temporary_names(graph: TaskGraph) -> None:
    drafts = [
        TaskDraft(key="one", subject="1", blocked_by=("three",)),
        TaskDraft(key="two", subject="2", blocked_by=("one",)),
        TaskDraft(key="three", subject="3", blocked_by=("two",)),
        TaskDraft(key="four", subject="4"),
    ]
    error = refused(graph, CycleError, lambda: graph.create_many(drafts), "->", "leave out one of these edges")
    assert isinstance(error, CycleError)
    assert set(error.cycle) == {"one", "two", "three"}


def test_one_bad_draft_refuses_the_whole_batch(graph: TaskGraph, tasks: dict[str, int]) -> None:
    good = TaskDraft(key="good", subject="good")
    for kind, bad in [
        (InvalidTask, TaskDraft(subject="  ")),
        (UnknownTask, TaskDraft(subject="x", blocked_by=("nobody",))),
        (UnknownTask, TaskDraft(subject="x", blocked_by=(777,))),
        (InvalidTask, TaskDraft(key="good", subject="the same key")),
        (InvalidTask, TaskDraft(subject="x", priority=9)),
        (InvalidTask, TaskDraft(subject="x", labels=("",))),
    ]:
        refused(graph, kind, lambda bad=bad: graph.create_many([good, bad]))  # type: ignore[misc]


def test_completing_a_blocked_task_is_refused(graph: TaskGraph, tasks: dict[str, int]) -> None:
    error = refused(
        graph,
        BlockedError,
        lambda: graph.complete(tasks["b"]),
        f"task {tasks['b']}",
        f"blocked by {tasks['a']}",
        "remove a dependency that is not one",
    )
    assert isinstance(error, BlockedError)
    assert error.blocked_by == (tasks["a"],)
    refused(graph, BlockedError, lambda: graph.update(tasks["b"], status="completed"), f"blocked by {tasks['a']}")


def test_claiming_what_is_blocked_finished_or_held_is_refused(graph: TaskGraph, tasks: dict[str, int]) -> None:
    refused(graph, BlockedError, lambda: graph.claim(tasks["b"], owner="bo"), f"blocked by {tasks['a']}")
    refused(graph, BlockedError, lambda: graph.update(tasks["b"], status="in_progress"), f"blocked by {tasks['a']}")
    refused(graph, ConflictError, lambda: graph.claim(tasks["done"], owner="bo"), "completed", "reopen")
    refused(graph, LeaseError, lambda: graph.claim(tasks["x"], owner="bo"), tasks["x"], "'ann'", "release")


def test_acting_on_what_another_holds_is_refused(graph: TaskGraph, tasks: dict[str, int]) -> None:
    x = tasks["x"]
    refused(graph, LeaseError, lambda: graph.complete(x, owner="bo"), x, "'bo'", "'ann'")
    refused(graph, LeaseError, lambda: graph.cancel(x, owner="bo"), x, "'ann'")
    refused(graph, LeaseError, lambda: graph.release(x, owner="bo"), x, "'ann'")
    refused(graph, LeaseError, lambda: graph.heartbeat(x, owner="bo"), x, "'ann'")
    refused(graph, LeaseError, lambda: graph.update(x, owner="bo"), x, "'ann'", "release")


def test_a_stale_token_is_refused(graph: TaskGraph, tasks: dict[str, int]) -> None:
    x = tasks["x"]
    lease = graph.get(x).lease
    assert lease
    for act in (graph.complete, graph.cancel, graph.release, graph.heartbeat):
        refused(graph, LeaseError, lambda act=act: act(x, token=lease.token - 1), x, "stale", "'ann'")  # type: ignore[misc]
        refused(graph, LeaseError, lambda act=act: act(x, token=lease.token + 1), x, "stale")  # type: ignore[misc]


def test_what_the_status_does_not_allow_is_refused(graph: TaskGraph, tasks: dict[str, int]) -> None:
    refused(graph, ConflictError, lambda: graph.reopen(tasks["a"]), tasks["a"], "pending")
    refused(graph, ConflictError, lambda: graph.reopen(tasks["x"]), tasks["x"], "in_progress")
    refused(graph, ConflictError, lambda: graph.release(tasks["a"]), tasks["a"], "pending")
    refused(graph, LeaseError, lambda: graph.heartbeat(tasks["a"]), tasks["a"], "claim it first")


def test_deleting_what_others_depend_on_is_refused(graph: TaskGraph, tasks: dict[str, int]) -> None:
    error = refused(
        graph,
        HasDependents,
        lambda: graph.delete(tasks["a"]),
        tasks["a"],
        tasks["b"],
        "take the dependency from them",
        "cancel",
    )
    assert isinstance(error, HasDependents)
    assert error.dependents == (tasks["b"],)


def test_deleting_what_an_archived_task_depends_on_is_refused(graph: TaskGraph) -> None:
    a = graph.create("a").id
    b = graph.create("b", blocked_by=[a]).id
    graph.complete(b, force=True)
    graph.archive()
    refused(graph, HasDependents, lambda: graph.delete(a), a, b)


def test_an_invalid_status_is_refused(graph: TaskGraph, tasks: dict[str, int]) -> None:
    for status in ("done", "", "Pending", "in progress"):
        refused(
            graph,
            InvalidTask,
            lambda status=status: graph.update(tasks["a"], status=status),  # type: ignore[misc]
            repr(status),
            "pending, in_progress, completed, cancelled",
        )


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        ("", "blank"),
        (" \t\n ", "blank"),
        ("x" * 201, "201 characters, at most 200"),
        ("two\nlines", "one line"),
        ("a\x00b", "NUL"),
        ("\ud800", "not valid Unicode"),
        ("bell\x07", "control"),
        ("two\u2028lines", "one line"),
    ],
)
def test_a_subject_must_be_one_line_of_a_sane_length(
    graph: TaskGraph, tasks: dict[str, int], subject: str, reason: str
) -> None:
    refused(graph, InvalidTask, lambda: graph.create(subject), reason)
    refused(graph, InvalidTask, lambda: graph.update(tasks["a"], subject=subject), reason)


def test_a_subject_of_the_greatest_length_is_fine(graph: TaskGraph) -> None:
    assert graph.create("ß" * 200).subject == "ß" * 200


def test_other_fields_have_limits_too(graph: TaskGraph, tasks: dict[str, int]) -> None:
    a = tasks["a"]
    refused(graph, InvalidTask, lambda: graph.create("x", description="x" * 100_001), "100,001")
    refused(graph, InvalidTask, lambda: graph.update(a, description="a\x00b"), "NUL")
    refused(graph, InvalidTask, lambda: graph.create("x", priority=5), "priority 5", "0 (most urgent) to 4")
    refused(graph, InvalidTask, lambda: graph.update(a, priority=-1), "priority -1")
    refused(graph, InvalidTask, lambda: graph.create("x", labels=["two\nlines"]), "label")
    refused(graph, InvalidTask, lambda: graph.create("x", owner=" "), "owner")
    refused(graph, InvalidTask, lambda: graph.claim(a, owner=""), "owner")
    refused(graph, InvalidTask, lambda: graph.claim(a, owner="x" * 61), "owner")
    refused(graph, InvalidTask, lambda: graph.complete(a, result="a\x00b"), "result", "NUL")
    refused(graph, InvalidTask, lambda: graph.create("x", metadata={"a": object()}), "metadata")
    refused(graph, InvalidTask, lambda: graph.create("x", metadata={"a": "\x00"}), "metadata", "NUL")
    refused(graph, InvalidTask, lambda: graph.claim(a, owner="bo", ttl=timedelta(0)), "ttl")
    refused(graph, InvalidTask, lambda: graph.heartbeat(tasks["x"], ttl=timedelta(0)), "ttl")


def test_numbers_too_large_for_an_engine_are_refused_by_all(graph: TaskGraph) -> None:
    assert graph.create("fits", metadata={"n": 2**63 - 1, "m": -(2**63)}).metadata == {"n": 2**63 - 1, "m": -(2**63)}
    refused(graph, InvalidTask, lambda: graph.create("x", metadata={"n": 2**70}), "metadata")


def test_nothing_to_claim_says_why(graph: TaskGraph, tasks: dict[str, int]) -> None:
    graph.claim(tasks["a"], owner="ann")
    error = refused(graph, NothingReady, lambda: graph.claim(owner="bo"), "2 pending and blocked", "2 in progress")
    assert error.code == "nothing_ready_yet"
    assert not issubclass(NothingReady, TaskError)
