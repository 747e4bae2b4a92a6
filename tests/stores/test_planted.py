"""Whatever lies under the name of a file of ours: every command ends, names it, and loses nothing."""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from outlive.cli.app import cli
from outlive.errors import OutliveError, StoreUnavailable
from outlive.events import UserSaid
from outlive.memory.retrieval import retriever
from outlive.messages import Text
from outlive.regular import MIB, UnusableFile, open_regular, open_to_read, read_named, read_regular
from outlive.stores import open_stores
from outlive.stores.memories import files
from outlive.tasks.graph import TaskGraph
from tests.planted import PLANTS, endless, ends, fifo, huge, link, nested, plant, untouched

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a folder of one's own, with two tasks and two memories in it."""
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("OUTLIVE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "home"


def outlive(*words: str) -> tuple[int, str]:
    """The exit code and everything that a command says."""
    with ends():
        result = CliRunner().invoke(cli, list(words))
    error = result.exception
    if error is None or isinstance(error, SystemExit):
        return result.exit_code, result.output
    assert isinstance(error, OutliveError), repr(error)
    return 1, f"{result.output}{error}"


class Said:
    """What several commands said, and that each of them ended as commands do."""

    def __init__(self, *commands: str) -> None:
        self.by_command = {line: outlive(*line.split()) for line in commands}

    def __contains__(self, text: str) -> bool:
        return any(text in said for _, said in self.by_command.values())


# -- one way to open them --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PLANTS)
def test_what_is_not_a_regular_file_of_a_sound_size_is_refused_by_name(
    kind: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "planted"
    kind(path)
    for read in (lambda: read_regular(path, 2**20), lambda: open_to_read(path, 2**20)):
        with ends(), pytest.raises(UnusableFile, match=rf"^{path}: is .*; move it aside$"):
            read()


@pytest.mark.parametrize("kind", [kind for kind in PLANTS if kind is not huge])
@pytest.mark.parametrize("flags", [os.O_WRONLY | os.O_CREAT | os.O_TRUNC, os.O_RDWR | os.O_APPEND | os.O_CREAT])
def test_nothing_is_written_through_what_is_not_a_regular_file(
    kind: Callable[[Path], None], flags: int, tmp_path: Path
) -> None:
    path = tmp_path / "planted"
    kind(path)
    with ends(), pytest.raises(UnusableFile, match="not a regular file"):
        open_regular(path, flags)
    assert untouched(path)


def test_a_file_that_is_replaced_by_a_pipe_meanwhile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    real = os.open

    def swapped(name: Path, *rest: int, **options: int) -> int:
        path.unlink()
        os.mkfifo(path)
        return real(name, *rest, **options)

    monkeypatch.setattr(os, "open", swapped)
    with ends(), pytest.raises(UnusableFile, match="a FIFO"):
        open_regular(path)


def test_the_users_own_link_may_be_followed_but_not_to_a_device(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("text")
    (tmp_path / "link").symlink_to("real")
    endless(tmp_path / "zero")
    assert read_regular(tmp_path / "link", 10, follow=True) == b"text"
    with pytest.raises(UnusableFile, match="a device"):
        read_regular(tmp_path / "zero", 10, follow=True)


def test_a_pipe_that_the_user_names_is_read_up_to_a_limit(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"x" * 100)
    os.close(writing)
    assert read_named(f"/dev/fd/{reading}") == b"x" * 100
    os.close(reading)
    with pytest.raises(UnusableFile, match="larger than 1 MiB"):
        read_named("/dev/zero", 2**20)


# -- tasks -------------------------------------------------------------------------------------------------

TASK_FILES = (
    *("task_2.json", "archive/task_1.json", "history.jsonl", ".gitignore", ".local/lock", ".local/high-water"),
    *(".local/journal", ".local/journal.done", ".local/index", ".local/ready", ".local/scratch"),
)
HARMLESS = {".local/journal.done", ".gitignore"}
"""Never read, so that there is nothing to say."""


def some_tasks(*, archived: bool) -> TaskGraph:
    graph = TaskGraph(open_stores().tasks, actor="tester")
    for subject in ("one", "two", "three"):
        graph.create(subject)
    if archived:
        graph.complete(1)
        graph.archive()
    return graph


@pytest.mark.parametrize("kind", [*PLANTS, nested])
@pytest.mark.parametrize("name", TASK_FILES)
def test_a_planted_task_file_is_contained(name: str, kind: Callable[[Path], None]) -> None:
    some_tasks(archived=name.startswith("archive/")).store.close()
    path = Path.cwd() / ".tasks" / name
    plant(kind, path)

    said = Said("task list", "task ready --json", "task history 3", "task doctor", "task get 2", "task create new")
    with ends(), suppress(OutliveError):
        open_stores().tasks.read(lambda tx: tx.ready())
    assert said.by_command["task list"][0] == 0
    assert "three" in said.by_command["task list"][1]
    whole_of_it = kind is huge and name in {".local/lock", ".local/scratch", ".local/high-water"}
    if name not in HARMLESS and not whole_of_it:
        assert path.name in said or not os.path.lexists(path) or path.is_file(), said.by_command
    assert untouched(path)

    if name == ".local/lock" and kind not in (huge, nested):
        assert str(path) in said.by_command["task create new"][1]
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    repaired = outlive("task", "doctor", "--repair")[1]
    code, created = outlive("task", "create", "after")
    assert code == 0, (repaired, created)
    assert "three" in outlive("task", "list")[1]
    assert untouched(path)


@pytest.mark.parametrize("kind", PLANTS)
def test_repair_sets_a_planted_audit_trail_apart_and_keeps_it(kind: Callable[[Path], None]) -> None:
    some_tasks(archived=False).store.close()
    path = Path.cwd() / ".tasks/history.jsonl"
    plant(kind, path)
    before = path.lstat().st_ino
    code, said = outlive("task", "doctor")
    assert code == 1
    assert str(path) in said
    assert "set history.jsonl apart as damaged/history.jsonl" in outlive("task", "doctor", "--repair")[1]
    assert (Path.cwd() / ".tasks/damaged/history.jsonl").lstat().st_ino == before
    assert outlive("task", "create", "next") == (0, "created ○ 4 next\n")


@pytest.mark.parametrize("kind", [fifo, endless, link, huge])
def test_a_folder_of_tasks_to_import_may_hold_anything(kind: Callable[[Path], None], tmp_path: Path) -> None:
    plant(kind, tmp_path / "theirs" / "a.json")
    code, said = outlive("task", "import", str(tmp_path / "theirs"))
    assert code == 1
    assert "a.json" in said
    assert "Nothing was imported" in said


@pytest.mark.parametrize("ending", ["", "-wal", "-journal"])
@pytest.mark.parametrize("kind", [kind for kind in PLANTS if kind is not huge])
def test_a_database_that_is_not_a_regular_file_is_refused(ending: str, kind: Callable[[Path], None]) -> None:
    store = ("--store", "sqlite:///tasks.db")
    if ending:
        assert outlive("task", "create", "one", *store)[0] == 0
    path = Path.cwd() / f"tasks.db{ending}"
    plant(kind, path)
    for words in (("task", "create", "lost"), ("task", "list"), ("memory", "list"), ("session", "list")):
        code, said = outlive(*words, *store)
        assert code == 1
        assert str(path) in said
    assert untouched(path)


# -- memories and sessions ---------------------------------------------------------------------------------

MEMORY_FILES = (
    *("two.md", "archive/two.md", "MEMORY.md", "history.jsonl", ".local/lock", ".local/journal", ".local/index"),
    *(".local/used", ".local/tokens", ".local/scratch", ".local/staged.memory"),
)


@pytest.mark.parametrize("kind", [*PLANTS, nested])
@pytest.mark.parametrize("name", MEMORY_FILES)
def test_a_planted_memory_file_is_contained(
    name: str, kind: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retriever, "missing", lambda: ["onnxruntime"])  # the model takes 400 MB and is not the point
    monkeypatch.setattr(files, "_MAX_LINE_BYTES", MIB)  # as many again
    for word in ("one", "two"):
        assert outlive("memory", "add", word, f"about {word}")[0] == 0
    path = Path.cwd() / ".memory" / name
    plant(kind, path)
    said = Said("memory list", "memory search about", "memory log", "memory doctor", "memory add three more")
    if name != ".local/journal":
        assert said.by_command["memory list"][0] == 0, said.by_command
        assert "one" in said.by_command["memory list"][1]
    assert path.name in said or not os.path.lexists(path) or path.is_file(), said.by_command
    assert untouched(path)
    if name == ".local/lock" and kind is not huge:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    repaired = outlive("memory", "doctor", "--repair")[1]
    code, added = outlive("memory", "add", "after", "all of it")
    assert code == 0, (repaired, added)
    assert "one" in outlive("memory", "list")[1]
    assert untouched(path)


@pytest.mark.parametrize("kind", PLANTS)
def test_a_planted_session_is_named_and_the_others_are_listed(kind: Callable[[Path], None]) -> None:
    store = open_stores().logs
    for name in ("good", "bad"):
        with store.create(name) as writer:
            writer.append([UserSaid(id=1, time=1.0, blocks=(Text(name),))])
    path = Path.cwd() / ".transcripts/bad.jsonl"
    plant(kind, path)
    said = Said(
        "session list", "session show bad", "session undo bad", "recall @h1 --session bad", "session show good"
    )
    code, listed = said.by_command["session list"]
    assert code == 0
    assert "good" in listed
    for line, (code, text) in said.by_command.items():
        if "bad" in line:
            assert code == 1, line
            assert "bad" in text
    if kind is not huge:
        assert "bad.jsonl" in listed
    assert untouched(path)


@pytest.mark.parametrize("kind", PLANTS)
def test_a_planted_blob_makes_way_and_is_kept(kind: Callable[[Path], None]) -> None:
    store = open_stores().logs
    digest = store.put_blob(b"text")
    (path,) = Path.cwd().glob(".task_outputs/tool-results/*.txt")
    plant(kind, path)
    with ends(), pytest.raises(OutliveError, match=path.name):
        store.get_blob(digest)
    before = path.lstat().st_ino
    with ends():
        assert store.put_blob(b"text") == digest
    assert store.get_blob(digest) == b"text"
    assert before in {found.lstat().st_ino for found in path.parent.iterdir()}
    assert untouched(path)


def test_a_planted_session_is_not_opened_for_writing(home: Path) -> None:
    store = open_stores().logs
    store.create("s").close()
    path = Path.cwd() / ".transcripts/s.jsonl"
    plant(fifo, path)
    with ends(), pytest.raises(StoreUnavailable, match=str(path)):
        store.writer("s")
