"""The quick way to log the user's words writes what the store would write, or nothing."""

import fcntl
import json
import os
from pathlib import Path

import pytest

from outlive import events
from outlive.clients.words import append_by_store
from outlive.errors import StoreUnavailable
from outlive.stores import open_stores
from outlive.stores.logs import quick
from outlive.stores.logs.files import FileLogStore
from outlive.stores.logs.quick import append_words

NOW = 1_795_018_000.25
WORDS = 'Go on.\nWith "quotes", a tab\t, ünïcode ✓ and \x7f.'
LONG = "claude-code.session-" + "x" * 200


def add(root: Path, session: str = "s", words: str = WORDS, folder: str = "/garden") -> bool:
    return append_words(root, session, words, folder=folder, now=NOW, durable=True)


def lines(root: Path) -> list[bytes]:
    (path,) = (root / ".transcripts").glob("*.jsonl")
    return path.read_bytes().splitlines()


@pytest.mark.parametrize("session", ["s", "claude-code.session-4f1c", LONG])
@pytest.mark.parametrize("folder", ["/garden", ""])
def test_the_lines_are_those_of_the_store(tmp_path: Path, session: str, folder: str) -> None:
    ways = tmp_path / "quick", tmp_path / "store"
    for words in (WORDS, "x" * 20_000):
        assert add(ways[0], session, words, folder)
        append_by_store(open_stores(base=ways[1]).logs, session, words, folder=folder, now=NOW)
    assert lines(ways[0]) == lines(ways[1])
    assert [path.name for path in (ways[0] / ".transcripts").iterdir()].count(".gitignore") == 1
    assert quick.VERSION == events.VERSION


def test_it_goes_on_after_a_torn_line(tmp_path: Path) -> None:
    assert add(tmp_path)
    path = next((tmp_path / ".transcripts").glob("*.jsonl"))
    with path.open("ab") as file:
        file.write(b'{"type": "user_queued", "id": 3, "te')
    assert add(tmp_path)
    log = FileLogStore(tmp_path).read("s")
    assert [event.id for event in log.events] == [1, 2, 3]
    assert len(log.damage) == 1


def test_nothing_is_done_while_another_process_writes_or_where_nothing_can_be_read(tmp_path: Path) -> None:
    assert add(tmp_path)
    path = next((tmp_path / ".transcripts").glob("*.jsonl"))
    before = path.read_bytes()
    descriptor = os.open(path, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert not add(tmp_path)
    os.close(descriptor)
    assert not add(tmp_path, words="\ud800")
    assert path.read_bytes() == before
    path.write_bytes(b"not an event\n")
    assert not add(tmp_path)
    assert path.read_bytes() == b"not an event\n"


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / ".transcripts").symlink_to(elsewhere)
    with pytest.raises(StoreUnavailable):
        add(tmp_path / "work")
    (tmp_path / "work" / ".transcripts").unlink()
    (tmp_path / "work" / ".transcripts").mkdir()
    (tmp_path / "work" / ".transcripts" / "s.jsonl").symlink_to(elsewhere / "bait")
    with pytest.raises(StoreUnavailable):
        add(tmp_path / "work")
    assert not list(elsewhere.iterdir())


def test_words_are_on_the_line_as_they_were_said(tmp_path: Path) -> None:
    add(tmp_path)
    assert json.loads(lines(tmp_path)[1])["text"] == WORDS
