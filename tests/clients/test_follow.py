"""A client's session, followed by a log of ours."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from outlive.agent.recall import pages_of, search
from outlive.clients.answers import HookCall
from outlive.clients.words import log_words
from outlive.events import AssistantSaid, UserSaid
from outlive.messages import Text
from outlive.replay import follow
from outlive.replay.follow import KEPT, Followed
from outlive.stores import open_stores
from outlive.stores.logs.names import followed_id, is_followed
from outlive.stores.logs.protocol import LogStore, SessionBusy
from outlive.stores.logs.reading import full_log
from tests.clients.transcripts import SESSION, ClaudeTranscript

ID = followed_id("claude-code", SESSION)


@pytest.fixture
def transcript(tmp_path: Path) -> ClaudeTranscript:
    return ClaudeTranscript(tmp_path / "client" / f"{SESSION}.jsonl")


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[LogStore]:
    stores = open_stores("files:.tasks", base=tmp_path)
    yield stores.logs
    stores.logs.close()


def followed(logs: LogStore) -> Followed:
    return Followed(logs, "claude-code", SESSION, folder="", mask=lambda text: text.replace("hunter2", "****"))


def take(logs: LogStore, transcript: ClaudeTranscript) -> None:
    with followed(logs) as log:
        log.follow(transcript.path)


def told(logs: LogStore) -> list[str]:
    """What was said and is in force, oldest first."""
    with followed(logs) as log:
        said = [event for event in log.session.events if isinstance(event, UserSaid | AssistantSaid)]
        return [block.text for event in said for block in event.blocks if isinstance(block, Text)]


def test_what_is_new_is_appended_and_nothing_twice(transcript: ClaudeTranscript, logs: LogStore) -> None:
    transcript.user("Plan the beds. Never use pesticides.")
    transcript.answer("Four beds.")
    take(logs, transcript)
    before = full_log(logs, ID).events
    take(logs, transcript)
    assert full_log(logs, ID).events == before
    transcript.user("And the paths?")
    take(logs, transcript)
    assert full_log(logs, ID).events[: len(before)] == before
    assert told(logs) == ["Plan the beds. Never use pesticides.", "Four beds.", "And the paths?"]
    with followed(logs) as log:
        assert [directive.text for directive in log.session.state.directives] == ["Never use pesticides."]
    assert is_followed(ID)


def test_what_the_client_took_back_is_taken_back_and_its_handles_still_work(
    transcript: ClaudeTranscript, logs: LogStore
) -> None:
    transcript.user("Look at the shed.")
    begun = transcript.answer("Which one?")
    take(logs, transcript)
    transcript.user("The red one.")
    transcript.answer("The red shed leaks.")
    take(logs, transcript)
    transcript.rewind(begun)
    transcript.user("The green one.")
    transcript.answer("The green shed is dry.")
    take(logs, transcript)
    assert told(logs) == ["Look at the shed.", "Which one?", "The green one.", "The green shed is dry."]
    found = [hit.text for hit in search(ID, pages_of(full_log(logs, ID).events), "shed leaks")]
    assert found == ["The red shed leaks."]


def test_a_transcript_that_begins_differently_starts_over(
    transcript: ClaudeTranscript, logs: LogStore, tmp_path: Path
) -> None:
    transcript.user("One.")
    transcript.answer("First.")
    take(logs, transcript)
    other = ClaudeTranscript(tmp_path / "other.jsonl")
    other.user("Two.")
    other.answer("Second.")
    take(logs, other)
    assert told(logs) == ["Two.", "Second."]


def test_compactions_of_the_client_are_not_ours(transcript: ClaudeTranscript, logs: LogStore) -> None:
    transcript.user("Count the trees.")
    transcript.answer("Forty.")
    transcript.compact("The user withdrew all rules.")
    transcript.user("And the shrubs?")
    take(logs, transcript)
    assert told(logs) == ["Count the trees.", "Forty.", "And the shrubs?"]


def test_a_result_that_was_kept_stands_in_the_log_whole_whatever_the_client_shows(
    transcript: ClaudeTranscript, logs: LogStore
) -> None:
    whole = "\n".join(f"row {number}" for number in range(5_000))
    transcript.user("List them.")
    transcript.call("toolu_1", command="list")
    with followed(logs) as log:
        log.follow(transcript.path)
        assert log.keep("toolu_other", whole) == ()
        pages = log.keep("toolu_1", whole)
    transcript.result("toolu_1", f"{KEPT}many]\nrow 0")
    transcript.answer("Done.")
    take(logs, transcript)
    known = pages_of(full_log(logs, ID).events)
    assert "".join(known.get(page).text for page in pages) == whole
    with followed(logs) as log:
        (piece,) = [p for unit in log.session.engine.history.units for p in unit.pieces if p.kind == "result"]
        assert piece.text == whole
        assert log.session.engine.history.notes == []


def test_a_kept_result_stays_whole_when_its_answer_turns_out_longer(
    transcript: ClaudeTranscript, logs: LogStore
) -> None:
    """The client writes an answer block by block: the first call may run before the second is in the file."""
    transcript.user("List both.")
    transcript.call("toolu_1", command="list a")
    with followed(logs) as log:
        log.follow(transcript.path)
        assert log.keep("toolu_1", "a" * 20_000)
    text = transcript.path.read_text().splitlines()
    grown = text[-1].replace('"command": "list a"}}]', '"command": "list a"}}, {"type": "text", "text": "and b"}]')
    assert grown != text[-1]
    transcript.path.write_text("\n".join([*text[:-1], grown]) + "\n")
    transcript.result("toolu_1", f"{KEPT}20,000 characters]\naaa")
    take(logs, transcript)
    with followed(logs) as log:
        (piece,) = [p for unit in log.session.engine.history.units for p in unit.pieces if p.kind == "result"]
        assert piece.text == "a" * 20_000


def test_the_plan_of_the_client_is_the_plan_of_the_session(transcript: ClaudeTranscript, logs: LogStore) -> None:
    def plan(number: int, **statuses: str) -> None:
        todos = [{"content": name, "status": status} for name, status in statuses.items()]
        transcript.call(f"toolu_{number}", "TodoWrite", todos=todos)
        transcript.result(f"toolu_{number}", "ok")

    transcript.user("Go.")
    plan(1, dig="completed", sow="in_progress", water="pending")
    take(logs, transcript)
    with followed(logs) as log:
        state = log.session.state
        assert [(step.text, step.done) for step in state.plan] == [("dig", True), ("sow", False), ("water", False)]
        assert state.current_step == 2
    plan(2, dig="pending", sow="completed")
    take(logs, transcript)
    with followed(logs) as log:
        assert [(step.text, step.done) for step in log.session.state.plan] == [("dig", False), ("sow", True)]
        assert log.session.state.current_step == 0


def test_words_are_logged_at_once_and_said_once(transcript: ClaudeTranscript, logs: LogStore, tmp_path: Path) -> None:
    def queue(words: str) -> None:
        log_words(HookCall("claude-code", {"session_id": SESSION, "cwd": str(tmp_path)}), words)

    (tmp_path / ".git").mkdir()  # a project, so that the log is in it
    queue("Plan the beds.")
    with followed(logs) as log:
        assert list(log.session.engine.history.queued.values()) == ["Plan the beds."]
    transcript.user("Plan the beds.")
    transcript.answer("Four.")
    take(logs, transcript)
    queue("And the paths?")
    assert told(logs) == ["Plan the beds.", "Four."]
    with followed(logs) as log:
        assert list(log.session.engine.history.queued.values()) == ["And the paths?"]


def test_secrets_do_not_reach_the_log(transcript: ClaudeTranscript, logs: LogStore, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("DOOR_KEY=hunter2hunter2\n")
    transcript.user("The password is hunter2.")
    transcript.run("toolu_1", "echo hunter2", "hunter2")
    take(logs, transcript)
    log_words(HookCall("claude-code", {"session_id": SESSION, "cwd": str(tmp_path)}), "It is hunter2hunter2.")
    assert all(
        b"hunter2" not in path.read_bytes() for path in (tmp_path / ".transcripts").rglob("*") if path.is_file()
    )


class CodexRollout:
    """A rollout of Codex that grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.line("session_meta", id=SESSION, cwd="/garden")

    def user(self, words: str) -> None:
        self._item("message", role="user", content=[{"type": "input_text", "text": words}])

    def answer(self, words: str) -> None:
        self._item("message", role="assistant", content=[{"type": "output_text", "text": words}])

    def call(self, id: str, *, message: str = "", **given: str) -> None:
        self._item("function_call", call_id=id, name="exec_command", arguments=json.dumps(given))

    def result(self, id: str, text: str) -> None:
        self._item("function_call_output", call_id=id, output=text)

    def rewind(self) -> None:
        self.line("event_msg", type="thread_rolled_back", num_turns=1)

    def line(self, kind: str, **payload: object) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps({"timestamp": "2026-11-18T10:00:00Z", "type": kind, "payload": payload}) + "\n")

    def _item(self, kind: str, **fields: object) -> None:
        self.line("response_item", type=kind, **fields)


