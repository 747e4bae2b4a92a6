"""200 turns with thinking on, on a model that binds thinking to what stood before: what the provider says to it.

Side by side with the form that puts the state block into the last message only, so that it is gone from the next
request; both agents do the same work against the simulator, which enforces what the API enforces.
"""

import asyncio
import random
from collections.abc import AsyncGenerator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace

from outlive import Agent, tool
from outlive.agent.parts import Summaries
from outlive.messages import Message, Text
from outlive.models.anthropic.model import AnthropicModel
from outlive.models.protocol import Reply
from outlive.request import STATE_START, Request
from outlive.stream import ModelStreamEvent
from outlive.testing import Simulator, call, say, think
from outlive.testing.simulator import SeenRequest, Step

MODEL = "claude-sonnet-5-5"
WINDOW = 100_000
STEPS = 12
WRITE, READ, OUTPUT = 1.25, 0.1, 5.0


@tool
async def look(part: int) -> str:
    """Look at a part of the thing."""
    rows = random.Random(part)
    return "\n".join(f"row_{part}_{row} = {rows.randrange(10**9)}  # of section {part % 7}" for row in range(60))


class Moved(AnthropicModel):
    """The form of before: the whole state block at the end of each request, and nowhere else."""

    def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        messages = [self._without(message) for message in request.messages]
        if request.state_block:
            last = messages[-1]
            messages[-1] = Message("user", (*last.blocks, Text(request.state_block)))
        return super().stream(replace(request, messages=tuple(messages)))

    @staticmethod
    def _without(message: Message) -> Message:
        kept = [b for b in message.blocks if not (isinstance(b, Text) and b.text.startswith(STATE_START))]
        return Message(message.role, tuple(kept))


class Brain:
    """Thinks, looks at the next part, and keeps its plan up to date."""

    def __init__(self, turns: int) -> None:
        self.turns = turns
        self.asked = 0

    def __call__(self, request: SeenRequest) -> Step:
        if "look" not in request.tools:
            return say('{"memories": []}')
        self.asked += 1
        thought = think(f"Part {self.asked} comes next, then I compare it with the one before. " * 4)
        if self.asked > self.turns:
            return thought + say("All of it is done.")
        if self.asked == 1:
            return thought + call("update_plan", steps=[f"section {n}" for n in range(STEPS)], current_step=1)
        if self.asked % (self.turns // STEPS) == 0:
            return thought + call("update_plan", done=[self.asked * STEPS // self.turns])
        return thought + call("look", part=self.asked)


async def work(kind: type[AnthropicModel], turns: int, summary: Summaries = "asked") -> Simulator:
    with TemporaryDirectory() as name, Simulator(brain=Brain(turns), window=WINDOW) as sim:
        model = kind(MODEL, environment=sim.env())
        prompt = "Never write to disk. Always name the section. Go through all parts, one after the other."
        options: dict[str, Any] = {"mode": "bypass", "window": WINDOW, "max_turns": turns + 50, "summary": summary}
        async with Agent(Path(name), model=model, tools=[look], **options) as agent:
            await agent.run(prompt)
        await model.close()
    return sim


def told(name: str, sim: Simulator) -> str:
    asked = [request for request in sim.requests if "look" in request.tools]
    used = [request.usage for request in asked if request.usage and not request.compacts]
    summaries = [request.usage for request in asked if request.usage and request.compacts]
    between = [(now, was) for was, now in pairwise(used) if now.prompt >= was.prompt]
    share = sum(now.cache_read for now, _ in between) / sum(now.prompt for now, _ in between)
    again = sum(max(0, was.prompt - now.cache_read) for now, was in between)
    cost = sum(
        one.input + WRITE * one.cache_write + READ * one.cache_read + OUTPUT * one.output
        for one in [*used, *summaries]
    )
    dropped = sum(len(request.dropped) for request in asked)
    passes = len(used) - 1 - len(between)
    facts = [
        len(used),
        len(sim.refusals),
        dropped,
        f"{share:.1%}",
        f"{again / 1000:,.0f}k",
        passes,
        f"{cost / 1000:,.0f}k",
    ]
    return f"| {name} | " + " | ".join(map(str, facts)) + " |"


def measure(turns: int) -> None:
    turns = min(turns, 200)
    print(f"\n{turns} turns with thinking on {MODEL}, window {WINDOW:,}\n")
    print(
        "| state block | requests | refused | thinking dropped | read from the cache between passes | "
        "sent before and not read | passes | cost |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, kind in (("in the last message only", Moved), ("part of the conversation", AnthropicModel)):
        print(told(name, asyncio.run(work(kind, turns))))
    print(told("the same, summaries by the provider", asyncio.run(work(AnthropicModel, turns, "provider"))))
