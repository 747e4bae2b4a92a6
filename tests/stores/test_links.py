"""A folder from elsewhere must not make us read or write elsewhere."""

from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from outlive.errors import OutliveError
from tests.engines import Engine


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside"
    path.write_text("precious")
    return path


@pytest.mark.parametrize(
    "name", ["history.jsonl", ".local/scratch", ".local/lock", ".local/high-water", ".gitignore"]
)
def test_a_link_in_the_folder_is_never_written_through(
    files: Engine, tmp_path: Path, outside: Path, name: str
) -> None:
    link = tmp_path / ".tasks" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    graph = files.graph()
    with suppress(OutliveError):  # some are replaced as a whole, some are refused
        graph.create("a")
        graph.complete(1)
    assert outside.read_text() == "precious"


@pytest.mark.parametrize("name", [".local", "archive", "damaged"])
def test_a_linked_folder_is_refused_by_name(files: Engine, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / ".tasks").mkdir()
    (tmp_path / ".tasks" / name).symlink_to(elsewhere)
    with pytest.raises(OutliveError, match=name):
        files.graph().create("a")
    assert list(elsewhere.iterdir()) == []


def test_a_linked_task_file_is_neither_read_nor_written_through(files: Engine, tmp_path: Path, outside: Path) -> None:
    outside.write_text('{"id": 1, "subject": "planted", "status": "pending"}')
    (tmp_path / ".tasks").mkdir()
    (tmp_path / ".tasks" / "task_1.json").symlink_to(outside)
    graph = files.graph()
    assert graph.find() == []
    assert graph.create("mine").id == 2
    with pytest.raises(OutliveError, match="not a regular file"):
        graph.update(1, subject="changed")
    assert "planted" in outside.read_text()


def test_a_task_file_that_is_a_link_to_nowhere_is_named(files: Engine) -> None:
    graph = files.graph()
    graph.create("a")
    (files.path / "task_2.json").symlink_to("nowhere")
    assert [task.id for task in graph.find()] == [1]
    assert "task_2.json" in graph.store.left_out()[0]


@pytest.mark.parametrize(
    "name", ["../escaped.json", "/tmp/escaped.json", "archive/../../escaped.json", "history.jsonl"]
)
def test_a_planted_journal_cannot_write_anything_but_task_files(files: Engine, tmp_path: Path, name: str) -> None:
    local = tmp_path / ".tasks" / ".local"
    local.mkdir(parents=True)
    (local / "journal").write_bytes(msgspec.msgpack.encode({"files": {name: b"evil"}}))
    with pytest.raises(OutliveError, match="not a record"):
        files.graph().create("a")
    assert files.graph().find() == []
    store = files.open()
    store.read(lambda tx: tx.ready())
    assert "journal" in store.left_out()[0]
    assert [problem.repairable for problem in files.graph().doctor()] == [True]
    files.open().repair()
    assert (tmp_path / ".tasks" / "damaged" / "journal").exists()
    assert files.graph().create("a").id == 1
    assert not (tmp_path / "escaped.json").exists()
