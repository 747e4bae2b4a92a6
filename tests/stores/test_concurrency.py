"""Many processes on one store, on all three engines."""

import os
import subprocess
import sys
import threading
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from outlive.stores.tasks.protocol import TaskQuery
from outlive.tasks.audit import Audit
from outlive.tasks.draft import TaskDraft
from tests.engines import Engine, worker_environment
from tests.processes import at_once
from tests.truth import assert_files_tell_the_truth, assert_sound

PROCESSES = 8


def split(items: list[int]) -> list[str]:
    """Into one part for each process, as an argument."""
    return [",".join(map(str, items[index::PROCESSES])) for index in range(PROCESSES)]


def sound(engine: Engine) -> None:
    store = engine.open()
    assert_sound(store)
    if engine.name == "files":
        assert_files_tell_the_truth(engine.path)


def test_eight_processes_create_a_thousand_tasks_with_distinct_ids(engine: Engine) -> None:
    made = list(chain.from_iterable(at_once(engine.url, [("create", "125")] * PROCESSES)))
    assert len(made) == len(set(made)) == 1000
    tasks = engine.graph().find(TaskQuery(sort="id"))
    assert [task.id for task in tasks] == sorted(made)
    sound(engine)


def test_eight_processes_that_race_for_200_tasks_never_share_one(engine: Engine) -> None:
    graph = engine.graph()
    made = [task.id for task in graph.create_many([draft(f"task {index}") for index in range(200)])]
    takes = at_once(engine.url, [("claim_all", f"worker {index}") for index in range(PROCESSES)])
    assert sorted(chain.from_iterable(takes)) == made
    for index, taken in enumerate(takes):
        owners = {graph.get(number).owner for number in taken}
        assert owners <= {f"worker {index}"}
    assert graph.ready() == []
    sound(engine)


def test_a_race_for_the_same_ids_has_one_winner_each(engine: Engine) -> None:
    graph = engine.graph()
    made = [task.id for task in graph.create_many([draft(f"task {index}") for index in range(20)])]
    takes = at_once(engine.url, [("claim_each", f"worker {index},20") for index in range(PROCESSES)])
    assert sorted(chain.from_iterable(takes)) == made
    sound(engine)


def test_64_completions_by_8_processes_make_their_dependent_ready_exactly_once(engine: Engine) -> None:
    graph = engine.graph()
    blockers = [task.id for task in graph.create_many([draft(f"blocker {index}") for index in range(64)])]
    last = graph.create("last", blocked_by=blockers)
    assert last.blocked_by == tuple(blockers)
    reports = at_once(engine.url, [("complete", part) for part in split(blockers)])
    unblocked = list(chain.from_iterable(chain.from_iterable(reports)))
    assert unblocked == [last.id]
    assert [task.id for task in graph.ready()] == [last.id]
    sound(engine)


def test_two_processes_cannot_close_a_cycle_together(engine: Engine) -> None:
    graph = engine.graph()
    pairs = [(graph.create("a").id, graph.create("b").id) for _ in range(12)]
    forth = ",".join(f"{a}-{b}" for a, b in pairs)
    back = ",".join(f"{b}-{a}" for a, b in pairs)
    results = at_once(engine.url, [("link", forth), ("link", back)])
    for one, other, (a, b) in zip(*results, pairs, strict=True):
        assert sorted([one[:7], other[:7]]) == ["added", "refused"]
        refusal = one if one != "added" else other
        assert f"{a} -> {b} -> {a}" in refusal or f"{b} -> {a} -> {b}" in refusal
    sound(engine)


def test_four_processes_cannot_close_a_longer_cycle_together(engine: Engine) -> None:
    graph = engine.graph()
    rings = [[graph.create(f"task {index}").id for index in range(4)] for _ in range(6)]
    arguments = [",".join(f"{ring[index]}-{ring[(index + 1) % 4]}" for ring in rings) for index in range(4)]
    results = at_once(engine.url, [("link", argument) for argument in arguments])
    for ring in zip(*results, strict=True):
        assert [result[:7] for result in ring].count("refused") == 1
    sound(engine)


