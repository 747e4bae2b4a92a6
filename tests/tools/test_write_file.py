"""Writing whole files: atomic, only over what was read, never outside."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from outlive.tools.files.atomic_edit import sweep
from outlive.tools.permissions.fence import Fence
from tests.tools.workbench import Workbench


def test_a_new_file_is_made_with_its_folders(bench: Workbench) -> None:
    outcome = bench.call("write_file", path="a/b/c.txt", content="one\ntwo\n")
    assert (bench.root / "a/b/c.txt").read_text() == "one\ntwo\n"
    assert outcome.text == "created a/b/c.txt: 2 lines, 8 bytes"
    assert outcome.shown == "--- a/b/c.txt\n+++ a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two"


def test_a_file_that_was_not_read_is_not_replaced(bench: Workbench) -> None:
    bench.write("a.txt", "precious\n")
    assert "have not read it" in bench.refused("write_file", path="a.txt", content="new\n")
    assert (bench.root / "a.txt").read_text() == "precious\n"


def test_a_file_that_was_read_is_replaced_and_the_change_shown(bench: Workbench) -> None:
    path = bench.write("a.sh", "one\ntwo\nthree\n")
    path.chmod(0o751)
    bench.call("read_file", path="a.sh")
    outcome = bench.call("write_file", path="a.sh", content="one\n2\nthree\n")
    assert path.read_text() == "one\n2\nthree\n"
    assert path.stat().st_mode & 0o777 == 0o751
    assert outcome.text == "replaced a.sh: 3 lines, 12 bytes, +1 −1"
    assert outcome.shown == "--- a.sh\n+++ a.sh\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"
    assert bench.gate.previews[-1] == outcome.shown
    bench.call("write_file", path="a.sh", content="again\n")


def test_a_file_that_changed_since_it_was_read_is_not_replaced(bench: Workbench) -> None:
    path = bench.write("a.txt", "one\n")
    bench.call("read_file", path="a.txt")
    path.write_text("somebody else's\n")
    text = bench.refused("write_file", path="a.txt", content="mine\n")
    assert "changed on disk since you read it" in text
    assert "read_file" in text
    assert path.read_text() == "somebody else's\n"
    bench.call("read_file", path="a.txt")
    bench.call("write_file", path="a.txt", content="mine\n")


def test_a_file_that_was_only_touched_is_the_same_file(bench: Workbench) -> None:
    path = bench.write("a.txt", "one\n")
    bench.call("read_file", path="a.txt")
    os.utime(path, (1, 1))
    bench.call("write_file", path="a.txt", content="two\n")


def test_what_an_earlier_life_had_seen_counts(bench: Workbench) -> None:
    from hashlib import sha256

    path = bench.write("a.txt", "one\n")
    bench.context.read_tracker.restore(path, sha256(b"one\n").hexdigest())
    bench.call("write_file", path="a.txt", content="two\n")
    other = bench.write("b.txt", "changed\n")
    bench.context.read_tracker.restore(other, sha256(b"as it was\n").hexdigest())
    assert "changed on disk" in bench.refused("write_file", path="b.txt", content="two\n")


def test_the_same_content_is_no_change(bench: Workbench) -> None:
    path = bench.write("a.txt", "same\n")
    before = path.stat().st_ino
    assert "already" in bench.call("write_file", path="a.txt", content="same\n").text
    assert path.stat().st_ino == before


def test_a_link_inside_is_followed_and_stays_a_link(bench: Workbench) -> None:
    bench.write("real.txt", "one\n")
    (bench.root / "link.txt").symlink_to("real.txt")
    bench.call("read_file", path="link.txt")
    bench.call("write_file", path="link.txt", content="two\n")
    assert (bench.root / "link.txt").is_symlink()
    assert (bench.root / "real.txt").read_text() == "two\n"


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("../out.txt", "outside"),
        ("/tmp/out.txt", "outside"),
        ("away/out.txt", "outside"),
        ("dangling", "outside"),
        ("folder", "is a folder"),
        ("folder/", "folder"),
        ("new/", "folder"),
        ("fifo", "named pipe"),
        ("a\0b", "NUL"),
        ("", "empty"),
        (".git/hooks/pre-commit", "git"),
        (".transcripts/s.jsonl", "outlive"),
        ("file/below", ""),
    ],
)
def test_where_nothing_may_be_written_nothing_is(bench: Workbench, path: str, word: str, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (bench.root / "away").symlink_to(away)
    (bench.root / "dangling").symlink_to(tmp_path / "not-there")
    (bench.root / "folder").mkdir()
    bench.write("file", "x")
    os.mkfifo(bench.root / "fifo")
    log = (bench.root / ".transcripts/s.jsonl").read_bytes()
    assert word in bench.refused("write_file", path=path, content="x")
    assert list(away.iterdir()) == []
    assert not (tmp_path / "not-there").exists()
    assert not (tmp_path / "out.txt").exists()
    assert (bench.root / ".transcripts/s.jsonl").read_bytes() == log
    assert not list(bench.root.rglob("*.tmp"))


def test_half_a_character_is_refused_and_nothing_is_written(bench: Workbench) -> None:
    assert "half of a character" in bench.refused("write_file", path="a.txt", content="x\ud800")
    assert not (bench.root / "a.txt").exists()


def test_a_folder_that_cannot_be_written_is_said_and_leaves_nothing(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bench.write("a.txt", "old\n")
    bench.call("read_file", path="a.txt")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "No space left" in bench.refused("write_file", path="a.txt", content="new\n")
    assert path.read_text() == "old\n"
    assert not list(bench.root.rglob("*.tmp"))


def test_a_change_between_the_look_and_the_rename_is_noticed(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bench.write("a.txt", "old\n")
    bench.call("read_file", path="a.txt")
    real = os.fsync

    def meanwhile(descriptor: int) -> None:
        path.write_text("by another\n")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", meanwhile)
    assert "another process" in bench.refused("write_file", path="a.txt", content="new\n")
    assert path.read_text() == "by another\n"


def test_a_large_change_is_shown_in_part(bench: Workbench) -> None:
    bench.write("a.txt", "".join(f"{n}\n" for n in range(20_000)))
    bench.call("read_file", path="a.txt")
    outcome = bench.call("write_file", path="a.txt", content="".join(f"{n + 50_000}\n" for n in range(20_000)))
    assert "+20000 −20000" in outcome.text
    assert len(outcome.shown.split("\n")) < 420
    assert "more lines of the diff" in outcome.shown


def test_a_socket_is_no_file(bench: Workbench) -> None:
    server = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(bench.root)
    try:
        server.bind("sock")
    finally:
        os.chdir(here)
        server.close()
    assert "a socket" in bench.refused("write_file", path="sock", content="x")


def test_what_a_dead_writer_left_is_removed_and_what_a_living_one_writes_stays(bench: Workbench) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = bench.write(f"a/.outlive-{dead.pid}-0123456789ab.tmp", "half")
    living = bench.write(f"a/.outlive-{os.getpid()}-0123456789ab.tmp", "half")
    other = bench.write("a/.outlive-notes.tmp", "mine")
    sweep(Fence(bench.root), "a/b.txt")
    sweep(Fence(bench.root), "nowhere/b.txt")
    sweep(Fence(bench.root), "../b.txt")
    assert not left.exists()
    assert living.exists()
    assert other.exists()
