"""The file engine and the world around it: edits by hand, damage, leftovers, a missing or lying index."""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlive.cli.flags import remedy
from outlive.errors import CycleError, DamagedRecord, HasDependents, StoreError, StoreUnavailable, UnknownTask
from outlive.stores.tasks.files.store import FileTaskStore
from outlive.stores.tasks.protocol import TaskQuery, TaskStore
from outlive.stores.tasks.records import Task, decode_task, encode_task
from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import TaskGraph
from outlive.testing.tasks.support import change_of
from tests.engines import ROOT, Engine, worker_environment
from tests.truth import assert_files_tell_the_truth, assert_sound

ALL = TaskQuery(archived=True, sort="id")


def edit(path: Path, **fields: Any) -> None:
    """Change a task file the way an editor that writes in place does."""
    form = json.loads(path.read_text())
    form.update(fields)
    path.write_text(json.dumps(form))


def file(engine: Engine, number: int) -> Path:
    return engine.path / f"task_{number}.json"


def settle(folder: Path) -> None:
    """Make files look old enough to be trusted: nothing changed them lately."""
    newest = max((path.stat().st_ctime_ns for path in folder.rglob("*")), default=0)
    while time.time_ns() - newest < 200_000_000:
        time.sleep(0.02)


@pytest.fixture
def graph(files: Engine) -> TaskGraph:
    """Three tasks, 3 after 1 and 2, in a store that has been read and written: it is warm."""
    graph = files.graph()
    graph.create("one")
    graph.create("two")
    graph.create("three", blocked_by=[1, 2])
    return graph


# -- the folder --------------------------------------------------------------------------------------------


def test_reading_where_there_is_nothing_finds_nothing_and_makes_nothing(files: Engine) -> None:
    graph = files.graph()
    assert graph.find() == []
    assert graph.ready() == []
    assert graph.history() == []
    assert graph.doctor() == []
    with pytest.raises(Exception, match="no task has the id 1"):
        graph.get(1)
    assert not files.path.exists()


def test_a_task_is_one_readable_file_with_stable_keys(graph: TaskGraph, files: Engine) -> None:
    text = file(files, 3).read_text()
    assert text.endswith("}\n")
    form = json.loads(text)
    assert list(form)[:7] == ["id", "subject", "description", "status", "blockedBy", "blocks", "owner"]
    assert form["blockedBy"] == form["dependsOn"] == [1, 2]
    assert json.loads(file(files, 1).read_text())["blocks"] == [3]
    assert '\n  "subject": "three",\n' in text
    before = text
    graph.update(3, subject="drei")
    graph.update(3, subject="three")
    assert list(json.loads(file(files, 3).read_text())) == list(json.loads(before))


def test_what_is_derived_or_local_stays_out_of_git(graph: TaskGraph, files: Engine) -> None:
    subprocess.run(["git", "init", "-q", str(files.path.parent)], check=True)
    listed = subprocess.run(
        ["git", "-C", str(files.path), "status", "--porcelain", "-uall"], capture_output=True, text=True, check=True
    )
    names = {line.split()[-1].removeprefix(".tasks/") for line in listed.stdout.splitlines()}
    assert names == {"task_1.json", "task_2.json", "task_3.json", "history.jsonl", ".gitignore", ".gitattributes"}


# -- edits by hand, while running --------------------------------------------------------------------------


def test_an_edit_in_place_is_picked_up(graph: TaskGraph, files: Engine) -> None:
    edit(file(files, 1), status="completed")
    edit(file(files, 2), status="completed")
    assert [task.id for task in graph.ready()] == [3]
    assert graph.get(3).blocked_by == ()


def test_an_edit_of_the_same_size_at_the_same_time_is_picked_up(graph: TaskGraph, files: Engine) -> None:
    path = file(files, 1)
    for subject in ("eno", "neo", "oen"):
        found = path.stat()
        path.write_text(path.read_text().replace(graph.get(1).subject, subject))
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
        assert path.stat().st_size == found.st_size
        assert graph.get(1).subject == subject
        assert graph.find(TaskQuery(text=subject))[0].id == 1


def test_an_edit_of_the_same_size_is_picked_up_although_the_file_was_trusted(graph: TaskGraph, files: Engine) -> None:
    settle(files.path)
    assert graph.get(1).subject == "one"
    assert len(graph.find()) == 3
    path = file(files, 1)
    found = path.stat()
    path.write_text(path.read_text().replace("one", "eno"))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert graph.get(1).subject == "eno"


@pytest.mark.parametrize(("text", "hour"), [("12:00:00", 12), ("12:00:00Z", 12), ("12:00:00+02:00", 10)])
def test_a_time_written_by_hand_is_read_in_utc_with_or_without_a_zone(
    graph: TaskGraph, files: Engine, text: str, hour: int
) -> None:
    edit(file(files, 1), createdAt=f"2026-01-01T{text}")
    assert graph.get(1).created_at == datetime(2026, 1, 1, hour, tzinfo=UTC)


