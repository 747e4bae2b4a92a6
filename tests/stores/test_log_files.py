"""Session logs as files: torn and damaged lines, blobs, links, locks, full disks."""

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from outlive.agent import Session
from outlive.errors import StoreError, StoreUnavailable
from outlive.events import Event, Noted, SessionStarted, ToolFinished, Unknown, UserSaid, decode, encode
from outlive.messages import Image, Text
from outlive.stores.logs.blobs import BLOB_MIN_CHARS
from outlive.stores.logs.files import FileLogStore
from outlive.stores.logs.names import file_name, session_of
from outlive.stores.logs.protocol import DamagedBlob, Log, SessionBusy, SessionTooLarge
from outlive.testing.log_store import AWKWARD, compacted, note, result, started
from tests.talk import lines_in


@pytest.fixture
def logs(tmp_path: Path) -> FileLogStore:
    return FileLogStore(tmp_path, durability="process")


@pytest.fixture
def path(logs: FileLogStore) -> Path:
    """The file of a session with three events."""
    with logs.create("s") as writer:
        writer.append([started("s"), note(2), note(3)])
    return logs.path("s")


def test_a_log_lies_in_transcripts_one_event_a_line(path: Path, tmp_path: Path) -> None:
    assert path == tmp_path / ".transcripts" / "s.jsonl"
    assert lines_in(path) == [encode(started("s")), encode(note(2)), encode(note(3)), b""]


def test_git_leaves_out_what_was_said_unless_somebody_wants_it_otherwise(logs: FileLogStore, path: Path) -> None:
    ignore = path.parent / ".gitignore"
    assert ignore.read_text().endswith("\n*\n")
    assert [info.id for info in logs.sessions()] == ["s"]
    ignore.write_text("")
    logs.create("t").close()
    assert ignore.read_text() == ""


def test_what_is_not_a_file_under_the_name_of_a_session_is_left_out_and_named(logs: FileLogStore, path: Path) -> None:
    planted = path.parent / "t.jsonl"
    planted.mkdir()
    assert [info.id for info in logs.sessions()] == ["s"]
    (said,) = logs.left_out()
    assert str(planted) in said
    planted.rmdir()
    logs.sessions()
    assert logs.left_out() == []


# -- damage


@pytest.mark.parametrize("cut", [1, 5, 20, 40])
def test_a_torn_last_line_is_named_and_the_rest_is_used(logs: FileLogStore, path: Path, cut: int) -> None:
    path.write_bytes(path.read_bytes()[:-cut])
    log = logs.read("s")
    whole = 3 if cut == 1 else 2  # without its line end alone, the event is there
    assert [event.id for event in log.events] == [1, 2, 3][:whole]
    assert [f"{path}, line 3" in str(damage) for damage in log.damage] == [True] * (3 - whole)


def test_a_torn_line_is_set_apart_by_the_next_writer_and_kept(logs: FileLogStore, path: Path) -> None:
    torn = path.read_bytes()[:-10]
    path.write_bytes(torn)
    with logs.writer("s") as writer:
        writer.append([note(3, "again"), note(4)])
    assert path.read_bytes().startswith(torn + b"\n")
    log = logs.read("s")
    assert log.events == (started("s"), note(2), note(3, "again"), note(4))
    assert "line 3" in str(log.damage[0])


def test_a_log_of_one_torn_byte_goes_on(logs: FileLogStore, path: Path) -> None:
    path.write_bytes(b"{")
    with logs.writer("s") as writer:
        writer.append([started("s")])
    assert logs.read("s").events == (started("s"),)


def test_what_a_replacement_left_when_it_was_killed_does_not_count(logs: FileLogStore, path: Path) -> None:
    path.with_name(".s.jsonl.part").write_bytes(b"x" * 100_000)
    logs.replace("s", [started("s"), note(2)])
    log = logs.read("s")
    assert log.events == (started("s"), note(2))
    assert not log.damage


def test_every_damaged_copy_of_a_blob_is_kept(logs: FileLogStore) -> None:
    path = logs.blobs.path(logs.put_blob(b"text"))
    for damage in (b"one", b"two"):
        path.write_bytes(damage)
        logs.put_blob(b"text")
    assert sorted(found.read_bytes() for found in path.parent.glob("*.damaged-*")) == [b"one", b"two"]
    assert path.read_bytes() == b"text"


