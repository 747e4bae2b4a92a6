"""The remembered answer to `ready` is given only while it is the answer."""

import json
import os
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from outlive.stores.tasks.files import answer
from outlive.stores.tasks.files.quick import ready_json
from outlive.stores.tasks.records import task_to_json
from outlive.tasks.draft import TaskDraft
from outlive.tasks.graph import TaskGraph
from tests.engines import Engine

SIZE = answer.WORTHWHILE + 50


@pytest.fixture
def graph(files: Engine) -> TaskGraph:
    """Enough tasks to be worth remembering; every other one waits for the one before it."""
    graph = files.graph()
    graph.create_many(
        TaskDraft(key=str(n), subject=f"task {n}", blocked_by=(str(n - 1),) if n % 2 == 0 else ())
        for n in range(1, SIZE + 1)
    )
    graph.complete(1)
    graph.archive()
    remembered(files)
    return graph


def asked(files: Engine) -> list[int] | None:
    raw = ready_json(files.url, Path("/"), None)
    return None if raw is None else [form["id"] for form in json.loads(raw)]


def truth(files: Engine) -> list[int]:
    return files.open().read(lambda tx: [task_to_json(task)["id"] for task in tx.ready()])


def remembered(files: Engine) -> bytes:
    """Ask until the files are old enough for their state to be trusted."""
    while (kept := answer.recall(str(files.path))) is None:
        asked(files)
    return kept


def test_an_answer_is_remembered_and_is_the_answer(graph: TaskGraph, files: Engine) -> None:
    assert [form["id"] for form in json.loads(remembered(files))] == truth(files)
    assert asked(files) == truth(files)


def replace_in(path: Path, old: str, new: str) -> int:
    text = path.read_text()
    assert old in text
    return path.write_text(text.replace(old, new))


CHANGES: dict[str, Callable[[TaskGraph, Path], object]] = {
    "a change by outlive": lambda graph, path: graph.complete(3),
    "a change of several files": lambda graph, path: graph.update(3, add_blocks=[5]),
    "an edit in place of the same size": lambda graph, path: replace_in(
        path / "task_3.json", '"priority": 2', '"priority": 4'
    ),
    "a file dropped in": lambda graph, path: (path / "task_9000.json").write_text('{"id": 9000, "subject": "x"}'),
    "a file removed": lambda graph, path: (path / "task_3.json").unlink(),
    "two files swapped": lambda graph, path: (
        replace_in(path / "task_3.json", '"status": "pending"', '"status": "cancelled"'),
        replace_in(path / "task_5.json", '"priority": 2', '"priority": 0'),
    ),
    "an archived dependency edited": lambda graph, path: replace_in(
        path / "archive/task_1.json", '"completed"', '"pending"'
    ),
    "an archived dependency removed": lambda graph, path: (path / "archive/task_1.json").unlink(),
    "an old file put back with its old times": lambda graph, path: (
        shutil.copy2(path / "task_3.json", path / "kept"),
        replace_in(path / "task_3.json", '"priority": 2', '"priority": 4'),
        (path / "kept").rename(path / "task_3.json"),
        replace_in(path / "task_5.json", '"priority": 2', '"priority": 4'),
    ),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_after_any_change_the_answer_is_the_new_one(graph: TaskGraph, files: Engine, kind: str) -> None:
    CHANGES[kind](graph, files.path)
    assert answer.recall(str(files.path)) is None
    assert asked(files) == truth(files)


def test_a_lease_that_runs_out_ends_the_answer(graph: TaskGraph, files: Engine) -> None:
    graph.claim(3, owner="ann", ttl=timedelta(hours=1))
    held = remembered(files)
    head, _, body = (files.path / ".local/ready").read_bytes().partition(b"\n")
    magic, history, seen, until, *rest = head.split(b" ")
    assert float(until) > 0
    (files.path / ".local/ready").write_bytes(b" ".join([magic, history, seen, b"1.0", *rest]) + b"\n" + body)
    assert held
    assert answer.recall(str(files.path)) is None


@pytest.mark.parametrize(
    "harm",
    [lambda raw: raw[:-5], lambda raw: raw[:200], lambda raw: b"", lambda raw: raw.replace(b"task 3", b"task X")],
)
def test_a_damaged_answer_is_not_given(graph: TaskGraph, files: Engine, harm: Callable[[bytes], bytes]) -> None:
    path = files.path / ".local/ready"
    path.write_bytes(harm(path.read_bytes()))
    assert answer.recall(str(files.path)) is None
    assert asked(files) == truth(files)


def test_an_answer_copied_with_its_folder_or_planted_is_not_given(
    graph: TaskGraph, files: Engine, tmp_path: Path
) -> None:
    shutil.copytree(files.path, tmp_path / "copy")
    assert answer.recall(str(tmp_path / "copy")) is None
    empty = tmp_path / "empty"
    (empty / ".local").mkdir(parents=True)
    answer.remember(str(empty), b'[{"id": 666}]', [], [], float("inf"))
    assert answer.recall(str(empty)) is None


def test_nothing_is_answered_from_memory_while_a_change_is_under_way(graph: TaskGraph, files: Engine) -> None:
    (files.path / ".local/journal").write_bytes(b"")
    assert answer.recall(str(files.path)) is None


def test_an_answer_is_not_written_through_a_link(graph: TaskGraph, files: Engine, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    (files.path / f".local/ready.{os.getpid()}").symlink_to(outside)
    graph.complete(3)
    asked(files)
    assert outside.read_text() == "precious"
