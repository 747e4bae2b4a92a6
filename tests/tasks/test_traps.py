"""Traps seen in earlier designs. Each test is named after the trap that it keeps shut."""

import json
import sqlite3
import subprocess
import sys
from itertools import chain
from pathlib import Path

import psycopg
import pytest

from outlive.errors import StoreError
from outlive.stores.tasks.protocol import TaskQuery
from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import TaskGraph
from outlive.tasks.listing import listing
from tests.crash_points import template
from tests.engines import ROOT, Engine, worker_environment
from tests.processes import at_once
from tests.truth import assert_sound

ALL = TaskQuery(archived=True, sort="id")


def test_two_managers_hand_out_the_same_id_and_overwrite(engine: Engine) -> None:
    one, other = engine.graph(), engine.graph()
    assert one.find() == other.find() == []
    made = {}
    for index in range(10):
        made[one.create(f"one {index}").id] = f"one {index}"
        made[other.create(f"other {index}").id] = f"other {index}"
    assert len(made) == 20
    for graph in (one, other, engine.graph()):
        assert {task.id: task.subject for task in graph.find()} == made


def test_task_backup_json_in_the_folder_crashes_the_start(files: Engine) -> None:
    files.graph().create("one")
    (files.path / "task_backup.json").write_text('{"id": "backup"}')
    graph = files.graph()
    assert [task.subject for task in graph.find()] == ["one"]
    assert graph.create("two").id == 2


def test_ids_listed_as_1_10_11_2(graph: TaskGraph) -> None:
    graph.create_many([TaskDraft(subject=f"task {index}") for index in range(1, 13)])
    for listed in (graph.find(), graph.find(ALL), graph.ready()):
        assert [task.id for task in listed] == list(range(1, 13))


def test_a_dependency_on_an_already_completed_task_blocks_for_ever(graph: TaskGraph) -> None:
    done = graph.complete(graph.create("done").id).task.id
    assert graph.create("new", blocked_by=[done]).ready
    later = graph.create("later")
    assert graph.update(later.id, add_blocked_by=[done]).ready
    batch = graph.create_many(
        [TaskDraft(key="a", subject="a", blocked_by=(done,)), TaskDraft(subject="b", blocks=("a",))]
    )
    assert batch[0].blocked_by == (batch[1].id,)
    graph.archive()
    assert graph.create("after the archive", blocked_by=[done]).ready


def test_add_blocked_by_leaves_the_blocks_of_the_other_side_stale(graph: TaskGraph, engine: Engine) -> None:
    one, two = graph.create("one").id, graph.create("two").id
    graph.update(two, add_blocked_by=[one])
    assert graph.get(one).blocks == engine.graph().get(one).blocks == (two,)
    if engine.name == "files":
        assert json.loads((engine.path / f"task_{one}.json").read_text())["blocks"] == [two]
    graph.update(two, remove_blocked_by=[one])
    assert graph.get(one).blocks == engine.graph().get(one).blocks == ()
    if engine.name == "files":
        assert json.loads((engine.path / f"task_{one}.json").read_text())["blocks"] == []


def test_clearing_blocked_by_erases_the_edge_so_that_a_reopen_cannot_restore_it(
    graph: TaskGraph, engine: Engine
) -> None:
    one = graph.create("one").id
    two = graph.create("two", blocked_by=[one]).id
    graph.complete(one)
    assert graph.get(two).blocked_by == ()
    engine.graph().reopen(one)
    assert graph.get(two).blocked_by == (one,)
    assert [task.id for task in graph.ready()] == [one]


def test_dependents_written_before_the_task_itself(tmp_path: Path) -> None:
    """A reader of the files alone, at any step of a completion, finds no task ready before its time."""
    source = tmp_path / "template"
    engine = Engine("files", f"files:{source}")
    template(engine.graph())
    engine.close()
    command = [sys.executable, "-m", "tests.crash_points", "complete", str(source), str(tmp_path / "steps")]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=worker_environment(), check=True)
    seen = set()
    for step in range(1, int(run.stdout) + 1):
        folder = tmp_path / "steps" / str(step)
        task, *dependents = (json.loads((folder / f"task_{number}.json").read_text()) for number in (1, 3, 4))
        lifted = [1 not in form["blockedBy"] for form in dependents]
        assert task["status"] == "completed" or not any(lifted), f"step {step}"
        seen.add((task["status"], *lifted))
    assert seen >= {("pending", False, False), ("completed", False, False), ("completed", True, True)}


