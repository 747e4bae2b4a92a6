"""What is kept between processes, and what becomes of it when it is damaged."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from outlive.memory.retrieval import Retriever
from outlive.memory.retrieval.retriever import INDEX
from tests.engines import worker_environment
from tests.memory.retrieval.entries import MEMORIES, entry, found

WORKER = """
import sys
from pathlib import Path
from outlive.memory.retrieval import Entry, Retriever
cache, mark = Path(sys.argv[1]), sys.argv[2]
for round in range(15):
    retriever = Retriever(dense=False, cache=cache)
    retriever.update([Entry(f"{mark}{n}", "", "", f"{mark} entry {n} of {round}") for n in range(round, 60)])
    assert len(Retriever(dense=False, cache=cache).search("entry", 60)) >= 40
"""


def kept(cache: Path) -> Retriever:
    retriever = Retriever(dense=False, cache=cache)
    retriever.update(MEMORIES)
    return retriever


def test_a_new_process_answers_from_the_cache_alone(tmp_path: Path) -> None:
    before = kept(tmp_path).search("deploy to production")
    assert before
    assert Retriever(dense=False, cache=tmp_path).search("deploy to production") == before


def test_an_update_with_the_same_entries_writes_nothing(tmp_path: Path) -> None:
    kept(tmp_path)
    inode = (tmp_path / INDEX).stat().st_ino
    kept(tmp_path)
    assert (tmp_path / INDEX).stat().st_ino == inode


def test_an_addition_is_kept_when_it_is_saved(tmp_path: Path) -> None:
    retriever = kept(tmp_path)
    retriever.add(entry("zoo", "The zebra is striped."))
    assert found(Retriever(dense=False, cache=tmp_path), "zebra") == []
    retriever.save()
    assert found(Retriever(dense=False, cache=tmp_path), "zebra") == ["zoo"]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda raw: b"",
    "cut short": lambda raw: raw[: len(raw) // 2],
    "one bit": lambda raw: raw[:-50] + bytes([raw[-50] ^ 1]) + raw[-49:],
    "longer": lambda raw: raw + b"x",
    "another version": lambda raw: raw.replace(b"outlive index 1", b"outlive index 9"),
    "something else": lambda raw: b"SQLite format 3\x00" + bytes(5000),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_or_foreign_cache_is_ignored_and_made_again(tmp_path: Path, damage: str) -> None:
    before = kept(tmp_path).search("deploy to production")
    path = tmp_path / INDEX
    good = path.read_bytes()
    path.write_bytes(DAMAGE[damage](good))
    assert Retriever(dense=False, cache=tmp_path).search("deploy to production") == []
    assert kept(tmp_path).search("deploy to production") == before
    assert path.read_bytes() == good


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("mine")
    assert found(kept(in_the_way), "deploy to production", 1) == ["deploys"]
    assert in_the_way.read_text() == "mine"


def test_text_that_no_file_can_hold_is_found_and_not_kept(tmp_path: Path) -> None:
    retriever = Retriever(dense=False, cache=tmp_path)
    retriever.update([entry("lone \ud800", "half a pair")])
    assert found(retriever, "pair") == ["lone \ud800"]
    assert list(tmp_path.iterdir()) == []


def test_two_processes_never_see_half_an_index(tmp_path: Path) -> None:
    environment = worker_environment()
    workers = [
        subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path), mark], env=environment) for mark in ("a", "b")
    ]
    assert [worker.wait() for worker in workers] == [0, 0]
    assert [path.name for path in tmp_path.iterdir()] == [INDEX]
