"""The agent as the command line opens it: masking, permissions, memory, real tools with results of 5 to 30 KB."""

import asyncio
import statistics
import time
from typing import Any

from bench.agent.instant import COLUMNS, WINDOW, Instant, row
from bench.agent.workspace import MEMORIES, PROMPTS, call_for, workspace
from outlive.agent.factory import AgentFactory, AgentOptions
from outlive.agent.runtime import Runtime
from outlive.config import Workspace

RUN = 100
"""Turns between two prompts of the user."""


class Timed:
    """Seconds in tools, so that they can be taken off."""

    def __init__(self, agent: Runtime) -> None:
        self.spent = 0.0
        for tool in agent.parts.toolbox:
            tool.run = self._timed(tool.run)  # type: ignore[method-assign]

    def _timed(self, run: Any) -> Any:
        async def timed(given: Any, context: Any) -> Any:
            began = time.perf_counter()
            try:
                return await run(given, context)
            finally:
                self.spent += time.perf_counter() - began

        return timed


class Watched(Instant):
    """Notes after each turn what the harness took of it."""

    def __init__(self) -> None:
        super().__init__(lambda turn: call_for(turn) if turn % RUN else None)
        self.tools: Timed | None = None
        self.turns: list[float] = []

    async def stream(self, request: Any) -> Any:
        if request.system:
            spent = self.tools.spent if self.tools else 0.0
            if self.turn % RUN:
                self.turns.append((time.perf_counter() - self.answered[-1] - spent) * 1000)
            if self.tools:
                self.tools.spent = 0.0
        async for piece in super().stream(request):
            yield piece


def measure(turns: int) -> None:
    print(f"\n### As it is used, {turns:,} turns, window {WINDOW:,}, {MEMORIES} memories: milliseconds a turn\n")
    print(f"| the log is | {COLUMNS} |\n| --- |" + " --- |" * 6)
    ends = []
    for durability, words in (("full", "on disk (fsync)"), ("process", "with the system")):
        with workspace(durability=durability) as place:
            model, before = Watched(), _memory()
            session, prompts = asyncio.run(_work(place, model, turns))
            print(f"| {words} | {row(model.turns)} |", flush=True)
            ends.append((words, prompts, before, _memory(), _resumed(place, session)))
    print("\n| the log is | words to request, first | last | MB before | MB after | resume, s | of it the log |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for words, prompts, before, after, (whole, reading) in ends:
        first, last = statistics.median(prompts[1:4]), statistics.median(prompts[-3:])
        print(f"| {words} | {first:.1f} | {last:.1f} | {before:.0f} | {after:.0f} | {whole:.2f} | {reading:.2f} |")


async def _work(place: Workspace, model: Watched, turns: int) -> tuple[str, list[float]]:
    """The whole session; its name, and the milliseconds from each prompt to its first request."""
    factory = AgentFactory(place, AgentOptions(mode="bypass"), model=model)
    agent = factory.open()
    model.tools = Timed(agent)
    prompts = []
    for number in range(turns // RUN):
        said, count = time.perf_counter(), len(model.asked)
        ending = await agent.ask(f"{PROMPTS[number % len(PROMPTS)]} This is round {number}.")
        if ending.stop_reason != "done":
            raise SystemExit(f"the run ended by {ending.stop_reason}: {ending.detail}")
        prompts.append((model.asked[count] - said) * 1000)
    await agent.close()
    factory.close()
    return agent.session.id, prompts


def _resumed(place: Workspace, session: str) -> tuple[float, float]:
    """Seconds until a resumed session can ask its model, and those of reading the log."""
    whole, reading = [], []
    for _ in range(3):
        began = time.perf_counter()
        factory = AgentFactory(place, AgentOptions(mode="bypass"), model=Watched())
        agent = factory.open(session)
        agent.session.next_request()
        whole.append(time.perf_counter() - began)
        asyncio.run(agent.close())
        began = time.perf_counter()
        factory.logs.read(session)
        reading.append(time.perf_counter() - began)
        factory.close()
    return statistics.median(whole), statistics.median(reading)


def _memory() -> float:
    """Megabytes of this process, now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20
