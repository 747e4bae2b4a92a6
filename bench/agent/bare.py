"""The loop alone: an agent with one tool of twenty lines, no memory, no masking, nobody to ask."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from msgspec import Struct

from bench.agent.instant import COLUMNS, WINDOW, Instant, row
from outlive.agent import Session
from outlive.agent.parts import AgentParts
from outlive.agent.runtime import Runtime
from outlive.messages import ToolCall
from outlive.stores import open_stores
from outlive.tasks.graph import TaskGraph
from outlive.tools.permissions.fence import Fence
from outlive.tools.permissions.sandbox import Sandbox
from outlive.tools.protocol import Tool, ToolContext, ToolOutcome
from outlive.tools.runner import HookAnswer, Verdict
from outlive.tools.skills import Skills
from outlive.tools.toolbox import Toolbox


class Given(Struct):
    number: int


class Print(Tool[Given]):
    name = "print"
    description = "Print twenty lines."
    input = Given

    async def run(self, given: Given, context: ToolContext) -> ToolOutcome:
        return ToolOutcome("\n".join(f"src/module_{given.number}.py:{line}: value_{line * 7}" for line in range(20)))


class Free:
    async def allows(self, tool: Tool[Any], given: Struct, context: ToolContext) -> Verdict:
        return Verdict(True)

    async def fire(self, event: str, **about: Any) -> HookAnswer:
        return HookAnswer()


def measure(turns: int) -> None:
    print(f"\n### The loop alone, {turns:,} turns, window {WINDOW:,}: milliseconds a turn besides model and tool\n")
    print(f"| the log is | {COLUMNS} |\n| --- |" + " --- |" * 6)
    for durability, words in (("full", "on disk (fsync)"), ("process", "with the system")):
        print(f"| {words} | {row(_gaps(turns, durability))} |", flush=True)


def _gaps(turns: int, durability: str) -> list[float]:
    model = Instant(lambda turn: ToolCall(f"call_{turn}", "print", {"number": turn}) if turn < turns else None)
    with tempfile.TemporaryDirectory() as name:
        folder, url = Path(name), f"files:{name}/.tasks"
        free = Free()
        parts = AgentParts(
            root=folder,
            model=model,
            toolbox=Toolbox([Print()]),
            graph=TaskGraph(open_stores(url).tasks),
            fence=Fence(folder),
            sandbox=Sandbox(folder),
            skills=Skills(folder),
            gate=free,
            hooks=free,
            system=lambda: "Be brief.",
            limits=lambda _: (),
        )
        store = open_stores(url, durability=durability).logs
        agent = Runtime(Session.start(store, window=WINDOW, folder=name), parts)

        async def work() -> None:
            await agent.ask("Print them all.")
            await agent.close()

        asyncio.run(work())
    return [(b - a) * 1000 for a, b in zip(model.answered, model.asked[1:], strict=False)]
