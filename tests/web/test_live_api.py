"""What changes while browsers look: one stream for all topics, sessions whose process is killed, many sessions."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from outlive.agent.log.forking import fork
from outlive.events import SessionStarted, UserSaid
from outlive.messages import Text
from tests.engines import Engine, worker_environment
from tests.web.made import answer, of, started, store_in, streamed, talked
from tests.web.server import WebServer

WORKS = """
import sys
from outlive.agent.session import Session
from outlive.messages import Text, ToolCall
from outlive.stores import open_stores

store = open_stores(sys.argv[1], durability="process").logs
session = Session.start(store, id="killed", window=24_000, system="You help.", model="m")
session.user_said("Build it.")
session.next_request()
session.assistant_said((Text("I do."), ToolCall("c1", "bash", {"command": "make"})))
print("works", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WebServer]:
    with served(tmp_path) as server:
        yield server


@contextmanager
def served(folder: Path, *options: str) -> Iterator[WebServer]:
    server = WebServer(folder, *options)
    yield server
    server.stop()


class Stream:
    """One stream of a browser; the messages of all topics that were added to it."""

    def __init__(self, server: WebServer, response: httpx2.Response) -> None:
        self._server = server
        self._messages = streamed(response)
        self._id = json.loads(next(self._messages).data)["stream"]

    def change(self, **form: Any) -> httpx2.Response:
        return self._server.post(f"/api/stream/{self._id}", form)

    def next(self, *events: str) -> tuple[str, Any]:
        """The topic and the data of the next message of these kinds."""
        for message in self._messages:
            if message.event in events:
                found = json.loads(message.data)
                return found["topic"], found["data"]
        raise AssertionError("the stream ended")


@contextmanager
def stream(server: WebServer) -> Iterator[Stream]:
    headers = {"Authorization": f"Bearer {server.token}"}
    with httpx2.stream("GET", f"{server.origin}/api/stream", headers=headers, timeout=60) as response:
        yield Stream(server, response)


def test_one_stream_carries_the_changes_of_a_workspace_and_the_log_of_a_session(
    server: WebServer, tmp_path: Path
) -> None:
    talked(tmp_path, 2, "first")
    topic = {"workspace": server.workspace}
    with stream(server) as found:
        log = topic | {"kind": "log", "session": "first", "after": 1}
        assert found.change(add={"changes": topic | {"kind": "changes"}, "log": log}).status_code == 200
        seen = dict([found.next("watching", "grown"), found.next("watching", "grown")])
        assert min(item["id"] for item in seen["log"]["items"]) == 2
        with started(tmp_path, "second") as session:
            answer(session, 0)
            assert found.next("changed") == ("changes", {"what": "sessions", "sessions": ["second"]})
        assert found.change(remove=["log"]).status_code == 200
        assert found.change(add={"nobody": topic | {"kind": "log", "session": "nobody"}}).status_code == 200
        name, refused = found.next("refused")
        assert (name, refused["code"]) == ("nobody", "unknown_session")
        assert found.change(add={"x": 1}).status_code == 400
    assert server.post("/api/stream/nothing", {}).status_code == 404


def test_to_listen_to_an_agent_needs_control(server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 1, "first")
    with stream(server) as found:
        found.change(add={"talk": {"kind": "talk", "workspace": server.workspace, "session": "first"}})
        assert found.next("refused")[1]["code"] == "read_only"


def test_a_killed_agent_is_shown_as_such_without_a_write_to_its_log(engine: Engine, tmp_path: Path) -> None:
    with served(tmp_path, "--store", engine.url) as server:
        arguments = [sys.executable, "-c", WORKS, engine.url]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with (
            stream(server) as found,
            subprocess.Popen(arguments, cwd=tmp_path, env=worker_environment(), **pipes) as agent,
        ):
            assert agent.stdout is not None
            assert agent.stdout.readline() == "works\n"
            found.change(add={"changes": {"kind": "changes", "workspace": server.workspace}})
            found.next("watching")
            assert listed(server)["killed"]["status"] == "working"
            agent.kill()
            agent.wait()  # a process that nobody waited for still has its id
            while "killed" not in found.next("changed")[1].get("sessions", ()):
                pass
            while listed(server)["killed"]["status"] != "interrupted":  # what came before was of its beginning
                found.next("changed")


def listed(server: WebServer, query: str = "") -> dict[str, Any]:
    return {one["info"]["id"]: one["summary"] for one in server.sessions(query)["sessions"]}


def test_the_list_pages_through_any_number_of_sessions_with_their_summaries(
    server: WebServer, tmp_path: Path
) -> None:
    store = store_in(tmp_path)
    for number in range(230):
        events = [SessionStarted(id=1, time=float(number), session=f"s{number}", model="m")]
        said = UserSaid(id=2, time=float(number), blocks=(Text(f"Question {number}", "user"),))
        store.replace(f"s{number}", [*events, said])
    pages = [server.sessions(f"?limit=100&skip={skip}") for skip in (0, 100, 200)]
    assert [page["total"] for page in pages] == [230] * 3
    shown = [one["info"]["id"] for page in pages for one in page["sessions"]]
    assert shown == [f"s{number}" for number in reversed(range(230))]
    assert all(one["summary"]["status"] == "interrupted" for one in pages[0]["sessions"])


def test_a_fork_is_summed_up_with_the_past_that_it_shares(server: WebServer, tmp_path: Path) -> None:
    talked(tmp_path, 6, "source")
    fork(store_in(tmp_path), "source", name="forked")
    found = listed(server)
    forked = next(summary for id, summary in found.items() if id != "source")
    assert forked["title"].startswith("Please go through part 0")
    assert (forked["requests"], forked["cost"]) == (6, pytest.approx(0.06))


def test_requests_are_counted_without_a_report_of_the_provider_and_no_window_is_invented(
    server: WebServer, tmp_path: Path
) -> None:
    with started(tmp_path, "silent") as session:
        session.user_said("Hello")
        session.assistant_said((Text("Hi."),))
    summary = server.json(of(server, "silent", "/summary"))
    assert summary["requests"] == 1
    assert summary["window"] in (0, 24_000)


def test_titles_hold_nothing_that_a_browser_would_obey(server: WebServer, tmp_path: Path) -> None:
    with started(tmp_path, "hostile") as session:
        session.user_said("safe\u202egnp.exe")
    server.sessions()
    answers = [server.get(f"/api/w/{server.workspace}/sessions"), server.get(of(server, "hostile", "/summary"))]
    assert all("\u202e" not in one.text and "safe" in one.text for one in answers)
