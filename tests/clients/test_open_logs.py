"""A server keeps the logs of clients' sessions in memory between large results; other processes write to them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from outlive.agent.session import Session
from outlive.clients.answers import HookCall, answer
from outlive.clients.answers import open_logs as module
from outlive.clients.answers.open_logs import OpenLogs
from outlive.clients.answers.result import LARGE_CHARACTERS
from outlive.clients.words import log_words
from outlive.context import brief as brief_module
from outlive.events import ToolFinished, UserQueued
from outlive.replay.follow import Followed
from outlive.stores import Stores, open_stores
from outlive.stores.logs.names import followed_id
from outlive.stores.logs.reading import full_log
from outlive.tasks.graph import TaskGraph
from tests.clients.transcripts import SESSION, ClaudeTranscript

ID = followed_id("claude-code", SESSION)


@pytest.fixture
def transcript(tmp_path: Path) -> ClaudeTranscript:
    (tmp_path / ".git").mkdir()
    return ClaudeTranscript(tmp_path / "client" / f"{SESSION}.jsonl")


@pytest.fixture(params=["files:.tasks", "sqlite:///outlive.db"])
def stores(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    with monkeypatch.context() as patched, open_stores(request.param, base=tmp_path) as stores:
        patched.setenv("OUTLIVE_STORE", request.param)
        yield stores


@pytest.fixture
def logs() -> Iterator[OpenLogs]:
    with closing(OpenLogs()) as logs:
        yield logs


def finish(transcript: ClaudeTranscript, logs: OpenLogs | None, number: int) -> str:
    """A call of the client that prints much; what is shown instead."""
    transcript.call(f"toolu_{number}", command=f"print {number}")
    output = {"stdout": f"row {number}\n" * LARGE_CHARACTERS, "stderr": ""}
    folder = str(transcript.path.parents[1])
    fields = {"tool_name": "Bash", "tool_use_id": f"toolu_{number}", "tool_response": output, "cwd": folder}
    call = HookCall("claude-code", transcript.event("PostToolUse", **fields), logs.open if logs else None)
    shown = str(answer(call).replacement["stdout"])
    call.close()
    transcript.result(f"toolu_{number}", shown)
    return shown


def test_results_and_what_other_processes_write_are_logged_in_order(
    transcript: ClaudeTranscript, stores: Stores, logs: OpenLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript.user("Print them.")
    finish(transcript, logs, 1)
    with closing(HookCall("claude-code", transcript.event("", cwd=str(transcript.path.parents[1])))) as prompt:
        log_words(prompt, "Faster.")
    with monkeypatch.context() as patched:
        patched.setattr(Session, "resume", lambda *_, **__: pytest.fail("read from its file again"))
        finish(transcript, logs, 2)
    log = full_log(stores.logs, ID)
    assert not log.damage
    assert [e.text for e in log.events if isinstance(e, UserQueued)] == ["Faster."]
    assert [e.call_id for e in log.events if isinstance(e, ToolFinished)] == ["toolu_1", "toolu_2"]


def test_the_handles_are_those_of_a_log_that_is_read_from_its_file(
    transcript: ClaudeTranscript, stores: Stores, logs: OpenLogs, tmp_path: Path
) -> None:
    transcript.user("Print them.")
    kept = [finish(transcript, logs, 1), finish(transcript, logs, 2)]
    other = ClaudeTranscript(tmp_path / "other" / "client" / f"{SESSION}.jsonl")
    (tmp_path / "other" / ".git").mkdir()
    other.user("Print them.")
    assert kept == [finish(other, None, 1), finish(other, None, 2)]


def test_a_log_that_another_process_replaced_is_read_again(
    transcript: ClaudeTranscript, stores: Stores, logs: OpenLogs
) -> None:
    transcript.user("Print them.")
    finish(transcript, logs, 1)
    stores.logs.replace(ID, full_log(stores.logs, ID).events[:1])
    finish(transcript, logs, 2)
    assert "toolu_2" in [e.call_id for e in full_log(stores.logs, ID).events if isinstance(e, ToolFinished)]


def test_a_long_session_is_not_kept_in_memory(
    transcript: ClaudeTranscript, stores: Stores, logs: OpenLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_TOKENS", 10)
    transcript.user("Print them.")
    finish(transcript, logs, 1)
    assert not logs._kept
    assert finish(transcript, logs, 2)


def test_what_comes_after_a_compaction_is_made_while_the_client_has_its_summary_written(
    transcript: ClaudeTranscript, stores: Stores, logs: OpenLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def event(name: str, **fields: str) -> str:
        given = transcript.event(name, cwd=str(transcript.path.parents[1]), **fields)
        with closing(HookCall("claude-code", given, logs.open)) as call:
            return answer(call).context

    transcript.user("Count the trees. Never cut one.")
    transcript.run("toolu_1", "count", "forty oaks are in the north row, says Ilse Varga")
    with monkeypatch.context() as patched:
        patched.setattr(Followed, "follow_whole", fail)
        assert "@h12" in event("PreCompact"), "whatever happens while it is made"
    assert "@h12" in event("PreCompact")
    with monkeypatch.context() as patched:
        patched.setattr(Followed, "follow_whole", lambda *_: pytest.fail("read as a whole"))
        patched.setattr(brief_module, "brief", lambda *_, **__: pytest.fail("made again"))
        text = event("SessionStart", source="compact")
    assert "- Never cut one." in text
    assert "Ilse Varga" in text
    transcript.user("And the shrubs?")
    TaskGraph(stores.tasks).create("Count the shrubs")
    text = event("SessionStart", source="compact")
    assert "> And the shrubs?" in text
    assert "Count the shrubs" in text


def fail(*_: object) -> None:
    raise OSError("the disk is full")