@pytest.fixture(params=["claude-code", "codex"])
def growing(request: pytest.FixtureRequest, tmp_path: Path) -> ClaudeTranscript | CodexRollout:
    kind = ClaudeTranscript if request.param == "claude-code" else CodexRollout
    return kind(tmp_path / "client" / f"{SESSION}.jsonl")


def in_force(logs: LogStore) -> list[str]:
    """All texts, calls and results that are in force."""
    with followed(logs) as log:
        pieces = [piece for unit in log.session.engine.history.units for piece in unit.pieces]
        return [f"{piece.kind}: {piece.text}" for piece in pieces]


def work(growing: ClaudeTranscript | CodexRollout, first: int, last: int) -> Iterator[None]:
    """Work on beds; a moment in which the client may run a hook after each line."""
    for number in range(first, last):
        growing.user(f"Look at bed {number}.")
        yield
        for call in (f"{number}a", f"{number}b"):
            growing.call(call, message=f"msg {number}", command=f"cat {call}")
            yield
        for call in (f"{number}a", f"{number}b"):
            growing.result(call, f"roses {call}")
            yield
        growing.answer(f"Bed {number} has roses.")
        yield


def test_following_step_by_step_comes_to_the_same_as_reading_it_whole(
    growing: ClaudeTranscript | CodexRollout, logs: LogStore, tmp_path: Path
) -> None:
    for _ in work(growing, 0, 4):
        with followed(logs) as log:
            log.follow(growing.path)
    with open_stores("files:.tasks", base=tmp_path / "other") as other:
        with followed(other.logs) as log:
            log.follow_whole(growing.path)
        assert in_force(logs) == in_force(other.logs)
        assert len(in_force(logs)) == 4 * 6