def test_a_file_dropped_in_is_picked_up(graph: TaskGraph, files: Engine) -> None:
    file(files, 9).write_text(json.dumps({"id": 9, "subject": "by hand", "status": "pending", "blockedBy": [1]}))
    assert graph.get(9).blocked_by == (1,)
    assert [task.id for task in graph.find(TaskQuery(sort="id"))] == [1, 2, 3, 9]
    assert graph.get(1).blocks == (3, 9)
    assert graph.create("next").id == 10


def test_a_file_that_was_removed_is_noticed(graph: TaskGraph, files: Engine) -> None:
    file(files, 2).unlink()
    assert [task.id for task in graph.find(TaskQuery(sort="id"))] == [1, 3]
    assert graph.get(3).blocked_by == (1, 2)
    gone, stuck = graph.doctor()
    assert (gone.task, gone.harmless, gone.lost) == (2, False, True)
    assert "file is gone" in gone.what
    assert (stuck.task, "depends on 2" in stuck.what) == (3, True)
    assert graph.create("next").id == 4
    file(files, 1).unlink()
    graph.update(3, remove_blocked_by=[1, 2])
    assert [task.id for task in graph.ready()] == [3, 4]


def test_a_file_that_is_removed_while_the_folder_is_listed_is_gone(
    graph: TaskGraph, files: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    listdir = os.listdir
    listed = sorted(listdir(files.path), reverse=True)
    file(files, 3).unlink()
    monkeypatch.setattr(os, "listdir", lambda place: listed if isinstance(place, int) else listdir(place))
    assert [task.id for task in graph.find(ALL)] == [1, 2]


def test_a_lease_shortened_by_hand_is_waited_for(graph: TaskGraph, files: Engine) -> None:
    graph.claim(1, owner="ann", ttl=timedelta(hours=2))
    lease = json.loads(file(files, 1).read_text())["lease"]
    sooner = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    edit(file(files, 1), lease={**lease, "expiresAt": sooner.isoformat()})
    assert graph.store.read(lambda tx: tx.next_expiry()) == sooner


def test_a_dependent_added_by_hand_counts_for_completing(graph: TaskGraph, files: Engine) -> None:
    file(files, 9).write_text(json.dumps({"id": 9, "subject": "by hand", "status": "pending", "blockedBy": [1]}))
    graph.complete(1)
    assert {task.id for task in graph.ready()} == {2, 9}
    assert graph.get(9).blocked_by == ()


def test_a_dependent_added_by_hand_counts_for_deleting(graph: TaskGraph, files: Engine) -> None:
    lonely = graph.create("lonely").id
    edit(file(files, 1), dependsOn=[lonely])
    with pytest.raises(HasDependents, match=f"task {lonely}: task 1 depends"):
        graph.delete(lonely)


def test_an_edge_added_by_hand_counts_for_cycles(graph: TaskGraph, files: Engine) -> None:
    edit(file(files, 1), dependsOn=[2])
    with pytest.raises(CycleError, match="2 -> 1 -> 2"):
        graph.update(2, add_blocked_by=[1])


def test_a_cycle_made_by_hand_is_reported_and_can_be_undone(graph: TaskGraph, files: Engine) -> None:
    edit(file(files, 1), dependsOn=[3])
    problem = next(problem for problem in graph.doctor() if "itself" in problem.what)
    assert "1 -> 3 -> 1" in problem.what
    assert remedy(problem) == "drop one of these dependencies: outlive task update 1 --remove-blocked-by 3"
    graph.update(1, remove_blocked_by=[3])
    assert graph.doctor() == []


def test_a_change_keeps_what_another_wrote_by_hand(graph: TaskGraph, files: Engine) -> None:
    edit(file(files, 1), description="from my editor", myTool={"keep": [1, 2]})
    graph.claim(1, owner="ann")
    form = json.loads(file(files, 1).read_text())
    assert (form["description"], form["myTool"], form["owner"]) == ("from my editor", {"keep": [1, 2]}, "ann")


def test_derived_fields_written_wrong_by_hand_are_ignored_and_mended(graph: TaskGraph, files: Engine) -> None:
    edit(file(files, 1), blocks=[77])
    assert graph.get(1).blocks == (3,)
    (problem,) = graph.doctor()
    assert (problem.harmless, problem.repairable) == (True, True)
    assert graph.store.repair() == ["rewrote blockedBy and blocks of task_1.json"]
    assert graph.doctor() == []
    assert_files_tell_the_truth(files.path)


def test_a_dependency_written_only_into_blocked_by_is_a_dependency(graph: TaskGraph, files: Engine) -> None:
    edit(file(files, 2), blockedBy=[1])
    assert graph.get(2).depends_on == (1,)
    graph.update(2, priority=1)
    assert json.loads(file(files, 2).read_text())["dependsOn"] == [1]
    assert graph.get(1).blocks == (2, 3)


def test_a_sleeping_worker_wakes_for_a_file_dropped_in(files: Engine) -> None:
    graph = files.graph()
    graph.delete(graph.create("so that the folder exists").id)
    found: list[Task] = []
    waiter = threading.Thread(target=lambda: found.extend(graph.wait_ready(timeout=300)))
    waiter.start()
    file(files, 7).write_text(json.dumps({"id": 7, "subject": "by hand", "status": "pending"}))
    waiter.join(300)
    assert [task.id for task in found] == [7]


# -- the plain form ----------------------------------------------------------------------------------------

PLAIN = {
    1: {
        "id": 1,
        "subject": "Set up",
        "description": "",
        "status": "completed",
        "blockedBy": [],
        "blocks": [2],
        "owner": "",
    },
    2: {
        "id": 2,
        "subject": "Build",
        "description": "",
        "status": "pending",
        "blockedBy": [],
        "blocks": [3],
        "owner": "",
    },
    3: {
        "id": 3,
        "subject": "Ship",
        "description": "",
        "status": "pending",
        "blockedBy": [2],
        "blocks": [],
        "owner": "me",
    },
}


@pytest.fixture
def plain(files: Engine) -> TaskGraph:
    files.path.mkdir()
    for number, form in PLAIN.items():
        file(files, number).write_text(json.dumps(form))
        os.utime(file(files, number), (1_700_000_000, 1_700_000_000))
    return files.graph()


def test_the_plain_form_is_read_as_it_is(plain: TaskGraph, files: Engine) -> None:
    tasks = plain.find(ALL)
    assert [(task.id, task.subject, task.status, task.owner) for task in tasks] == [
        (1, "Set up", "completed", None),
        (2, "Build", "pending", None),
        (3, "Ship", "pending", "me"),
    ]
    assert tasks[2].depends_on == tasks[2].blocked_by == (2,)
    assert {task.created_at for task in tasks} == {datetime.fromtimestamp(1_700_000_000, UTC)}
    assert [task.id for task in plain.ready()] == [2]
    assert json.loads(file(files, 1).read_text()) == PLAIN[1]
    assert plain.create("next").id == 4


def test_the_plain_form_is_upgraded_on_first_write(plain: TaskGraph, files: Engine) -> None:
    assert [task.id for task in plain.complete(2).unblocked] == [3]
    form = json.loads(file(files, 2).read_text())
    assert (form["version"], form["status"], form["dependsOn"]) == (1, "completed", [])
    assert form["createdAt"].startswith("2023-11-14T22:13:20")
    assert json.loads(file(files, 1).read_text()) == PLAIN[1], "untouched tasks stay as they are"
    plain.reopen(2)
    assert plain.get(3).blocked_by == (2,)


def test_a_file_of_a_newer_version_is_named_and_left_alone(graph: TaskGraph, files: Engine) -> None:
    file(files, 2).write_text('{"id": 2, "subject": "x", "version": 99}')
    assert [task.id for task in graph.find(TaskQuery(sort="id"))] == [1, 3]
    problem = next(problem for problem in graph.doctor() if problem.task == 2)
    assert "upgrade outlive" in problem.what
    assert not problem.repairable
    graph.store.repair()
    assert "99" in file(files, 2).read_text()
    assert graph.create("new").id == 4


def test_the_loss_of_a_file_can_be_accepted(graph: TaskGraph, files: Engine) -> None:
    file(files, 2).unlink()
    with pytest.raises(UnknownTask):
        graph.delete(2)
    assert graph.delete(2, force=True).task.subject == "two"
    assert graph.get(3).depends_on == (1,)
    assert graph.doctor() == []
    with pytest.raises(UnknownTask):
        graph.delete(2, force=True)


# -- damage ------------------------------------------------------------------------------------------------


def fifo(path: Path) -> None:
    os.mkfifo(path)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated": (lambda path: path.write_text('{"id": 2, "subject": "tw'), "not valid JSON"),
    "empty": (lambda path: path.write_bytes(b""), "not valid JSON"),
    "zeros": (lambda path: path.write_bytes(bytes(512)), "not valid JSON"),
    "garbage": (lambda path: path.write_bytes(os.urandom(64) + b"\xff"), "not valid JSON"),
    "nested without end": (lambda path: path.write_bytes(b"[" * 100_000), "not valid JSON"),
    "not an object": (lambda path: path.write_text("[1, 2]"), "expected a JSON object"),
    "foreign": (lambda path: path.write_text('{"name": "package", "version": "1.0.0"}'), "format version '1.0.0'"),
    "another kind": (lambda path: path.write_text('{"title": "no task"}'), "missing required field"),
    "wrong id": (lambda path: path.write_text('{"id": 4, "subject": "x"}'), "belongs into task_4.json"),
    "no status": (lambda path: path.write_text('{"id": 2, "subject": "x", "status": "doing"}'), "Invalid enum value"),
    "impossible edge": (
        lambda path: path.write_text('{"id": 2, "subject": "x", "dependsOn": [-1]}'),
        "not a task id",
    ),
    "huge number": (lambda path: path.write_text(f'{{"id": 2, "subject": "x", "priority": {10**30}}}'), "serialize"),
    "merge conflict": (
        lambda path: path.write_text("<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> b\n"),
        "unresolved git conflict",
    ),
    "symlink": (lambda path: path.symlink_to("task_1.json"), "not a regular file"),
    "dangling symlink": (lambda path: path.symlink_to("nowhere"), "not a regular file"),
    "fifo": (fifo, "not a regular file"),
    "folder": (lambda path: path.mkdir(), "not a regular file"),
    "huge": (lambda path: os.truncate(path.open("wb").fileno(), 17 * 2**20), "larger than 16 MiB"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_named_and_set_apart_while_the_rest_works(
    kind: str, graph: TaskGraph, files: Engine
) -> None:
    make, reason = DAMAGE[kind]
    path = file(files, 2)
    path.unlink()
    if kind == "huge":
        with path.open("wb") as handle:
            handle.truncate(17 * 2**20)
    else:
        make(path)
    other = files.graph()
    for each in (graph, other):
        assert [task.id for task in each.find(TaskQuery(sort="id"))] == [1, 3]
        assert each.get(3).blocked_by == (1, 2), "what cannot be read is not finished"
        with pytest.raises(StoreError, match=r"task_2\.json.*\n?.*see what is wrong with it"):
            each.get(2)
    graph.complete(1)
    new = graph.create("new")
    assert new.id == 4
    problem = next(problem for problem in graph.doctor() if problem.task == 2)
    assert problem.where == str(path)
    assert reason in problem.what
    assert (problem.repairable, problem.harmless) == (True, False)
    assert not any("file is gone" in problem.what for problem in graph.doctor())
    before = path.lstat()
    (said,) = [line for line in graph.store.repair() if "task_2.json" in line]
    assert said == "set task_2.json apart as damaged/task_2.json"
    assert (files.path / "damaged/task_2.json").lstat().st_ino == before.st_ino, "moved, not copied or deleted"
    assert not any(problem.repairable for problem in graph.doctor())
    assert any("file is gone" in problem.what and problem.task == 2 for problem in graph.doctor())
    assert graph.create("newer").id == 5


def test_a_damaged_file_is_never_overwritten(graph: TaskGraph, files: Engine) -> None:
    file(files, 2).write_text("{broken")
    for act in (
        lambda: graph.update(2, subject="x"),
        lambda: graph.complete(2),
        lambda: graph.claim(2, owner="ann"),
        lambda: graph.delete(2, force=True),
        lambda: graph.create("x", blocked_by=[2]),
    ):
        with pytest.raises(DamagedRecord):
            act()
    graph.complete(1)
    graph.update(3, subject="drei")
    graph.archive()
    graph.store.repair()
    assert (files.path / "damaged/task_2.json").read_text() == "{broken"


def test_a_damaged_file_under_the_next_id_is_not_overwritten(graph: TaskGraph, files: Engine) -> None:
    file(files, 4).write_text("{broken")
    (files.path / "task_5.json").symlink_to("nowhere")
    assert graph.create("new").id == 6
    assert file(files, 4).read_text() == "{broken"


def test_damaged_files_of_one_name_are_all_kept(graph: TaskGraph, files: Engine) -> None:
    for text in ("{first", "{second", "{third"):
        file(files, 2).write_text(text)
        graph.store.repair()
    kept = sorted(path.read_text() for path in (files.path / "damaged").iterdir())
    assert kept == ["{first", "{second", "{third"]


def test_a_damaged_file_in_the_archive_is_named_too(graph: TaskGraph, files: Engine) -> None:
    graph.complete(1)
    graph.archive()
    path = files.path / "archive/task_1.json"
    path.write_text("{broken")
    assert [task.id for task in files.graph().find(ALL)] == [2, 3]
    with pytest.raises(DamagedRecord, match="archive/task_1"):
        graph.get(1)
    problem = next(problem for problem in graph.doctor() if problem.task == 1)
    assert not problem.harmless
    graph.store.repair()
    assert not path.exists()
    assert [found.read_text() for found in (files.path / "damaged").iterdir()] == ["{broken"]


def test_a_file_mended_by_hand_is_back_at_once(graph: TaskGraph, files: Engine) -> None:
    good = file(files, 2).read_text()
    file(files, 2).write_text(good[:20])
    assert [task.id for task in graph.find(TaskQuery(sort="id"))] == [1, 3]
    file(files, 2).write_text(good)
    assert graph.get(2).subject == "two"
    assert graph.doctor() == []


def test_files_that_are_not_tasks_are_left_alone(graph: TaskGraph, files: Engine) -> None:
    for name in ("task_backup.json", "task_.json", "task_01.json", "task_1.json.bak", "notes.txt", "task_²²²²².json"):
        (files.path / name).write_text("mine")
    (files.path / "folder").mkdir()
    assert len(files.graph().find()) == 3
    assert graph.create("next").id == 4
    problems = graph.doctor()
    assert all(problem.harmless and "not a task file" in problem.what for problem in problems)
    assert len(problems) == 6
    assert graph.store.repair() == []
    assert (files.path / "task_backup.json").read_text() == "mine"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**25), 10**25)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["pending", "2030-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
KEYS = [*json.loads(encode_task(Task(id=1, subject="x", created_at=datetime.now(UTC), updated_at=datetime.now(UTC))))]
KEYS += ["archivedAt", "extra", "foreign"]


@settings(max_examples=300, database=None)
@given(form=st.dictionaries(st.sampled_from(KEYS), json_values, max_size=4), raw=st.binary(max_size=40))
def test_whatever_a_file_holds_it_is_a_task_or_set_apart(form: dict[str, Any], raw: bytes) -> None:
    text = json.dumps({"id": 1, "subject": "x", **form}).encode()
    for content in (text, raw, text[: len(raw)]):
        task = decoded(content)
        if isinstance(task, str):
            assert task.startswith("here: ")
        else:
            assert encode_task(decode_task(encode_task(task), where="here")) == encode_task(task)


def decoded(content: bytes) -> Task | str:
    try:
        return decode_task(content, where="here")
    except StoreError as error:
        return str(error)


@settings(max_examples=60, database=None)
@given(
    forms=st.lists(
        st.dictionaries(
            st.sampled_from(["id", "blockedBy", "blocks", "dependsOn", "priority", "lease", "createdAt"]), json_values
        ),
        max_size=3,
    )
)
def test_whatever_the_files_hold_the_store_opens(forms: list[dict[str, Any]], tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("any") / ".tasks"
    folder.mkdir()
    (folder / "task_1.json").write_text('{"id": 1, "subject": "good"}')
    for number, form in enumerate(forms, start=2):
        text = json.dumps({"id": number, "subject": "x", **form})
        (folder / f"task_{number}.json").write_text(text)
    graph = TaskGraph(FileTaskStore(folder, durability="process"))
    assert graph.get(1).subject == "good"
    graph.find(ALL)
    graph.doctor()
    graph.update(1, subject="better")
    assert graph.create("new").id == len(forms) + 2
    graph.store.repair()
    assert graph.get(1).subject == "better"


# -- the index ---------------------------------------------------------------------------------------------


@pytest.fixture
def indexed(files: Engine) -> Engine:
    """A store of 40 tasks with an index on disk."""
    graph = files.graph()
    graph.create_many([TaskDraft(subject=f"task {index}") for index in range(1, 41)])
    settle(files.path)
    files.graph().find()
    assert (files.path / ".local/index").exists()
    return files


def without_index(engine: Engine, folder: Path) -> list[Task]:
    """The same files, read by a store that never saw them."""
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(engine.path, copy, symlinks=True, ignore=shutil.ignore_patterns(".local"))
    return TaskGraph(FileTaskStore(copy)).find(ALL)


def test_an_index_is_used_where_it_is_right(indexed: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    store = indexed.open()
    assert isinstance(store, FileTaskStore)
    assert len(store.read(lambda tx: tx.find(ALL))) == 40
    assert store.folder.reread == 0


def test_a_writer_that_had_to_read_the_files_writes_the_index(indexed: Engine) -> None:
    index = indexed.path / ".local/index"
    index.unlink()
    indexed.graph().create("one more")
    assert index.exists()


@pytest.mark.parametrize("damage", ["deleted", "truncated", "flipped", "zeros", "empty", "garbage", "folder"])
def test_a_damaged_index_is_ignored(damage: str, indexed: Engine, tmp_path: Path) -> None:
    path = indexed.path / ".local/index"
    raw = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage != "deleted":
        middle = len(raw) // 2
        flipped = raw[:middle] + bytes([raw[middle] ^ 1]) + raw[middle + 1 :]
        path.write_bytes(
            {
                "truncated": raw[:middle],
                "flipped": flipped,
                "zeros": bytes(len(raw)),
                "empty": b"",
                "garbage": os.urandom(len(raw)),
            }[damage]
        )
    graph = indexed.graph()
    assert graph.find(ALL) == without_index(indexed, tmp_path)
    graph.complete(7)
    assert graph.get(7).status == "completed"


def test_an_index_copied_from_elsewhere_is_not_believed(indexed: Engine, tmp_path: Path) -> None:
    other = Engine("files", f"files:{tmp_path / 'other'}")
    other.graph().create_many([TaskDraft(subject=f"other {index}") for index in range(1, 41)])
    shutil.copy(indexed.path / ".local/index", other.path / ".local/index")
    assert {task.subject.split()[0] for task in other.graph().find()} == {"other"}


def test_a_folder_copied_with_its_index_is_read_again(indexed: Engine, tmp_path: Path) -> None:
    shutil.copytree(indexed.path, tmp_path / "moved")
    edit(tmp_path / "moved/task_3.json", subject="TASK 3")
    graph = TaskGraph(FileTaskStore(tmp_path / "moved"))
    assert graph.get(3).subject == "TASK 3"
    assert len(graph.find()) == 40


def test_an_index_that_cannot_be_written_does_no_harm(indexed: Engine) -> None:
    path = indexed.path / ".local/index"
    path.unlink()
    path.mkdir()
    assert len(indexed.graph().find()) == 40


mutations = st.lists(
    st.tuples(
        st.sampled_from(
            ["edit", "same size", "replace", "swap", "remove", "add", "damage", "touch", "link", "rename over"]
        ),
        st.integers(1, 12),
        st.integers(1, 12),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=40, database=None)
@given(steps=mutations, rest=st.booleans())
def test_whatever_is_done_to_the_files_a_store_with_an_index_answers_as_one_without(
    steps: list[tuple[str, int, int]], rest: bool, tmp_path_factory: Any
) -> None:
    folder = tmp_path_factory.mktemp("index")
    engine = Engine("files", f"files:{folder / '.tasks'}")
    warm = engine.graph()
    warm.create_many([TaskDraft(subject=f"task {index:02}") for index in range(1, 41)])
    for path in engine.path.glob("task_*.json"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    if rest:
        settle(engine.path)
    engine.graph().find()
    for what, number, other in steps:
        mutate(engine.path, what, number, other)
        expected = without_index(engine, folder)
        assert engine.graph().find(ALL) == expected, "a new process"
        assert warm.find(ALL) == expected, "one that was there all along"


def mutate(folder: Path, what: str, number: int, other: int) -> None:
    """One thing that people and tools do to files, at a time that does not show in the file."""
    path = folder / f"task_{number}.json"
    if what == "add":
        path.write_text(json.dumps({"id": number, "subject": f"by hand {other}"}))
    elif what == "link" and not path.exists():
        path.symlink_to(f"task_{other}.json")
    elif path.exists():
        mutate_existing(path, what, folder / f"task_{other}.json")
    if path.is_file() and not path.is_symlink():
        os.utime(path, LONG_AGO)


LONG_AGO = (1_700_000_000, 1_700_000_000)


def mutate_existing(path: Path, what: str, second: Path) -> None:
    text = path.read_text()
    match what:
        case "edit":
            path.write_text(text.replace('"task ', '"changed task '))
        case "same size":
            path.write_text(text.replace('"task ', '"TASK '))
        case "replace":
            staged = path.with_name("editor.tmp")
            staged.write_text(text.replace('"task ', '"tusk '))
            os.utime(staged, LONG_AGO)
            staged.replace(path)
        case "swap" if second.exists() and second != path:
            path.write_text(renamed(second.read_text(), path))
            second.write_text(renamed(text, second))
        case "rename over" if second.exists() and second != path:
            second.write_text(renamed(second.read_text(), path))
            second.rename(path)
        case "remove":
            path.unlink()
        case "damage":
            path.write_text(text[:-9])
        case "touch":
            path.touch()


def renamed(text: str, path: Path) -> str:
    """The text of a task under the id that the name of the file says."""
    return re.sub(r'"id": ?\d+', f'"id": {path.stem.removeprefix("task_")}', text, count=1)


# -- readers beside a writer -------------------------------------------------------------------------------


def test_readers_never_see_half_of_a_batch(files: Engine, tmp_path: Path) -> None:
    """A writer moves pairs of tasks back and forth; a reader must find both or neither moved."""
    graph = files.graph()
    graph.create_many([TaskDraft(subject="0") for _ in range(30)])
    script = """
import sys
from msgspec.structs import replace
from outlive.stores import open_stores
from outlive.testing.tasks.support import change_of
store = open_stores(sys.argv[1], durability="process").tasks
print("ready", flush=True)
def work(tx):
    for task in tx.lock(range(1, 31)).values():
        new = replace(task, subject=str(int(task.subject) + 1), revision=task.revision + 1)
        tx.put(new, change_of(new, "update"))
while True:
    store.write(work)
"""
    writer = subprocess.Popen(
        [sys.executable, "-c", script, files.url],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=worker_environment(),
    )
    assert writer.stdout is not None
    try:
        assert writer.stdout.readline() == "ready\n"
        warm = files.open()
        seen: set[str] = set()
        rounds = 0
        while rounds < 120 or len(seen) <= 3:  # a writer that gets no processor is waited for
            rounds += 1
            for store in (warm, files.open()):
                subjects = {task.subject for task in store.read(lambda tx: tx.find(ALL))}
                assert len(subjects) == 1, f"half of a change: {sorted(subjects)}"
                seen |= subjects
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()
    assert_sound(files.open())


def test_a_reader_that_is_interrupted_by_writers_again_and_again_still_sees_whole_changes(
    files: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = files.open()
    TaskGraph(writer).create_many([TaskDraft(subject="0") for _ in range(4)])
    reader = files.open()
    assert isinstance(reader, FileTaskStore)
    rounds = 0
    threads: list[threading.Thread] = []

    def count_up() -> None:
        def work(tx: Any) -> None:
            for task in tx.lock([1, 2, 3, 4]).values():
                new = task.__class__(
                    **{
                        **{name: getattr(task, name) for name in task.__struct_fields__},
                        "subject": str(int(task.subject) + 1),
                        "revision": task.revision + 1,
                    }
                )
                tx.put(new, change_of(new, "update"))

        writer.write(work)

    load, lock = reader.folder._load, reader.folder.disk.lock
    holding = False

    @contextmanager
    def noted_lock(**options: Any) -> Iterator[bool]:
        nonlocal holding
        with lock(**options) as mine:
            holding = True
            yield mine
        holding = False

    def interrupted(name: str) -> None:
        """In the midst of a scan, another writes all four. A reader that holds the lock is not interrupted."""
        nonlocal rounds
        load(name)
        if name == "task_2.json" and rounds < 8:
            rounds += 1
            threads.append(threading.Thread(target=count_up, daemon=True))
            threads[-1].start()
            if not holding:
                threads[-1].join()

    monkeypatch.setattr(reader.folder.disk, "lock", noted_lock)
    monkeypatch.setattr(reader.folder, "_load", interrupted)
    subjects = {task.subject for task in reader.read(lambda tx: tx.find(ALL))}
    for thread in threads:
        thread.join()
    assert rounds > 1
    assert len(subjects) == 1, f"half of a change: {sorted(subjects)}"


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("others", [[], ["five"]], ids=["one file", "a journal"])
def test_a_look_just_before_a_commit_does_not_hide_it(
    files: Engine, monkeypatch: pytest.MonkeyPatch, warm: bool, others: list[str]
) -> None:
    writer, reader = files.open(), files.graph()
    assert isinstance(writer, FileTaskStore)
    reader.create("one")
    commit = writer.folder.disk.commit

    def looked_at(staged: Path, target: Path, **options: Any) -> None:
        if staged.name.startswith("staged."):
            if not warm:
                reader.store.close()
            reader.get(1)
        commit(staged, target, **options)

    monkeypatch.setattr(writer.folder.disk, "commit", looked_at)
    drafts = [TaskDraft(subject=subject, blocked_by=(1,)) for subject in ["two", *others]]
    made = [task.id for task in TaskGraph(writer).create_many(drafts)]
    assert [task.id for task in reader.complete(1).unblocked] == made
    assert_files_tell_the_truth(files.path)


# -- the audit trail ---------------------------------------------------------------------------------------


def history_file(engine: Engine) -> Path:
    return engine.path / "history.jsonl"


def test_a_torn_last_line_of_the_trail_touches_nothing_else(graph: TaskGraph, files: Engine) -> None:
    with history_file(files).open("ab") as trail:
        trail.write(b'{"changes":[{"id":"torn","at":"2030')
    before = len(graph.history())
    assert before == len(files.graph().history()) == 3
    graph.create("next")
    assert len(graph.history()) == len(files.graph().history()) == 4
    (problem,) = graph.doctor()
    assert problem.where == f"{history_file(files)}:4"
    assert problem.harmless


def test_a_line_whose_change_never_happened_is_not_in_the_trail(graph: TaskGraph, files: Engine) -> None:
    """A writer died between its line and its commit."""
    ghost = Task(id=2, subject="ghost", created_at=datetime.now(UTC), updated_at=datetime.now(UTC), revision=2)
    form = change_json(ghost)
    with history_file(files).open("a") as trail:
        trail.write(json.dumps({"changes": [form]}) + "\n")
    (files.path / f".local/staged.{form['id']}").write_bytes(encode_task(ghost))
    fresh, warm = files.graph(), graph
    assert [change.op for change in fresh.history(2)] == ["create"]
    assert [change.op for change in warm.history(2)] == ["create"]
    # The reader above has seen the line; when it writes, the line must become void all the same.
    warm.update(2, subject="zwei")
    for each in (warm, fresh, files.graph()):
        assert [change.op for change in each.history(2)] == ["create", "update"]
    assert '"void"' in history_file(files).read_text()
    assert_sound(graph.store)


def change_json(task: Task) -> dict[str, Any]:
    change = change_of(task, "ghost")
    form: dict[str, Any] = {name: getattr(change, name) for name in change.__struct_fields__}
    form["at"] = form["at"].isoformat()
    return form


def test_a_commit_that_fails_leaves_no_line_in_the_trail(
    graph: TaskGraph, files: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = history_file(files).read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    assert isinstance(graph.store, FileTaskStore)
    with monkeypatch.context() as patch:
        patch.setattr(graph.store.folder.disk, "commit", full)
        with pytest.raises(StoreUnavailable, match="the disk is full"):
            graph.update(1, subject="changed")
    assert history_file(files).read_bytes() == before
    assert graph.get(1).subject == files.graph().get(1).subject == "one"
    assert graph.update(2, subject="changed").subject == "changed"


def test_a_lost_trail_is_no_reason_to_lose_tasks(graph: TaskGraph, files: Engine) -> None:
    history_file(files).unlink()
    assert graph.get(3).blocked_by == (1, 2)
    graph.complete(1)
    assert [change.op for change in graph.history()] == ["complete"]
    assert files.graph().get(1).status == "completed"


def test_a_trail_merged_by_git_is_read_without_doubling(graph: TaskGraph, files: Engine) -> None:
    lines = history_file(files).read_text()
    history_file(files).write_text(lines + lines)
    assert len(graph.history()) == 3


def test_a_garbage_line_in_the_trail_is_reported_and_passed_over(graph: TaskGraph, files: Engine) -> None:
    lines = history_file(files).read_bytes().split(b"\n")
    history_file(files).write_bytes(b"\n".join([lines[0], b"\xff\x00garbage", *lines[1:]]))
    assert len(graph.history()) == 3
    assert [problem.where for problem in graph.doctor()] == [f"{history_file(files)}:2"]


# -- ids ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [None, b"", b"garbage\n", b"\xff\xff", b"-5\n"])
def test_ids_are_not_reused_when_the_high_water_mark_is_lost(
    content: bytes | None, graph: TaskGraph, files: Engine
) -> None:
    graph.delete(graph.create("four").id)
    five = graph.create("five").id
    graph.complete(five)
    graph.archive()
    mark = files.path / ".local/high-water"
    mark.unlink() if content is None else mark.write_bytes(content)
    assert files.graph().create("next").id == 6


@pytest.mark.parametrize("mark", [0, 1, 4])
def test_ids_are_not_reused_when_the_high_water_mark_is_too_low(files: Engine, mark: int) -> None:
    graph = files.graph()
    for number in range(1, 7):
        graph.create(f"task {number}")
    for number in range(3, 7):
        graph.delete(number)
    (files.path / ".local/high-water").write_text(f"{mark}\n")
    for opened in (graph, files.graph()):
        made = opened.create("next").id
        assert made > 6
        opened.delete(made)


def test_ids_are_not_reused_when_everything_local_is_lost(graph: TaskGraph, files: Engine) -> None:
    graph.delete(graph.create("four").id)
    shutil.rmtree(files.path / ".local")
    assert files.graph().create("next").id == 5
    assert graph.get(5).subject == "next"


# -- locks and journals ------------------------------------------------------------------------------------


def test_a_lock_left_behind_by_a_killed_process_is_nobodys(graph: TaskGraph, files: Engine) -> None:
    script = """
import os, sys
from outlive.stores import open_stores
def work(tx):
    print("holding", flush=True)
    sys.stdin.readline()
open_stores(sys.argv[1]).tasks.write(work)
"""
    holder = subprocess.Popen(
        [sys.executable, "-c", script, files.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == "holding\n"
    holder.kill()
    holder.wait()
    holder.stdin.close()
    holder.stdout.close()
    assert graph.create("next").id == 4


def test_a_journal_that_cannot_be_read_is_named_and_stops_writers_only(graph: TaskGraph, files: Engine) -> None:
    journal = files.path / ".local/journal"
    journal.write_bytes(b"garbage")
    for each in (graph, files.graph()):
        assert len(each.find()) == 3
        assert str(journal) in each.store.left_out()[0]
        with pytest.raises(DamagedRecord, match=r"\.local/journal"):
            each.create("x")
        assert any(problem.where == str(journal) for problem in each.store.check())
    assert "damaged/journal" in graph.store.repair()[0]
    assert (files.path / "damaged/journal").read_bytes() == b"garbage"
    assert graph.create("x").id == 4


def test_a_journal_is_carried_out_although_the_archive_was_removed(graph: TaskGraph, files: Engine) -> None:
    graph.complete(1)
    hot, archive = file(files, 1), files.path / "archive"
    before = hot.read_bytes()
    graph.archive()
    archived = (archive / hot.name).read_bytes()
    shutil.rmtree(archive)
    hot.write_bytes(before)
    journal = msgspec.msgpack.encode({"files": {f"archive/{hot.name}": archived, hot.name: None}})
    (files.path / ".local/journal").write_bytes(journal)
    files.graph().create("next")
    assert (archive / hot.name).read_bytes() == archived
    assert archive.stat().st_mode & 0o777 == 0o700
    assert not hot.exists()


def test_a_file_where_the_folder_should_be_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / ".tasks").write_text("not a folder")
    graph = TaskGraph(FileTaskStore(tmp_path / ".tasks"))
    for act in (graph.find, lambda: graph.create("x"), graph.doctor, graph.store.repair):
        with pytest.raises(StoreUnavailable, match=r"\.tasks: "):
            act()
    assert (tmp_path / ".tasks").read_text() == "not a folder"


def test_leases_survive_in_the_file(graph: TaskGraph, files: Engine) -> None:
    graph.claim(1, owner="ann", ttl=timedelta(hours=1))
    form = json.loads(file(files, 1).read_text())
    assert form["lease"]["owner"] == "ann"
    assert files.graph().get(1) == graph.get(1)


def test_stores_of_one_folder_in_one_process_do_not_disturb_each_other(files: Engine) -> None:
    stores: list[TaskStore] = [files.open() for _ in range(3)]
    graphs = [TaskGraph(store) for store in stores]
    for round_ in range(10):
        graphs[round_ % 3].create(f"task {round_}", blocked_by=[round_] if round_ else [])
    assert {tuple(task.id for task in graph.find()) for graph in graphs} == {tuple(range(1, 11))}
    for graph in graphs:
        assert_sound(graph.store)
    assert_files_tell_the_truth(files.path)
