"""The simulator as a process, and what it leaves behind: nothing."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from outlive.testing import Fault, Simulator, say
from outlive.testing.simulator import SeenRequest, Step
from tests.engines import worker_environment
from tests.testing.simulator.talking import ask_claude, claude, send, user

BRAIN = """
from outlive.testing import say

def answer(request):
    return say(f"turn {len(request.messages)}")
"""


def simulate(folder: Path, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    """A simulator of its own, and where it listens."""
    command = [sys.executable, "-m", "outlive.testing.simulator", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=worker_environment()
    )
    assert process.stdout is not None
    lines = [process.stdout.readline().strip() for _ in range(4)]
    given = dict(line.removeprefix("export ").split("=", 1) for line in lines)
    assert given["OPENAI_BASE_URL"] == given["ANTHROPIC_BASE_URL"] + "/v1"
    return process, given["ANTHROPIC_BASE_URL"]


class Elsewhere(Simulator):
    """Only an address: the simulator runs in another process."""

    def __init__(self, url: str) -> None:
        super().__init__(port=int(url.rsplit(":", 1)[1]))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_a_brain_until_it_is_interrupted(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "mine.py").write_text(BRAIN)
    process, url = simulate(tmp_path, "--brain", "mine:answer", "--window", "1000")
    there = Elsewhere(url)
    assert ask_claude(there, claude(user("x"))).body["content"][0]["text"] == "turn 1"
    assert "tokens > 1000 maximum" in ask_claude(there, claude(user("x" * 4000))).error["message"]
    process.send_signal(number)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (0, "")
    assert err.startswith("1 requests, 1 refused\n  400 /v1/messages: prompt is too long")


def test_a_script_that_was_not_played_ends_with_one(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text(json.dumps([[{"say": "one"}], [{"say": "two"}]]))
    process, url = simulate(tmp_path, "--script", "script.json")
    assert ask_claude(Elsewhere(url), claude()).body["content"][0]["text"] == "one"
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "not played: step 2: say('two')" in err


@pytest.mark.parametrize("wrong", [("--brain", "nowhere"), ("--brain", "nowhere:x"), ("--script", "missing.json")])
def test_what_cannot_be_loaded_is_said(tmp_path: Path, wrong: tuple[str, str]) -> None:
    command = [sys.executable, "-m", "outlive.testing.simulator", *wrong]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=worker_environment(), timeout=300)
    assert run.returncode == 2
    assert run.stderr.startswith("simulator: ")
    assert "Traceback" not in run.stderr


def test_it_needs_neither_pytest_nor_the_sdks() -> None:
    code = """
import sys
for name in ("pytest", "anthropic", "openai", "hypothesis"):
    sys.modules[name] = None
from outlive.testing import Fault, Simulator, call, calls, say, think
with Simulator(script=[]) as sim:
    print(sim.url)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=worker_environment())
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("http://127.0.0.1:")


def open_sockets() -> int:
    descriptors = Path("/proc/self/fd")
    return sum(os.path.islink(one) and os.readlink(one).startswith("socket:") for one in descriptors.iterdir())


def test_closing_leaves_no_thread_and_no_socket() -> None:
    asked = threading.Event()

    def brain(request: SeenRequest) -> Step:
        asked.set()
        return say("slow " * 50)

    def wait_for_ever() -> None:
        with pytest.raises((http.client.HTTPException, OSError)):
            ask_claude(sim, claude(stream=True))

    before = threading.active_count(), open_sockets()
    with Simulator(brain=brain) as sim:
        sim.faults.add(Fault.slow(30))
        waiting = threading.Thread(target=wait_for_ever)
        idle = http.client.HTTPConnection(sim.url.removeprefix("http://"), timeout=300)
        idle.connect()
        waiting.start()
        asked.wait(300)
    waiting.join()
    idle.close()
    assert (threading.active_count(), open_sockets()) == before


def test_it_can_be_started_again_where_it_was() -> None:
    sim = Simulator(brain=lambda request: say("x"))
    with pytest.raises(RuntimeError, match="before it is started"):
        _ = sim.url
    sim.close()
    with sim:
        url = sim.url
        assert ask_claude(sim, claude()).status == 200
    with sim:
        assert sim.url == url
        assert ask_claude(sim, claude()).status == 200
    assert len(sim.requests) == 2


def test_a_connection_serves_several_requests() -> None:
    with Simulator(brain=lambda request: say("x")) as sim:
        connection = http.client.HTTPConnection(sim.url.removeprefix("http://"), timeout=300)
        for _ in range(3):
            headers = {"x-api-key": "test-key", "anthropic-version": "2026-10-21"}
            connection.request("POST", "/v1/messages", json.dumps(claude(stream=True)), headers)
            reply = connection.getresponse()
            assert (reply.status, b"message_stop" in reply.read()) == (200, True)
        connection.close()
        assert send(sim, "/nowhere", b"{}", {"authorization": "Bearer test-key"}).status == 404


def test_a_client_that_goes_away_in_the_middle_harms_nobody() -> None:
    with Simulator(script=[say("slow " * 500), say("next")]) as sim:
        sim.faults.add(Fault.slow(0.005), at=1)
        host, port = sim.url.removeprefix("http://").split(":")
        body = json.dumps(claude(stream=True)).encode()
        head = "POST /v1/messages HTTP/1.1\r\nx-api-key: test-key\r\nanthropic-version: 2026-10-21\r\n"
        with socket.create_connection((host, int(port)), timeout=300) as client:
            client.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            assert client.recv(100).startswith(b"HTTP/1.1 200")
        assert ask_claude(sim, claude()).body["content"][0]["text"] == "next"
        sim.verify()


@pytest.mark.parametrize("length", ["content-length: -1", "content-length: many", "transfer-encoding: chunked"])
def test_a_body_of_unknown_length_is_not_waited_for(length: str) -> None:
    with Simulator(script=[]) as sim:
        host, port = sim.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=300) as client:
            client.sendall(f"POST /v1/messages HTTP/1.1\r\n{length}\r\n\r\n".encode())
            assert client.recv(100).startswith(b"HTTP/1.1 411")
