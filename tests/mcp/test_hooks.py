"""Hooks ask the MCP server that their client has started, and answer themselves without one."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from outlive import __version__
from outlive.clients.server_socket import socket_path
from outlive.stores.logs.names import followed_id
from tests.clients.transcripts import SESSION, ClaudeTranscript
from tests.mcp.connection import Connection, over_stdio

UNUSABLE_STORE = {"OUTLIVE_STORE": "files:/dev/null/nothing"}
"""For a hook alone: it shows who answered."""
RULES = "Never open the folder sealed/."


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    with TemporaryDirectory(dir="/tmp") as short:  # the path of a socket is bounded
        monkeypatch.setenv("OUTLIVE_HOME", short)
        yield tmp_path / "work"


@pytest.fixture
def transcript(tmp_path: Path) -> ClaudeTranscript:
    return ClaudeTranscript(tmp_path / ".claude" / "projects" / "work" / f"{SESSION}.jsonl")


@pytest.fixture
def mcp(place: Path) -> Iterator[Connection]:
    with over_stdio(place) as connection:
        connection("tasks", action="list")
        yield connection


def hook(place: Path, event: dict[str, Any], client: str = "codex", **environment: str) -> str:
    """What a hook answers that this process, which is the client, starts."""
    done = subprocess.run(
        [sys.executable, "-m", "outlive", "hook", client],
        input=json.dumps(event | {"cwd": str(place)}),
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def path() -> Path:
    found = socket_path(os.getpid())
    assert found is not None
    return found


def server_of(place: Path) -> int:
    """The process of the server."""
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = [int(pid) for file in children for pid in file.read_text().split()]
    (found,) = (pid for pid in pids if b"\0mcp\0" in Path(f"/proc/{pid}/cmdline").read_bytes())
    return found


def asked(request: dict[str, Any]) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path()))
        connection.sendall(json.dumps(request).encode() + b"\n")
        answer = json.loads(connection.makefile().readline())
    assert isinstance(answer, dict)
    return answer


def test_the_server_answers_the_hooks_of_its_client(
    mcp: Connection, place: Path, transcript: ClaudeTranscript
) -> None:
    assert stat.S_IMODE(path().stat().st_mode) == 0o600
    assert stat.S_IMODE(path().parent.stat().st_mode) == 0o700
    asked = f"Look at every bay. {RULES}"
    assert hook(place, transcript.event("UserPromptSubmit", prompt=asked), **UNUSABLE_STORE) == ""
    transcript.user(asked)
    transcript.call("toolu_1", command="list")
    rows = "\n".join(f"row {number} is rented by Ilse" for number in range(2_000))
    large = transcript.event("PostToolUse", tool_name="Bash", tool_use_id="toolu_1", tool_response=rows)
    assert "outlive kept all of this result" in hook(place, large, **UNUSABLE_STORE)
    transcript.result("toolu_1", "a preview")
    text = hook(place, transcript.event("SessionStart", source="compact"), **UNUSABLE_STORE)
    assert RULES in json.loads(text)["hookSpecificOutput"]["additionalContext"]
    assert f"[session {followed_id('codex', SESSION)}" in mcp("state"), "it knows which session asks"
    assert (place / ".transcripts" / f"{followed_id('codex', SESSION)}.jsonl").exists()


def test_a_server_that_hears_of_a_compaction_brings_the_log_in_step(
    mcp: Connection, place: Path, transcript: ClaudeTranscript
) -> None:
    transcript.user(f"Look at every bay. {RULES}")
    transcript.run("toolu_1", "cat parts/1.txt", "bay 1 is rented by Ilse Varga")
    assert hook(place, transcript.event("PreCompact", trigger="auto"), **UNUSABLE_STORE) == "", "Codex takes no text"
    log = place / ".transcripts" / f"{followed_id('codex', SESSION)}.jsonl"
    for _ in range(3_000):
        if log.exists() and "Ilse Varga" in log.read_text():
            break
        time.sleep(0.02)
    else:
        pytest.fail("the log has not what the transcript has")
    text = hook(place, transcript.event("SessionStart", source="compact"), **UNUSABLE_STORE)
    assert RULES in json.loads(text)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize(
    ("client", "folder"), [("claude-code", ".claude/projects"), ("codex", ".codex/sessions"), ("", "work")]
)
def test_a_result_may_come_as_a_call_for_a_transcript_in_the_folder_of_its_client(
    mcp: Connection, place: Path, client: str, folder: str
) -> None:
    transcript = ClaudeTranscript(place.parent / folder / f"{SESSION}.jsonl")
    transcript.user("Look at every bay.")
    transcript.call("toolu_1", command="list")
    rows = "\n".join(f"row {number} is rented by Ilse" for number in range(2_000))
    event = transcript.event("", tool_name="Bash", tool_use_id="toolu_1", tool_response=rows, cwd=str(place))
    answer = mcp("keep_result", **event)
    logged = [path.stem for path in (place / ".transcripts").glob("*.jsonl")]
    if not client:
        assert (answer, logged) == ("", [])
        return
    form = json.loads(answer)
    shown = form["reason"] if client == "codex" else form["hookSpecificOutput"]["updatedToolOutput"]
    assert shown.startswith("[outlive kept all of this result")
    assert logged == [followed_id(client, SESSION)]


def test_without_its_server_a_hook_answers_itself(mcp: Connection, place: Path, transcript: ClaudeTranscript) -> None:
    transcript.user(f"Look at every bay. {RULES}")
    transcript.run("toolu_1", "cat parts/1.txt", "bay 1 is rented by Ilse Varga")
    os.kill(server_of(place), signal.SIGKILL)
    event = transcript.event("SessionStart", source="compact")
    assert RULES in hook(place, event)
    assert path().exists(), "a server that is killed leaves it behind"
    with over_stdio(place) as again:
        again("tasks", action="list")
        assert RULES in hook(place, event, **UNUSABLE_STORE)
    assert not path().exists()


def test_a_failure_of_the_server_is_told_and_does_not_stop_the_client(
    mcp: Connection, place: Path, transcript: ClaudeTranscript
) -> None:
    (place / ".transcripts").write_text("a file where the folder would be")
    told = json.loads(hook(place, transcript.event("UserPromptSubmit", prompt="Go on.")))
    assert "the session goes on without it" in told["systemMessage"]
    assert "tasks" in mcp("tasks", action="list") or mcp("state")


@pytest.mark.parametrize(
    "request_",
    [
        {"version": "0.0.0", "client": "codex", "event": {}},
        {"version": __version__, "client": "nobody", "event": {}},
        {"version": __version__, "client": "codex", "event": []},
    ],
    ids=["another version", "no client", "no event"],
)
def test_what_is_no_event_for_it_is_refused(mcp: Connection, request_: dict[str, Any]) -> None:
    assert "hooks of its own version" in asked(request_)["error"]
