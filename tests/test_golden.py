"""Old on-disk formats stay readable: a session written by version 1, kept forever."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from outlive.agent import Session
from outlive.agent.commands.orphans import orphans_of
from outlive.agent.recall import pages_of
from outlive.context.validity import problems
from outlive.events import UNREAD, FilesChanged, PermissionAnswered, PermissionAsked, Unknown, decode, encode
from outlive.origin import user_words
from outlive.stores.locations import OUTPUTS, TRANSCRIPTS
from outlive.stores.logs.files import FileLogStore

GOLDEN = Path(__file__).parent / "golden" / "session_v1"


@pytest.fixture
def store(tmp_path: Path) -> FileLogStore:
    return placed(tmp_path, GOLDEN)


def placed(folder: Path, golden: Path) -> FileLogStore:
    """A golden session where sessions lie."""
    (folder / TRANSCRIPTS).mkdir(parents=True)
    blobs = folder / OUTPUTS / "tool-results"
    blobs.mkdir(parents=True)
    shutil.copy(golden / "log.jsonl", folder / TRANSCRIPTS / "golden.jsonl")
    for blob in golden.glob("*.txt"):
        shutil.copy(blob, blobs)
    return FileLogStore(folder)


def test_every_line_is_written_back_as_it_was() -> None:
    for line in (GOLDEN / "log.jsonl").read_bytes().splitlines():
        assert encode(decode(line)) == line


def test_a_log_of_version_1_is_read_whole(store: FileLogStore) -> None:
    log = store.read("golden")
    assert log.damage == ()
    assert len(log.events) == len((GOLDEN / "log.jsonl").read_bytes().splitlines())
    assert sum(isinstance(event, Unknown) for event in log.events) == 1


def test_its_handles_mean_what_they_meant(store: FileLogStore) -> None:
    """Digests that were written long ago contain handles, so the way pages are cut is part of the format."""
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


# -- a session of version 3 that died with a call open and words queued


def test_a_log_of_version_3_is_read_whole_and_goes_on(tmp_path: Path) -> None:
    golden = GOLDEN.parent / "session_v3"
    lines = (golden / "log.jsonl").read_bytes().splitlines()
    assert [encode(decode(line)) for line in lines] == lines
    store = placed(tmp_path, golden)
    log = store.read("golden")
    assert (log.damage, len(log.events)) == ((), len(lines))
    assert not any(isinstance(event, Unknown) for event in log.events)
    with Session.resume(store, "golden") as session:
        assert list(session.engine.history.queued.values()) == ["and then release"]
        assert [process.group for _, _, process in session.started.commands.values()] == [2405]
        assert orphans_of("golden", session.started, store) == [], "it is the process of another machine"
        assert session.settle() == 1
        assert not problems(session.next_request().messages)


# -- version 4: texts with their origin, a directive of the user, a pass


def test_a_log_of_version_4_says_whose_words_are_whose(tmp_path: Path) -> None:
    golden = GOLDEN.parent / "session_v4"
    lines = (golden / "log.jsonl").read_bytes().splitlines()
    assert [encode(decode(line)) for line in lines] == lines
    with Session.resume(placed(tmp_path, golden), "golden", window=8_000) as session:
        words = [user_words(unit.blocks) for unit in session.engine.history.units if unit.kind == "user"]
        assert words == ["Never push to main. Fix the parser.", "Use tabs from now on.", "And the docs."]
        assert [given.text for given in session.state.directives] == ["Never push to main.", "Use tabs from now on."]
        assert not problems(session.next_request().messages)
        assert "parse_0_20(" not in str(session.engine.shown())
        session.undo_pass()
        assert "parse_0_20(" in str(session.engine.shown())


# -- version 5: state blocks, a pass between them, a result that came late; version 6: a digest in segments;
# version 7: a summary of the provider; version 8: the pool


@pytest.mark.parametrize(
    ("format", "window", "segments"),
    [("session_v5", 12_000, 1), ("session_v6", 8_000, 4), ("session_v7", 8_000, 1), ("session_v8", 8_000, 1)],
)
def test_what_was_shown_is_shown_again_to_the_letter(tmp_path: Path, format: str, window: int, segments: int) -> None:
    golden = GOLDEN.parent / format
    lines = (golden / "log.jsonl").read_bytes().splitlines()
    assert [encode(decode(line)) for line in lines] == lines
    store = placed(tmp_path, golden)
    with Session.resume(store, "golden", window=window) as session:
        assert session.can_undo_pass
        assert len(session.engine.projection.segments) == segments
        assert msgspec.json.encode(session.engine.shown()) == (golden / "view.json").read_bytes()


def test_the_next_pass_chooses_from_the_pool_that_was_logged(tmp_path: Path) -> None:
    golden = GOLDEN.parent / "session_v8"
    with Session.resume(placed(tmp_path, golden), "golden", window=8_000) as session:
        assert session.engine.compact("module_3 handlers") is not None
        assert msgspec.json.encode(session.engine.shown()) == (golden / "next.json").read_bytes()


# -- a session of version 1 with a large paste and pictures in its lines, twelve passes and an undo

LARGE = Path(__file__).parent / "golden" / "session_v1_large"


@pytest.mark.parametrize("format", ["session_v1_large", "session_v2"])
def test_a_long_session_is_read_whole_and_shown_to_the_letter(tmp_path: Path, format: str) -> None:
    store = placed(tmp_path, GOLDEN.parent / format)
    log = store.read("golden")
    assert log.damage == ()
    assert not any(isinstance(event, Unknown) for event in log.events)
    with Session.resume(store, "golden", window=12_000) as session:
        assert msgspec.json.encode(session.engine.shown()) == (LARGE / "view.json").read_bytes()


def test_both_formats_say_the_same(tmp_path: Path) -> None:
    old, new = (placed(tmp_path / name, GOLDEN.parent / name) for name in ("session_v1_large", "session_v2"))
    first, *rest = old.read("golden").events
    assert (msgspec.structs.replace(first, version=2), *rest) == new.read("golden").events
    assert old.info("golden").size > 1.7 * new.info("golden").size


def test_who_was_asked_and_who_answered_is_read() -> None:
    lines = (GOLDEN.parent / "session_v9" / "log.jsonl").read_bytes().splitlines()
    events = [decode(line) for line in lines]
    assert [encode(event) for event in events] == lines
    assert not any(isinstance(event, Unknown) for event in events)
    asked, answered = events[5:7]
    assert isinstance(asked, PermissionAsked)
    assert isinstance(answered, PermissionAnswered)
    assert answered.call_id == asked.call_id
    assert answered.by == "ada in Firefox 1f2e at 127.0.0.1"


def test_which_files_changed_is_read() -> None:
    lines = (GOLDEN.parent / "session_v10" / "log.jsonl").read_bytes().splitlines()
    events = [decode(line) for line in lines]
    assert [encode(event) for event in events] == lines
    changed, restored = (event for event in events if isinstance(event, FilesChanged))
    assert [(file.path, file.before == UNREAD, file.kept) for file in changed.files] == [
        ("beds.txt", False, True),
        ("map.tiff", True, False),
        ("old.txt", False, True),
    ]
    assert (changed.call_id, changed.more) == ("c1", 2)
    assert (restored.call_id, restored.files[0].after) == ("", "")
