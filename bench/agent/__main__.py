"""What the harness itself costs a turn: everything between two model calls but the model and the tool.

python -m bench.agent            2,000 turns, each a tool call with about 300 tokens of output
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from msgspec import Struct

from outlive.context.engine import Request
from outlive.live import Arriving
from outlive.messages import Text, ToolCall
from outlive.models.protocol import Price, Reply, Usage
from outlive.session import Session
from outlive.session.agent import Agent, Parts
from outlive.stores import open_log_store, open_task_store
from outlive.tasks.graph import TaskGraph
from outlive.tools.fence import Fence
from outlive.tools.protocol import Desk, Outcome, Tool
from outlive.tools.runner import HookAnswer, Verdict
from outlive.tools.sandbox import Sandbox
from outlive.tools.skills import Skills
from outlive.tools.toolbox import Toolbox

WINDOW = 100_000


class Given(Struct):
    number: int


class Print(Tool[Given]):
    name = "print"
    description = "Print twenty lines."
    input = Given

    async def run(self, given: Given, desk: Desk) -> Outcome:
        return Outcome("\n".join(f"src/module_{given.number}.py:{line}: value_{line * 7}" for line in range(20)))


class Instant:
    """Answers at once, and remembers when it was asked and when it had answered."""

    name = "instant:model"
    window = WINDOW
    price: Price | None = None

    def __init__(self, turns: int) -> None:
        self.turns = turns
        self.asked: list[float] = []
        self.answered: list[float] = []

    async def stream(self, request: Request) -> AsyncGenerator[Arriving | Reply, None]:
        self.asked.append(time.perf_counter())
        number = len(self.asked)
        usage = Usage(input=request.tokens, output=40)
        more = number < self.turns
        block = ToolCall(f"call_{number}", "print", {"number": number}) if more else Text("done")
        self.answered.append(time.perf_counter())
        yield Reply((block,), "tools" if more else "end", usage)

    async def close(self) -> None: ...

    def gaps(self) -> list[float]:
        """Milliseconds from one answer to the next request."""
        return [(b - a) * 1000 for a, b in zip(self.answered, self.asked[1:], strict=False)]


class Free:
    async def allows(self, tool: Tool[Any], given: Struct, desk: Desk) -> Verdict:
        return Verdict(True)

    async def fire(self, event: str, **about: Any) -> HookAnswer:
        return HookAnswer()


def measure(turns: int, durability: str) -> list[float]:
    with tempfile.TemporaryDirectory() as name:
        folder, url = Path(name), f"files:{name}/.tasks"
        model, free = Instant(turns), Free()
        store = open_log_store(url, durability=durability)
        parts = Parts(
            root=folder,
            model=model,
            toolbox=Toolbox([Print()]),
            graph=TaskGraph(open_task_store(url)),
            fence=Fence(folder),
            sandbox=Sandbox(folder),
            skills=Skills(folder),
            gate=free,
            hooks=free,
            system=lambda: "Be brief.",
            limits=lambda _: (),
        )
        agent = Agent(Session.start(store, window=WINDOW, folder=name), parts)

        async def work() -> None:
            await agent.ask("Print them all.")
            await agent.close()

        asyncio.run(work())
        return model.gaps()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=2000)
    turns = parser.parse_args().turns
    print(f"{turns} turns at a window of {WINDOW:,} tokens, milliseconds a turn besides model and tool\n")
    print("| the log is | median | first 200 | last 200 | last / first | mean | worst (a pass) |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for durability, words in (("full", "on disk (fsync)"), ("process", "with the system")):
        gaps = measure(turns, durability)
        first, last = statistics.median(gaps[:200]), statistics.median(gaps[-200:])
        row = [statistics.median(gaps), first, last, last / first, statistics.mean(gaps), max(gaps)]
        print(f"| {words} | " + " | ".join(f"{value:.2f}" for value in row) + " |")


if __name__ == "__main__":
    main()
