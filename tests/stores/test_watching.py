"""The kernel tells which files were touched; where it cannot, or no longer, that is said."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from outlive.stores.tasks.files import watching
from outlive.stores.tasks.files.watching import FolderWatch, watch
from tests.engines import worker_environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has it")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    (made / "archive").mkdir(parents=True)
    (made / "one.md").write_text("one")
    return made


@pytest.fixture
def watched(folder: Path) -> FolderWatch:
    found = watch(folder, "archive", "not there")
    if found is None:
        pytest.skip("there is no watch on this file system")
    return found


def test_every_way_to_touch_a_file_is_told_once(folder: Path, watched: FolderWatch) -> None:
    assert watched.touched() == set()
    (folder / "one.md").write_text("changed in its place")
    assert watched.touched() == {"one.md"}
    assert watched.touched() == set()
    (folder / "two.md").write_text("new")
    (folder / "two.md").rename(folder / "archive" / "two.md")
    assert watched.touched() == {"two.md", "archive/two.md"}
    os.utime(folder / "one.md")
    (folder / "archive" / "two.md").unlink()
    assert watched.touched() == {"one.md", "archive/two.md"}


def test_reading_touches_nothing(folder: Path, watched: FolderWatch) -> None:
    (folder / "one.md").read_text()
    os.listdir(folder)
    assert watched.touched() == set()


@pytest.mark.parametrize("name", ["not there", "new"])
def test_a_folder_that_comes_ends_the_watch(folder: Path, watched: FolderWatch, name: str) -> None:
    (folder / name).mkdir()
    assert watched.touched() is None
    assert watched.touched() is None


def test_another_folder_in_its_place_ends_the_watch(folder: Path, watched: FolderWatch, tmp_path: Path) -> None:
    folder.rename(tmp_path / "moved")
    folder.mkdir()
    assert watched.touched() is None


def test_a_folder_that_goes_ends_the_watch(folder: Path, watched: FolderWatch) -> None:
    (folder / "archive").rmdir()
    assert watched.touched() is None


def test_too_much_to_tell_ends_the_watch(folder: Path, watched: FolderWatch) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if most > 50_000:
        pytest.skip("it takes too many")
    for number in range(most // 2 + 1):  # what is told twice in a row is told once
        os.utime(folder / "one.md", (number, number))
        os.utime(folder, (number, number))
    assert watched.touched() is None


FORKED = """
import os, sys
from pathlib import Path
from outlive.stores.tasks.files.watching import watch

folder = Path(sys.argv[1])
watched = watch(folder)
(folder / "one.md").write_text("changed")
if (child := os.fork()) == 0:
    os._exit(0 if watched.touched() is None else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert watched.touched() == {"one.md"}
"""


@pytest.mark.usefixtures("watched")
def test_a_child_does_not_take_what_is_told_to_its_parent(folder: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", FORKED, str(folder)], capture_output=True, text=True, env=worker_environment()
    )
    assert run.returncode == 0, run.stderr


def test_what_is_not_used_any_more_is_closed(folder: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        watch(folder)
    assert len(os.listdir("/proc/self/fd")) == before


def test_there_is_none_where_others_could_write_past_the_kernel(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_SOUND", frozenset(("nfs",)))
    assert watch(folder) is None
    monkeypatch.undo()
    assert watch(folder / "nothing") is None