def test_a_result_without_text_keeps_its_blob(logs: FileLogStore, path: Path) -> None:
    text = "x" * BLOB_MIN_CHARS
    kept = replace(result(4, ""), blob=logs.put_blob(text.encode()))
    with logs.writer("s") as writer:
        writer.append([kept])
    assert logs.read("s").events[-1] == result(4, text)


def test_opening_and_reading_change_no_byte(logs: FileLogStore, path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])
    before = path.read_bytes()
    logs.read("s")
    logs.writer("s").close()
    logs.sessions()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "junk", [b"{", b"\x00" * 500, b"\xff\xfe", b'"text"', b"[1]", b'{"type":"noted"}', b"<<<<<<< ours"]
)
def test_a_damaged_line_in_the_middle_is_named_and_passed_over(logs: FileLogStore, path: Path, junk: bytes) -> None:
    lines = lines_in(path)
    path.write_bytes(b"\n".join([lines[0], junk, *lines[2:]]))
    log = logs.read("s")
    assert [event.id for event in log.events] == [1, 3]
    assert f"{path}, line 2" in str(log.damage[0])
    with logs.writer("s") as writer:
        writer.append([note(4)])
    assert junk in path.read_bytes()


@given(data=st.data())
def test_whatever_bytes_change_the_other_lines_are_read(data: st.DataObject, tmp_path_factory: Any) -> None:
    events: list[Event] = [started("s"), *(note(n, f"note {n} " + "x" * (n % 5)) for n in range(2, 12))]
    lines = [encode(event) + b"\n" for event in events]
    hit = data.draw(st.integers(0, len(lines) - 1))
    at = data.draw(st.integers(0, len(lines[hit]) - 1))
    junk = data.draw(st.binary(max_size=30))
    lines[hit] = lines[hit][:at] + junk + (b"" if data.draw(st.booleans()) else lines[hit][at + 1 :])
    store = FileLogStore(tmp_path_factory.mktemp("any"), durability="process")
    store.folder.mkdir()
    store.path("s").write_bytes(b"".join(lines))
    found = {event.id: event for event in store.read("s").events}
    near = {events[hit].id, events[min(hit + 1, len(events) - 1)].id}  # a lost line end joins two lines
    # A changed number may make a line look newer than those that follow, which are then named as out of order.
    if max(found, default=0) <= 11:
        assert [e.id for e in events if e.id not in found and e.id not in near] == []
    assert all(found[e.id] == e for e in events if e.id in found and e.id not in near)
    with store.writer("s") as writer:
        writer.append([note(10**9)])
    assert store.read("s").events[-1] == note(10**9)


def test_events_that_go_back_are_named_and_passed_over(logs: FileLogStore, path: Path) -> None:
    with path.open("ab") as file:
        file.write(encode(note(2, "a merge put this here")) + b"\n")
    log = logs.read("s")
    assert [event.id for event in log.events] == [1, 2, 3]
    assert "event 2 after event 3" in str(log.damage[0])