def test_a_list_that_prints_400_000_characters_into_a_models_context(graph: TaskGraph) -> None:
    graph.create_many([TaskDraft(subject=f"{index} {'long ' * 38}") for index in range(2000)])
    tasks = graph.find()
    assert sum(len(task.subject) for task in tasks) > 370_000
    text = listing(tasks, total=graph.count(), budget=1000)
    assert len(text) < 4000
    shown = text.count("\n")
    assert text.endswith(f"… and {2000 - shown:,} more")


def test_an_add_on_a_damaged_store_that_replaces_the_whole_store_and_exits_0(engine: Engine) -> None:
    graph = engine.graph()
    graph.create("precious")
    graph.create("also precious")
    engine.close()
    if engine.name == "files":
        (engine.path / "task_1.json").write_text('{"id": 1, "subj')
        assert engine.graph().create("new").id == 3
        assert (engine.path / "task_1.json").read_text() == '{"id": 1, "subj'
        assert engine.graph().get(2).subject == "also precious"
    elif engine.name == "sqlite":
        engine.path.write_bytes(b"garbage" + engine.path.read_bytes()[7:])
        for extra in ("-wal", "-shm"):
            engine.path.with_name(engine.path.name + extra).unlink(missing_ok=True)
        before = engine.path.read_bytes()
        with pytest.raises(StoreError, match="not a SQLite database"):
            engine.graph().create("new")
        assert engine.path.read_bytes() == before
    else:
        with psycopg.connect(engine.url, autocommit=True) as connection:
            connection.execute("ALTER TABLE outlive_tasks RENAME TO outlive_tasks_lost")
        with pytest.raises(StoreError, match="outlive_tasks"):
            engine.graph().create("new")
        with psycopg.connect(engine.url, autocommit=True) as connection:
            connection.execute("ALTER TABLE outlive_tasks_lost RENAME TO outlive_tasks")
        assert len(engine.graph().find()) == 2


def test_a_doctor_that_reports_all_well_next_to_a_lost_record(engine: Engine) -> None:
    graph = engine.graph()
    graph.create("one")
    graph.create("two")
    graph.delete(graph.create("deleted on purpose").id)
    assert graph.doctor() == []
    if engine.name == "files":
        (engine.path / "task_1.json").unlink()
    elif engine.name == "sqlite":
        raw = sqlite3.connect(engine.path, isolation_level=None)
        raw.execute("DELETE FROM outlive_tasks WHERE id = 1")
        raw.close()
    else:
        with psycopg.connect(engine.url, autocommit=True) as connection:
            connection.execute("DELETE FROM outlive_tasks WHERE id = 1")
    for each in (graph, engine.graph()):
        (problem,) = each.doctor()
        assert (problem.task, problem.harmless) == (1, False)
        assert "the audit trail knows this task" in problem.what


def test_embedded_engines_that_deadlock_or_corrupt_with_two_writers(engine: Engine) -> None:
    made = at_once(engine.url, [("create", "40"), ("create", "40")])
    assert len(set(chain.from_iterable(made))) == 80
    assert_sound(engine.open())


def test_locks_left_behind_by_a_killed_process_that_nobody_may_break(engine: Engine) -> None:
    """It dies in the midst of a change, with every lock that there is."""
    graph = engine.graph()
    graph.create("one")
    script = """
import sys
from outlive.stores import open_stores
def work(tx):
    tx.lock([1], edges=True)
    tx.new_ids(1)
    print("holding", flush=True)
    sys.stdin.readline()
open_stores(sys.argv[1]).tasks.write(work)
"""
    holder = subprocess.Popen(
        [sys.executable, "-c", script, engine.url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=worker_environment(),
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == "holding\n"
    holder.kill()
    holder.wait()
    holder.stdin.close()
    holder.stdout.close()
    graph.update(1, subject="uno")
    assert graph.create("two", blocks=[1]).id > 1
    assert_sound(graph.store)
