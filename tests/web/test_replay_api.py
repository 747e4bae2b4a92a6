"""Replays over HTTP: formats, bounds, progress, and that nothing is kept."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from outlive.agent import Session
from outlive.stores.logs.files import FileLogStore
from tests.talk import talk
from tests.web import recordings
from tests.web.server import WebServer

POLICIES = ["lean", "medium", "rich", "max"]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "work").mkdir()
    server = WebServer(tmp_path / "work")
    yield server
    server.stop()


def left_behind(server: WebServer) -> list[str]:
    return [name for name in os.listdir(server.folder.parent / "tmp") if "replay" in name]


def upload(server: WebServer, data: Any, name: str = "session.jsonl") -> httpx2.Response:
    return httpx2.post(
        f"{server.origin}/api/w/{server.workspace}/replay/recordings?name={name}",
        content=data,
        headers={"Authorization": f"Bearer {server.token}"},
        timeout=60,
    )


def played(server: WebServer, recording: str, window: int = 8_000) -> tuple[str, dict[str, Any]]:
    """The path of a run and how it ended."""
    base = f"/api/w/{server.workspace}/replay/runs"
    started = server.post(base, {"recording": recording, "window": window}, timeout=60)
    assert started.status_code == 200, started.text
    path = f"{base}/{started.json()['run']}"
    while (run := server.json(path))["status"] in ("waiting", "running"):
        threading.Event().wait(0.05)
    return path, run


@pytest.mark.parametrize(
    ("make", "format"), [(recordings.claude_code, "claude-code"), (recordings.codex, "codex"), (recordings.pi, "pi")]
)
def test_a_transcript_of_another_agent_is_played_under_every_policy(
    server: WebServer, make: Callable[[], bytes], format: str
) -> None:
    found = upload(server, make()).json()
    assert found["format"] == format
    assert left_behind(server) == []
    path, run = played(server, found["recording"])
    assert run["status"] == "done", run
    assert [one["policy"] for one in run["policies"]] == POLICIES
    assert not (server.folder / ".transcripts").exists()
    assert server.json(f"{path}/rich")["curve"]


def test_a_small_window_makes_passes_and_says_what_left_and_what_the_misses_cost(server: WebServer) -> None:
    path, run = played(server, upload(server, recordings.claude_code()).json()["recording"], 12_000)
    rich = next(one for one in run["policies"] if one["policy"] == "rich")
    assert rich["passes"] > 0
    assert 0 < rich["names_in_view"] <= rich["names_used"]
    report = server.json(f"{path}/rich")
    assert any(one["left"] for one in report["pass_list"])
    assert report["recorded_cache"]["missed"] > 0
    assert report["recorded_cache"]["missed_cost"] > 0


def test_a_session_of_the_workspace_is_played(server: WebServer) -> None:
    with Session.start(FileLogStore(server.folder, durability="process"), id="ours") as session:
        talk(session, 3)
    answer = server.post(f"/api/w/{server.workspace}/replay/recordings/of-session", {"session": "ours"}, timeout=60)
    assert answer.json()["format"] == "outlive"
    assert played(server, answer.json()["recording"])[1]["status"] == "done"
    assert left_behind(server) == []
    missing = server.post(f"/api/w/{server.workspace}/replay/recordings/of-session", {"session": "none"})
    assert missing.status_code == 404


def test_what_is_no_transcript_is_refused_and_removed(server: WebServer) -> None:
    answer = upload(server, b"\x00not a transcript\n")
    assert answer.status_code == 409
    assert "no format that is known" in answer.json()["error"]["message"]
    assert "outlive-replay" not in answer.text
    assert left_behind(server) == []


def test_more_than_64_mib_is_refused_and_removed(server: WebServer) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(65):
            yield b"x" * 2**20

    with suppress(httpx2.TransportError):  # the server may hang up before all was sent
        assert upload(server, chunks()).status_code == 413
    assert server.get("/api/about").status_code == 200
    assert left_behind(server) == []


def test_a_run_is_cancelled(server: WebServer) -> None:
    recording = upload(server, recordings.claude_code()).json()["recording"]
    base = f"/api/w/{server.workspace}/replay/runs"
    run = server.post(base, {"recording": recording, "window": 8_000}, timeout=60).json()["run"]
    assert server.post(f"{base}/{run}/cancel").status_code == 200
    while (now := server.json(f"{base}/{run}"))["status"] in ("waiting", "running"):
        threading.Event().wait(0.02)
    assert now["status"] in ("cancelled", "done")


def test_a_window_out_of_bounds_and_an_unknown_recording_are_refused(server: WebServer) -> None:
    base = f"/api/w/{server.workspace}/replay"
    recording = upload(server, recordings.pi()).json()["recording"]
    for window in (10, 10**9, "8000", None):
        assert server.post(f"{base}/runs", {"recording": recording, "window": window}).status_code == 400
    server.post(f"{base}/recordings/{recording}/forget")
    gone = server.post(f"{base}/runs", {"recording": recording, "window": 8_000})
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "unknown_recording")
