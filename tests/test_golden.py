"""Old on-disk formats stay readable: a session written by version 1, kept forever."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from outlive.context.valid import problems
from outlive.events import Unknown, decode, encode
from outlive.session import Session
from outlive.session.recall import pages_of
from outlive.stores.files.log import OUTPUTS, TRANSCRIPTS, FileLogStore

GOLDEN = Path(__file__).parent / "golden" / "session_v1"


@pytest.fixture
def store(tmp_path: Path) -> FileLogStore:
    (tmp_path / TRANSCRIPTS).mkdir()
    (tmp_path / OUTPUTS).mkdir(parents=True)
    shutil.copy(GOLDEN / "log.jsonl", tmp_path / TRANSCRIPTS / "golden.jsonl")
    for blob in GOLDEN.glob("*.txt"):
        shutil.copy(blob, tmp_path / OUTPUTS)
    return FileLogStore(tmp_path)


def test_every_line_is_written_back_as_it_was() -> None:
    for line in (GOLDEN / "log.jsonl").read_bytes().splitlines():
        assert encode(decode(line)) == line


def test_a_log_of_version_1_is_read_whole(store: FileLogStore) -> None:
    log = store.read("golden")
    assert log.damage == ()
    assert len(log.events) == len((GOLDEN / "log.jsonl").read_bytes().splitlines())
    assert sum(isinstance(event, Unknown) for event in log.events) == 1


def test_its_handles_mean_what_they_meant(store: FileLogStore) -> None:
    """Handles stand in digests that were written long ago, so the way pages are cut is part of the format."""
    pages = pages_of(store.read("golden").events)
    expected = json.loads((GOLDEN / "pages.json").read_text())
    assert [pages.get(number).text for number in range(1, len(pages) + 1)] == expected


def test_its_state_is_what_it_was_and_it_goes_on(store: FileLogStore) -> None:
    with Session.resume(store, "golden", window=9000) as session:
        found = json.loads(msgspec.json.encode(session.state))
        expected = json.loads((GOLDEN / "state.json").read_text())
        for key in ("goal", "criteria", "plan", "directives", "tasks", "mode", "preserved_refs"):
            assert found[key] == expected[key]
        assert not problems(session.next_request().messages)
        session.user_said("still here")