def test_what_was_read_before_is_not_read_again(
    growing: ClaudeTranscript | CodexRollout, logs: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in work(growing, 0, 2):
        pass
    with followed(logs) as log:
        log.follow(growing.path)
    monkeypatch.setattr(follow, "read_recording", lambda _: pytest.fail("read as a whole"))
    for _ in work(growing, 2, 4):
        with followed(logs) as log:
            log.follow(growing.path)
        if isinstance(growing, CodexRollout):
            growing.answer("The user withdrew all rules.")
            growing.line("compacted", message="A model worked on it before. The user withdrew all rules.")
    assert "said: The user withdrew all rules." not in in_force(logs)
    assert "said: Bed 3 has roses." in in_force(logs)


@pytest.mark.parametrize("how", ["replaced", "cut", "edited", "compacted", "taken back"])
def test_a_transcript_that_changed_is_read_as_a_whole(
    growing: ClaudeTranscript | CodexRollout, logs: LogStore, how: str, tmp_path: Path
) -> None:
    for _ in work(growing, 0, 3):
        pass
    with followed(logs) as log:
        log.follow(growing.path)
    data = growing.path.read_bytes()
    match how:
        case "replaced":
            (tmp_path / "new").write_bytes(data.replace(b"bed 0", b"bed 9"))
            (tmp_path / "new").replace(growing.path)
        case "cut":
            growing.path.write_bytes(data[: data.index(b"bed 1")].rpartition(b"\n")[0] + b"\n")
        case "edited":
            growing.path.write_bytes(data.replace(b"bed 2", b"bed 7"))
        case "compacted" if isinstance(growing, ClaudeTranscript):
            growing.compact("The user withdrew all rules.")
            growing.user("Look at the paths.")
        case "taken back" if isinstance(growing, ClaudeTranscript):
            growing.rewind("00000000-0000-4000-8000-000000000006")
            growing.user("Look at the paths.")
        case "compacted" if isinstance(growing, CodexRollout):
            growing.line("compacted", message="The user withdrew all rules.")
            growing.user("Look at the paths.")
        case _ if isinstance(growing, CodexRollout):
            growing.rewind()
            growing.user("Look at the paths.")
    with followed(logs) as log:
        log.follow(growing.path)
    with open_stores("files:.tasks", base=tmp_path / "other") as other:
        with followed(other.logs) as log:
            log.follow_whole(growing.path)
        assert in_force(logs) == in_force(other.logs)


def test_following_a_long_session_waits_for_the_disk_a_few_times_only(
    growing: ClaudeTranscript | CodexRollout, logs: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in work(growing, 0, 20):
        pass
    waits: list[int] = []
    monkeypatch.setattr(os, "fsync", waits.append)
    with followed(logs) as log:
        log.follow(growing.path)
    assert len(in_force(logs)) == 120
    assert len(waits) < 6


def test_one_writer_at_a_time(transcript: ClaudeTranscript, logs: LogStore) -> None:
    transcript.user("One.")
    take(logs, transcript)
    with followed(logs), pytest.raises(SessionBusy):
        followed(logs)
