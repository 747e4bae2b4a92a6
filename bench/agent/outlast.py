"""A long session at a small window that is killed again and again: what is lost, and what grows.

A worker process works through the turns; it is killed (SIGKILL) at random moments and restarted on the same session.
Its model decides from the request alone, as the one of the tests does, so that nothing but the log carries the work.
"""

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

from bench.agent.workspace import path_of, workspace
from outlive.agent.factory import AgentFactory, AgentOptions
from outlive.config import Workspace
from outlive.events import AssistantSaid, Event, ToolFinished
from outlive.messages import Text, ToolCall, ToolResult, tool_calls
from outlive.models.protocol import Price, Reply, Usage
from outlive.request import Request
from outlive.stores import open_stores
from outlive.stores.logs.reading import full_log
from outlive.stream import ModelStreamEvent

WINDOW = 60_000
DEATHS = 20
LOOK = "tail -n 1 rounds.txt 2>/dev/null || echo round 0"
_ROUND = re.compile(r"^\s*round (\d+)$", re.MULTILINE)


class Worker:
    """Writes one line a round; looks where it is when it does not know."""

    name = "instant:worker"
    window = WINDOW
    price: Price | None = None

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.made = int(time.time() * 1000) % 10**9

    async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        size = sum(len(getattr(block, "text", "")) for message in request.messages for block in message.blocks)
        call = self._next(request) if request.system else None
        words = "All rounds are done." if request.system else '{"memories": []}'
        usage = Usage(input=(len(request.system) + 9_000 + size) // 3, output=40)
        yield Reply((call or Text(words),), "tools" if call else "end", usage)

    async def close(self) -> None: ...

    def _next(self, request: Request) -> ToolCall | None:
        results = [block for block in request.messages[-1].blocks if isinstance(block, ToolResult)]
        self.made += 1
        id = f"call_{self.made}"
        found = _ROUND.search(results[0].text) if results else None
        if found is None:
            return ToolCall(id, "bash", {"command": LOOK})
        number = int(found[1]) + 1
        if number > self.rounds:
            return None
        trace = f"echo 'round {number}' | tee -a rounds.txt; cat {path_of(number)}"
        return ToolCall(id, "bash", {"command": trace})


def measure(turns: int) -> None:
    """One process for long; then one that is killed and restarted until the work is done: what is left?"""
    print(f"\n### {turns:,} turns at a window of {WINDOW:,} tokens in one process\n")
    with workspace(durability="process", memories=20) as place:
        _growth(place, turns)
    chance = random.Random(turns)
    with workspace(durability="full", memories=20) as place:
        began, deaths, acknowledged = time.monotonic(), 0, Path(place.root.parent / "acknowledged")
        while True:
            worker = _begin(place.root, turns, acknowledged)
            if deaths < DEATHS and _killed(worker, acknowledged, chance, turns / 1000):
                deaths += 1
                continue
            said = worker.communicate()
            if worker.returncode:
                raise SystemExit(said[1])
            break
        print(f"\n### The same, killed {deaths} times\n")
        for line in _checked(place, turns, acknowledged):
            print(f"- {line}")
        print(f"- took {time.monotonic() - began:.0f} s")


def _begin(root: Path, turns: int, acknowledged: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "bench.agent.outlast", str(root), str(turns), str(acknowledged)]
    place = Path(__file__).parents[2]
    return subprocess.Popen(
        command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def _killed(worker: "subprocess.Popen[str]", acknowledged: Path, chance: random.Random, seconds: float) -> bool:
    """Let it get to work, then end it at a moment that nobody chose; False when it was done before."""
    size = acknowledged.stat().st_size if acknowledged.exists() else 0
    while worker.poll() is None and (not acknowledged.exists() or acknowledged.stat().st_size == size):
        time.sleep(0.005)
    time.sleep(chance.uniform(0.0, seconds))
    if worker.poll() is not None:
        return False
    os.killpg(worker.pid, signal.SIGKILL)
    worker.communicate()
    return True


def _checked(place: Workspace, turns: int, acknowledged: Path) -> list[str]:
    """What the log says against what was acknowledged and what is on disk."""
    store = open_stores(place.store_url, base=place.root).logs
    (info,) = store.sessions()
    log = full_log(store, info.id)
    ids = [event.id for event in log.events]
    told = list(map(int, acknowledged.read_text().split()))
    rounds = (place.root / "rounds.txt").read_text().splitlines()
    calls = [c.id for e in log.events if isinstance(e, AssistantSaid) for c in tool_calls(e.blocks)]
    answers = [event.call_id for event in log.events if isinstance(event, ToolFinished)]
    checks: dict[str, Callable[[], bool]] = {
        "every event that was acknowledged is in the log": lambda: set(told) <= set(ids),
        "events are numbered without a gap or a double": lambda: ids == list(range(1, len(ids) + 1)),
        "every call has exactly one answer": lambda: sorted(calls) == sorted(answers),
        "every round was done once, in order": lambda: rounds == [f"round {n}" for n in range(1, turns + 1)],
    }
    failed = [words for words, check in checks.items() if not check()]
    if failed:
        raise SystemExit(f"{place.root}: not true: {'; '.join(failed)}")
    torn = f"{len(log.damage)} lines torn by a death, each named" if log.damage else "no line torn"
    return [f"the log: {len(ids):,} events, {info.size / 2**20:.1f} MB, {torn}", *checks]


def _growth(place: Workspace, turns: int) -> None:
    """Descriptors, threads and memory as the session grows."""
    rows: list[tuple[int, int, int, float]] = []
    turn = 0

    def saw(happened: Any) -> None:
        nonlocal turn
        if isinstance(happened, AssistantSaid):
            turn += 1
            if turn == 20 or turn % max(turns // 4, 1) == 0:
                rows.append((turn, len(os.listdir("/proc/self/fd")), threading.active_count(), _megabytes()))

    asyncio.run(_work(place, turns, saw))
    print("| turn | open files | threads | MB |\n| --- | --- | --- | --- |")
    for number, files, threads, size in rows:
        print(f"| {number:,} | {files} | {threads} | {size:.0f} |")
    first, last = rows[0], rows[-1]
    print(f"\nMemory for a thousand turns: {(last[3] - first[3]) / (last[0] - first[0]) * 1000:.0f} MB")
    if last[1] > first[1] + 2 or last[2] > first[2] + 2:
        raise SystemExit("files or threads are left behind")


async def _work(place: Workspace, turns: int, watcher: Callable[[Any], None]) -> None:
    factory = AgentFactory(place, AgentOptions(mode="bypass", window=WINDOW), model=Worker(turns))
    newest = next(iter(factory.logs.sessions()), None)
    agent = factory.open(newest.id if newest else None)
    agent.watch(watcher)
    ending = await (agent.go_on() if newest and agent.unfinished else agent.ask("Work through all the rounds."))
    if ending.stop_reason != "done":
        raise SystemExit(f"it ended by {ending.stop_reason}: {ending.detail}")
    await agent.close()
    factory.close()


def _megabytes() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20


def main() -> None:
    """The worker process: says which events it was told are on disk."""
    root, turns, acknowledged = sys.argv[1:]
    with open(acknowledged, "a", buffering=1) as file:

        def saw(happened: Any) -> None:
            if isinstance(happened, Event):
                file.write(f"{happened.id}\n")

        asyncio.run(_work(Workspace.find(Path(root)), int(turns), saw))
    print(json.dumps({"done": True}))


if __name__ == "__main__":
    main()