def test_a_last_line_of_junk_does_not_hide_the_last_id(logs: FileLogStore, path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\x00" * 200_000)
    with logs.writer("s") as writer:
        writer.append([note(4)])
    assert [event.id for event in logs.read("s").events] == [1, 2, 3, 4]
    assert logs.info("s").last_event == 4


def test_other_files_in_the_folder_are_left_alone(logs: FileLogStore, path: Path) -> None:
    for name in ("notes.txt", ".hidden.jsonl", ".s.jsonl.part", "a%zz.jsonl", "%2e.jsonl", "x~y.jsonl"):
        (logs.folder / name).write_text("mine")
    assert [info.id for info in logs.sessions()] == ["s"]


# -- names


@pytest.mark.parametrize("name", AWKWARD)
def test_no_name_leads_out_of_the_folder(logs: FileLogStore, name: str) -> None:
    path = logs.path(name)
    assert path.parent == logs.folder
    assert path.resolve().parent == logs.folder.resolve()
    assert not path.name.startswith(".")
    assert len(path.name) < 250


def test_names_do_not_meet() -> None:
    names = [*AWKWARD, "A", "a", "%61", "x" * 401, "a%2Fb", "a/b", "a%252Fb"]
    assert len({file_name(name) for name in names}) == len(set(names))
    for name in names:
        assert len(name) > 100 or session_of(file_name(name)) == name


def test_a_link_is_not_followed(logs: FileLogStore, tmp_path: Path) -> None:
    target = tmp_path / "precious.txt"
    target.write_text("precious")
    logs.folder.mkdir()
    logs.path("s").symlink_to(target)
    with pytest.raises(StoreUnavailable):
        logs.writer("s")
    (logs.folder / ".r.jsonl.part").symlink_to(target)
    with pytest.raises(StoreUnavailable):
        logs.replace("r", [started("r")])
    assert target.read_text() == "precious"


# -- one writer


def test_a_second_writer_is_told_who_is_in_the_way(logs: FileLogStore, path: Path) -> None:
    with logs.writer("s"):
        with pytest.raises(SessionBusy, match="open in another process"):
            logs.writer("s")
        with pytest.raises(SessionBusy):
            logs.replace("s", [started("s")])
        assert len(logs.read("s").events) == 3
    logs.writer("s").close()


def test_a_writer_whose_file_was_replaced_meanwhile_is_refused(logs: FileLogStore, path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
    logs.replace("s", [started("s")])
    from outlive.stores.logs.files import FileLogWriter

    with pytest.raises(SessionBusy, match="replaced"):
        FileLogWriter(logs, "s", path, descriptor)


# -- full disks


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """While the list says True, only some of the bytes are written and then the disk is full."""
    really, full = os.write, [False]

    def write(descriptor: int, data: bytes) -> int:
        if not full[0]:
            return really(descriptor, data)
        if len(data) > 10:
            return really(descriptor, bytes(data[:10]))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", write)
    yield full
    full[0] = False


def test_a_full_disk_leaves_the_log_as_it_was(logs: FileLogStore, path: Path, full_disk: list[bool]) -> None:
    before = path.read_bytes()
    with logs.writer("s") as writer:
        full_disk[0] = True
        with pytest.raises(StoreUnavailable, match="the disk is full"):
            writer.append([note(4)])
        assert path.read_bytes() == before
        full_disk[0] = False
        writer.append([note(4)])
    assert [event.id for event in logs.read("s").events] == [1, 2, 3, 4]


# -- passes of older logs, which build on one another

OLD = Path(__file__).parents[1] / "golden" / "session_v2" / "log.jsonl"


def old_passes(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """A log with passes that are written as rows; number of the line and form of those from the second on."""
    path.write_bytes(OLD.read_bytes())
    found = [(number, msgspec.json.decode(line)) for number, line in enumerate(lines_in(path)) if b'"rows"' in line]
    assert [form.get("base", 0) for _, form in found[1:4]] == [0, found[1][1]["id"], found[2][1]["id"]]
    return found[1:]


def said_of_passes(log: Log) -> list[str]:
    """What is damaged, without the blobs, which are not here."""
    return [damage.what for damage in log.damage if " is lost: " not in damage.what]


def test_what_builds_on_a_damaged_pass_is_named_and_left_out_until_one_stands_alone(
    logs: FileLogStore, path: Path
) -> None:
    forms = old_passes(path)
    alone = next((n for n, (_, form) in enumerate(forms) if n and not form.get("base")), len(forms))
    lines = lines_in(path)
    lines[forms[0][0]] = lines[forms[0][0]][:60]
    path.write_bytes(b"\n".join(lines) + b"\n")
    log = logs.read("s")
    there = {event.id for event in log.events}
    assert [form["id"] not in there for _, form in forms] == [n < alone for n in range(len(forms))]
    assert f"pass {forms[1][1]['id']} builds on pass {forms[0][1]['id']}" in said_of_passes(log)[1]
    with logs.writer("s") as writer:
        last = max(there)
        writer.append([compacted(last + 1)])
    assert logs.read("s").events[-1] == compacted(last + 1)


def test_a_pass_that_was_changed_by_hand_is_not_built_upon(logs: FileLogStore, path: Path) -> None:
    (number, form), *_ = old_passes(path)
    lines = lines_in(path)
    lines[number] = lines[number].replace(b"condensed by rule", b"condensed by hand", 1)
    path.write_bytes(b"\n".join(lines) + b"\n")
    log = logs.read("s")
    assert form["id"] not in {event.id for event in log.events}
    assert "does not come out as it was written" in said_of_passes(log)[0]


def test_a_pass_that_makes_gigabytes_of_a_few_rows_is_refused(logs: FileLogStore, path: Path) -> None:
    (number, form), *_ = old_passes(path)
    first = form["id"]
    grown = [
        {**form, "id": first + 1, "base": first, "rows": [[0, 90]] * 1_000_000},
        {**form, "id": first + 2, "handles": [[0, 1 << 62]]},
    ]
    lines = [*lines_in(path)[: number + 1], *map(msgspec.json.encode, grown)]
    path.write_bytes(b"\n".join(lines) + b"\n")
    log = logs.read("s")
    assert log.events[-1].id == first
    said = said_of_passes(log)
    assert len(said) == 2
    assert all("would make all digests together larger" in what for what in said)


# -- logs that nobody wrote in earnest


def test_a_log_of_many_gigabytes_is_refused_before_it_is_read(logs: FileLogStore, path: Path) -> None:
    os.truncate(path, 5 << 30)
    for ask in (logs.read, logs.writer, lambda name: Session.resume(logs, name)):
        with pytest.raises(SessionTooLarge, match=r"s\.jsonl has 5\.0 GiB.*Move it away"):
            ask("s")
    assert path.stat().st_size == 5 << 30
    assert [info.last_event for info in logs.sessions()] == [0]


def test_a_line_too_long_to_read_is_named_and_the_rest_is_used(
    logs: FileLogStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outlive.stores.logs.files.MAX_LINE_BYTES", 70_000)
    for number in (4, 5):
        with path.open("ab") as file:
            file.write(b"x" * 200_000)
        with logs.writer("s") as writer:
            with pytest.raises(StoreError, match="cannot follow"):
                writer.append([note(number - 1)])
            writer.append([note(number)])
    log = logs.read("s")
    assert [event.id for event in log.events] == [1, 2, 3, 4, 5]
    assert [str(damage).partition(": ")[0] for damage in log.damage] == [f"{path}, line 4", f"{path}, line 6"]
    assert "longer than" in str(log.damage[0])


def test_of_very_many_damaged_lines_most_are_only_counted(logs: FileLogStore, path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"junk\n" * 5000 + encode(note(4)) + b"\n")
    log = logs.read("s")
    assert [event.id for event in log.events] == [1, 2, 3, 4]
    assert len(log.damage) == 1001
    assert "4000 more lines" in str(log.damage[-1])


# -- blobs

LARGE = "a line of output\n" * BLOB_MIN_CHARS


@pytest.fixture
def blob(logs: FileLogStore, path: Path) -> Path:
    """The file of a large result that is event 4."""
    with logs.writer("s") as writer:
        writer.append([result(4, LARGE), note(5)])
    (found,) = logs.blobs.folder.iterdir()
    return found


def test_a_large_result_lies_in_task_outputs(blob: Path, tmp_path: Path) -> None:
    assert blob.parent == tmp_path / ".task_outputs" / "tool-results"
    assert blob.read_text() == LARGE


@pytest.mark.parametrize("damage", ["missing", "changed", "cut", "endless", "folder", "pipe"])
def test_a_lost_blob_is_named_and_contained(logs: FileLogStore, blob: Path, damage: str) -> None:
    if damage == "endless":
        os.truncate(blob, 5 << 30)
    elif damage in ("missing", "folder", "pipe"):
        blob.unlink()
        if damage != "missing":
            blob.mkdir() if damage == "folder" else os.mkfifo(blob)
    else:
        blob.write_text(LARGE.replace("output", "0utput") if damage == "changed" else LARGE[:100])
    log = logs.read("s")
    assert [event.id for event in log.events] == [1, 2, 3, 4, 5]
    assert "is lost" in log.events[3].text  # type: ignore[union-attr]
    assert str(blob) in str(log.damage[0])
    with pytest.raises(DamagedBlob):
        logs.get_blob(blob.stem)


PICTURE = Image(data="aGFsbG8=" * BLOB_MIN_CHARS)


@pytest.mark.usefixtures("path")
def test_a_large_text_keeps_its_origin(logs: FileLogStore) -> None:
    piped = UserSaid(id=4, time=2.0, parent=3, blocks=(Text("Mind this:", "user"), Text(LARGE, "stdin")))
    with logs.writer("s") as writer:
        writer.append([piped])
    assert logs.read("s").events[3] == piped


@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_a_lost_paste_or_picture_is_named_in_its_place_and_the_rest_goes_on(
    logs: FileLogStore, path: Path, damage: str
) -> None:
    pasted = UserSaid(id=4, time=2.0, parent=3, blocks=(Text("Mind this:"), Text(f"BEGINNING {LARGE}"), PICTURE))
    seen = ToolFinished(id=5, time=2.0, parent=4, call_id="c", text="a chart", images=(Image(data="YQ=="), PICTURE))
    with logs.writer("s") as writer:
        writer.append([pasted, seen, note(6)])
    blobs = list(logs.blobs.folder.iterdir())
    assert len(blobs) == 2
    for blob in blobs:
        blob.unlink() if damage == "missing" else blob.write_text("something else")
    log = logs.read("s")
    assert [event.id for event in log.events] == [1, 2, 3, 4, 5, 6]
    first, second, third = (block.text for block in log.events[3].blocks)  # type: ignore[union-attr]
    assert first == "Mind this:"
    assert second.startswith("BEGINNING a line of output")
    assert "is lost" in second
    assert "picture is lost" in third
    result = log.events[4]
    assert isinstance(result, ToolFinished)
    assert result.images == (Image(data="YQ=="),)
    assert result.text.startswith("a chart\n[a picture is lost")
    assert all(f"{path}, line {n}:" in str(damage) for n, damage in zip((4, 4, 5), log.damage, strict=True))
    assert all(any(str(blob) in str(damage) for damage in log.damage) for blob in blobs)


def test_a_blob_that_is_no_text_is_named(logs: FileLogStore, path: Path) -> None:
    digest = logs.put_blob(b"\xff\xfe")
    line = {"type": "user_said", "id": 4, "time": 2.0, "parent": 3, "blocks": [{"type": "elsewhere", "blob": digest}]}
    result = {"type": "tool_finished", "id": 5, "time": 2.0, "call_id": "c", "text": "", "blob": digest}
    with path.open("ab") as file:
        file.write(b"".join(msgspec.json.encode(form) + b"\n" for form in (line, result)))
    log = logs.read("s")
    assert [event.id for event in log.events] == [1, 2, 3, 4, 5]
    assert len(log.damage) == 2


def test_an_older_outlive_carries_a_paste_that_is_kept_elsewhere_along(logs: FileLogStore, path: Path) -> None:
    with logs.writer("s") as writer:
        writer.append([UserSaid(id=4, time=2.0, parent=3, blocks=(Text(LARGE),))])
    line = lines_in(path)[3]
    assert encode(decode(line)) == line
    assert isinstance(decode(line), Unknown)  # and no message with a hole


def test_a_damaged_blob_is_written_again_and_what_was_there_is_kept(logs: FileLogStore, blob: Path) -> None:
    blob.write_text("something else")
    logs.put_blob(LARGE.encode())
    assert logs.read("s").damage == ()
    (aside,) = blob.parent.glob("*.damaged-1")
    assert aside.read_text() == "something else"


def test_a_blob_is_written_once(logs: FileLogStore, blob: Path) -> None:
    before = blob.stat()
    logs.put_blob(LARGE.encode())
    assert (blob.stat().st_ino, blob.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [path.name for path in blob.parent.iterdir()] == [blob.name]


def test_what_was_said_is_private_and_left_out_by_git(tmp_path: Path) -> None:
    store = FileLogStore(tmp_path)
    with store.create("s") as writer:
        writer.append([started("s")])
    store.put_blob(b"x" * 10)
    for name in (".transcripts", ".task_outputs"):
        assert (tmp_path / name / ".gitignore").read_text().endswith("\n*\n")
        assert (tmp_path / name).stat().st_mode & 0o077 == 0
    assert [info.id for info in store.sessions()] == ["s"]


def test_a_tail_waits_for_the_end_of_a_line(tmp_path: Path) -> None:
    store = FileLogStore(tmp_path, durability="process")
    with store.create("s") as writer:
        writer.append([SessionStarted(id=1, time=1.0, session="s")])
    tail = store.tail("s")
    tail.read()
    line = encode(Noted(id=2, time=2.0, parent=1, text="whole")) + b"\n"
    with store.path("s").open("ab") as file:
        file.write(line[:20])
        file.flush()
        assert tail.read() == Log("s", ())
        file.write(line[20:])
        file.flush()
        assert [event.id for event in tail.read().events] == [2]
    tail.close()


def test_asking_for_a_writer_keeps_no_writer_out(tmp_path: Path) -> None:
    store = FileLogStore(tmp_path, durability="process")
    store.create("s").close()
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            store.has_writer("s")

    asker = threading.Thread(target=ask)
    asker.start()
    try:
        for _ in range(200):
            store.writer("s").close()
    finally:
        stop.set()
        asker.join()