def test_a_task_created_after_one_that_is_just_completed_never_stays_blocked(engine: Engine) -> None:
    graph = engine.graph()
    blockers = [task.id for task in graph.create_many([draft(f"blocker {index}") for index in range(48)])]
    listed = ",".join(map(str, blockers))
    _, *followers = at_once(engine.url, [("complete_all", listed), ("follow", listed), ("follow", listed)])
    assert sorted(task.id for task in graph.ready()) == sorted(chain.from_iterable(followers))
    sound(engine)


def test_a_completion_that_comes_in_the_midst_of_a_creation_is_not_overlooked(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, other = engine.graph(), engine.graph()
    blocker = graph.create("blocker").id
    create = Audit.create
    completing = threading.Thread(target=lambda: other.complete(blocker))

    def interrupted(self: Audit, *args: Any, **options: Any) -> None:
        create(self, *args, **options)
        # The edge is written, the creation not yet committed. A completion now has to wait for it.
        completing.start()
        completing.join(0.3)

    monkeypatch.setattr(Audit, "create", interrupted)
    task = graph.create("task", blocked_by=[blocker])
    completing.join(300)
    assert [found.id for found in graph.ready()] == [task.id]
    sound(engine)


def test_a_creation_that_comes_in_the_midst_of_a_completion_is_not_overlooked(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, other = engine.graph(), engine.graph()
    blocker = graph.create("blocker").id
    save = Audit.save
    creating = threading.Thread(target=lambda: other.create("task", blocked_by=[blocker]))

    def interrupted(self: Audit, *args: Any, **options: Any) -> Any:
        result = save(self, *args, **options)
        creating.start()
        creating.join(0.3)
        return result

    monkeypatch.setattr(Audit, "save", interrupted)
    graph.complete(blocker)
    creating.join(300)
    assert [found.subject for found in graph.ready()] == ["task"]
    sound(engine)


def test_removing_an_edge_while_its_end_is_completed_leaves_nothing_blocked(engine: Engine) -> None:
    graph = engine.graph()
    blockers = [task.id for task in graph.create_many([draft(f"blocker {index}") for index in range(40)])]
    waiting = [graph.create(f"after {number}", blocked_by=[number]).id for number in blockers]
    edges = ",".join(f"{task}-{other}" for task, other in zip(waiting, blockers, strict=True))
    listed = ",".join(map(str, blockers))
    at_once(engine.url, [("unlink", edges), ("set_completed", listed)])
    assert [task.id for task in graph.ready()] == waiting
    sound(engine)


def test_completing_and_reopening_from_all_sides_keeps_every_count_right(engine: Engine) -> None:
    graph = engine.graph()
    blockers = [task.id for task in graph.create_many([draft(f"blocker {index}") for index in range(PROCESSES)])]
    waiting = [graph.create(f"waiting {index}", blocked_by=blockers).id for index in range(3)]
    at_once(engine.url, [("churn", str(number)) for number in blockers])
    assert [task.id for task in graph.ready()] == blockers
    for number in blockers:
        graph.complete(number)
    assert [task.id for task in graph.ready()] == waiting
    sound(engine)


def test_threads_that_come_and_go_leave_no_connections_behind(engine: Engine) -> None:
    graph = engine.graph()
    graph.create("one")
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    failures: list[Exception] = []

    def look() -> None:
        try:
            assert graph.count() == 1
        except Exception as error:  # noqa: BLE001 - handed to the test
            failures.append(error)

    for _ in range(120):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert failures == []
    if before:
        assert len(os.listdir("/proc/self/fd")) < before + 20


FORK = """
import os, sys
from outlive.stores import open_stores
from outlive.tasks.graph import TaskGraph
store = open_stores(sys.argv[1], durability="process").tasks
graph = TaskGraph(store)
graph.create("parent, before")
pid = os.fork()
if pid == 0:
    graph.create("child")
    store.close()
    sys.exit(0)
assert os.waitpid(pid, 0)[1] == 0
graph.create("parent, after")
print([task.subject for task in graph.find()])
store.close()
"""


def test_a_store_survives_a_fork(engine: Engine) -> None:
    """The child uses the store of its parent, and closes it; the parent goes on without noticing."""
    run = subprocess.run(
        [sys.executable, "-c", FORK, engine.url],
        capture_output=True,
        text=True,
        check=False,
        env=worker_environment(),
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "['parent, before', 'child', 'parent, after']\n"
    assert "lost" not in run.stderr
    sound(engine)


def draft(subject: str) -> TaskDraft:
    return TaskDraft(subject=subject)
