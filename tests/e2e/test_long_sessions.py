"""Sessions far longer than their window: nothing is refused, nothing is lost, nothing is done twice."""

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from outlive.testing import Fault, Simulator
from outlive.testing.simulator.seen import SeenRequest
from tests.e2e.conftest import MODELS, Client
from tests.e2e.worker import DONE, PROMPT, RULES, told, worker
from tests.engines import Engine
from tests.fork_server import Forked

WINDOW = 30_000
ROUNDS = 56
"""About three calls each, so more than 150."""
DEATHS = 6


def rounds(folder: Path) -> list[str]:
    return (folder / "rounds.txt").read_text().splitlines()


def check_requests(sim: Simulator) -> None:
    """Every request was valid, fitted, and held what must never be lost."""
    assert [refusal for refusal in sim.refusals if refusal.body is not None] == []  # None: its client was killed
    assert [path for request in sim.requests for path in request.dropped] == []
    calls: set[str] = set()
    for request in sim.requests:
        calls.update(call.id for call in request.calls())
        for rule in RULES:
            assert rule in request.text, f"request {request.number} lost: {rule}"
        assert PROMPT in "\n".join(request.user_words()), f"request {request.number} lost the user's words"
        check_tasks(request)
    assert len(calls) > 150
    compacted = [request for request in sim.requests if "@h" in request.user_words()[0]]
    assert compacted, "the session never outgrew its window"


def check_tasks(request: SeenRequest) -> None:
    state = told(request)
    if "round 12" in request.text:
        for subject in ("#2 Write the index", "#3 Write the docs"):
            assert subject in state, f"request {request.number} lost the task {subject}"
        assert "#1 Write the parser" not in state or "No longer: #1 Write the parser" in state
        assert "Goal: All rounds done" in state


def check_end(folder: Path, client: Client) -> None:
    assert rounds(folder) == [f"round {number}" for number in range(1, ROUNDS + 1)]
    tasks = json.loads(client("task", "list", "--all", "--json").out)
    assert [(task["id"], task["status"]) for task in tasks] == [(1, "completed"), (2, "pending"), (3, "pending")]
    parts = sorted(path.name for path in (folder / "out").iterdir())
    assert parts == sorted(f"part_{number}.txt" for number in range(7, ROUNDS + 1, 7))


@pytest.mark.parametrize("model", MODELS)
def test_more_than_150_calls_in_a_window_of_30k_whatever_goes_wrong(folder: Path, model: str) -> None:
    with Simulator(brain=worker(ROUNDS), window=WINDOW) as sim:
        soon = Fault.status(429, retry_after=0.01)
        for fault, numbers in (
            (soon, (2, 3, 31)),
            (Fault.status(529), (12,)),
            (Fault.status(500), (20,)),
            (Fault.cut(3), (8, 25)),
            (Fault.cut(5, within_line=True), (16,)),
            (Fault.error_event(2), (28,)),
            (Fault.too_long(29_000, 26_000), (35,)),
            (Fault.empty(), (40,)),
        ):
            sim.faults.add(fault, at=numbers)
        client = Client(folder, sim, model)
        result = client(
            "-p", PROMPT, "--permission-mode", "bypass", "--context-window", str(WINDOW), "--tools", "all"
        )
        assert (result.code, result.out.strip()) == (0, DONE), result.err
        check_requests(sim)
        check_end(folder, client)


def wait_for_work(sim: Simulator, process: Forked) -> None:
    """Until the process has asked for something, however long it takes to start."""
    before = len(sim.requests)
    while len(sim.requests) == before and process.poll() is None:
        time.sleep(0.005)


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_random_and_resumed_it_ends_the_same(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    with Simulator(brain=worker(ROUNDS), window=WINDOW) as sim:
        client = Client(folder, sim)
        options = ("--permission-mode", "bypass", "--context-window", str(WINDOW), "--tools", "all")
        process = client.start("-p", PROMPT, *options)
        for _ in range(DEATHS):
            wait_for_work(sim, process)
            time.sleep(chance.uniform(0.0, 0.8))
            if process.poll() is not None:
                break
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            process = client.start("-p", "", "--continue", *options)
        out, err = process.communicate()
        assert (process.returncode, out.strip()) == (0, DONE), err
        check_requests(sim)
        check_end(folder, client)


def test_sessions_tasks_and_memories_live_in_any_engine(folder: Path, engine: Engine) -> None:
    (folder / "outlive.toml").touch()
    with Simulator(brain=worker(8), window=WINDOW) as sim:
        client = Client(folder, sim)
        client.environment["OUTLIVE_STORE"] = engine.url
        options = ("--permission-mode", "bypass", "--context-window", str(WINDOW), "--tools", "all")
        result = client("-p", PROMPT, *options, "--max-turns", "4")
        assert result.code == 3, result.err
        result = client("-p", "Remember that the rounds are numbered from one.", "--continue", *options)
        assert (result.code, result.out.strip()) == (0, DONE), result.err
        assert rounds(folder) == [f"round {number}" for number in range(1, 9)]
        assert [task["id"] for task in client("task", "list", "--json").json] == [1, 2, 3]
        assert "numbered from one" in client("memory", "list").out
        assert len(client("session", "list", "--json").json) == 1
        assert sim.refusals == []
