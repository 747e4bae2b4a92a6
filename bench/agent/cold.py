"""How long a fresh process takes: to its first request, to its help, to a list, to a find."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.agent.workspace import remember, workspace
from bench.memory.speed import embedded
from outlive.agent import Session
from outlive.memory.memories import Memories
from outlive.memory.search import cache_of, entry_of
from outlive.stores import open_stores
from outlive.testing import Simulator, say
from outlive.testing.simulator.seen import SeenRequest
from outlive.testing.simulator.steps import Step

MODEL = "anthropic:claude-sonnet-4-6"
TIMES = 11
SESSIONS = 30
MANY = 10_000
STAGES = str(Path(__file__).with_name("stages.py"))


def measure(_: int) -> None:
    with workspace(memories=20) as place:
        _first_request(place.root)
        _processor(place.root)
        _commands(place.root)
    with workspace(memories=0) as place:
        _searches(place.root)


def _first_request(root: Path) -> None:
    """The command line against a server on this machine, and the same in stages."""
    arrived: list[float] = []

    def answer(request: SeenRequest) -> Step:
        arrived.append(time.monotonic())
        return say("hello")

    with Simulator(brain=answer) as server:
        environment = {**os.environ, **server.env()}
        whole = []
        stages: dict[str, list[float]] = {}
        for _ in range(TIMES):
            began = time.monotonic()
            _run(["-m", "outlive", "-p", "hello", "--model", MODEL], root, environment)
            whole.append(arrived[-1] - began)
            before = time.monotonic()
            marks = json.loads(_run([STAGES, MODEL], root, environment))
            for name, at in (*marks, ("prompt to request", arrived[-1])):
                stages.setdefault(name, []).append(at - before)
                before = at
    print("\n### A cold start: milliseconds to the first request of `outlive -p` (median)\n")
    table = {"all": whole, **stages}
    print("| " + " | ".join(table) + " |\n|" + " --- |" * len(table))
    print("| " + " | ".join(f"{1000 * statistics.median(taken):.0f}" for taken in table.values()) + " |", flush=True)


def _processor(root: Path) -> None:
    """The same as CPU time, user and system, which other work on the machine changes less, and what takes it."""
    with Simulator(brain=lambda _: say("hello")) as server:
        environment = {**os.environ, **server.env()}
        ours = "import outlive.cli.app, outlive.cli.agent.headless, outlive.cli.agent.start"
        runs = {
            "python -c pass": ["-c", "pass"],
            "import httpx2": ["-c", "import httpx2"],
            "import openai": ["-c", "import openai"],
            "our modules": ["-c", ours],
            "outlive -p hi, Claude": ["-m", "outlive", "-p", "hi", "--model", MODEL],
            "outlive -p hi, OpenAI": ["-m", "outlive", "-p", "hi", "--model", "openai:gpt-5"],
        }
        best: dict[str, float] = {}
        for _ in range(TIMES):
            for name, words in runs.items():
                taken = _cpu(words, root, environment)
                best[name] = min(taken, best.get(name, taken))
    print(f"\n### The same: milliseconds of CPU (best of {TIMES}, alternating)\n")
    print("| " + " | ".join(best) + " |\n|" + " --- |" * len(best))
    print("| " + " | ".join(f"{1000 * taken:.0f}" for taken in best.values()) + " |", flush=True)


def _cpu(words: Sequence[str], root: Path, environment: Mapping[str, str]) -> float:
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, *words], cwd=root, env=environment, stdin=quiet, stdout=quiet, stderr=quiet
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{words} failed")
    return used.ru_utime + used.ru_stime


def _commands(root: Path) -> None:
    store = open_stores("files:.tasks", base=root, durability="process").logs
    for number in range(SESSIONS):
        with Session.start(store, folder=str(root)) as session:
            session.user_said(f"Piece of work number {number}")
    print(f"\n### Other commands, cold: milliseconds (median); {SESSIONS} sessions\n")
    print("| command | time |\n| --- | --- |")
    _timed("python -c pass", ["-c", "pass"], root)
    for words in (["--help"], ["session", "list"], ["task", "ready"]):
        _timed(f"outlive {' '.join(words)}", ["-m", "outlive", *words], root)


def _searches(root: Path) -> None:
    remember(root, MANY)
    _embed(root)
    print(f"\n### `outlive memory search`, cold: milliseconds (median); {MANY:,} memories\n")
    print("| command | time |\n| --- | --- |")
    for way in ("--no-dense", "--dense"):
        words = ["-m", "outlive", "memory", "search", way, "-k", "5", "which of these does the user prefer"]
        _run(words, root)  # writes the index
        _timed(f"outlive memory search {way}", words, root)


def _embed(root: Path) -> None:
    """Made-up vectors in the cache: real ones would take minutes, and a search does not care."""
    memories = Memories.open("files:.tasks", base=root)
    cache = cache_of(memories)
    if cache is not None:
        embedded([entry_of(memory) for memory in memories.all()], cache)
    memories.close()


def _timed(name: str, words: Sequence[str], root: Path) -> None:
    print(f"| {name} | {1000 * _median(lambda: _run(words, root)):.0f} |", flush=True)


def _median(action: Callable[[], object]) -> float:
    taken = []
    for _ in range(TIMES):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _run(words: Sequence[str], root: Path, environment: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=root,
        env=environment or dict(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout
