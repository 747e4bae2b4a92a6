"""The process that is killed: the real harness, driven by the scripted model."""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec
from msgspec import Struct

from outlive.agent.factory import AgentFactory, AgentOptions
from outlive.cli.agent.headless import run_headless
from outlive.cli.demo.script import PROMPT, REFUSED_AT, answer
from outlive.config import Workspace
from outlive.messages import Message, Text, plain_text, tool_calls
from outlive.models.errors import PromptTooLong
from outlive.models.protocol import Price, Reply, Usage
from outlive.replay.costs import Cache, Texts
from outlive.request import Request
from outlive.stream import ModelStreamEvent, TextDelta
from outlive.testing.scripted import numbered, reply_of

WINDOW = 26_000  # small, so that a short demo fills it
POLICY = "rich,skeleton=0.12,lines=0.1"
"""The default, except that older results shrink before they are folded, so that every rung fires."""
PRICE = Price(3.0, 3.75, 0.3, 15.0)
"""Dollars for a million tokens of a typical model."""


class Sent(Struct, frozen=True):
    text: str
    cost: float


class DemoModel:
    """Plays the script, reports usage like a provider with a cache, and refuses one request as too long, twice."""

    name = "scripted:demo"
    window = WINDOW
    price: Price | None = PRICE

    def __init__(self, record: Path, pace: float = 0.0) -> None:
        """`pace`: seconds before each answer."""
        self._record = record
        self._pace = pace
        self._refusals = [record.with_suffix(f".refused{number}") for number in (1, 2)]
        self._texts = Texts()
        self._cache = Cache()

    async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        await asyncio.sleep(self._pace)
        reply = reply_of(answer(request))
        words = plain_text(reply.blocks)
        pending = [refusal for refusal in self._refusals if not refusal.exists()]
        if words.startswith(f"Step {REFUSED_AT}:") and pending:
            pending[0].touch()
            raise PromptTooLong(f"prompt is too long: {request.tokens + 999} tokens > {WINDOW} maximum", 0, WINDOW)
        blocks = numbered(reply.blocks, os.urandom(4).hex())
        parts = self._texts.request(request)
        used = self._cache.ask(parts, 0.0, self._texts.tokens(Message("assistant", blocks)))
        usage = Usage(0, round(used.written), round(used.read), round(used.output))
        with self._record.open("ab") as file:
            file.write(msgspec.json.encode(Sent("\n".join(parts), PRICE.of(usage))) + b"\n")
        yield TextDelta(words)
        yield Reply(blocks, "tools" if any(tool_calls(blocks)) else "end", usage, self.name)

    async def close(self) -> None:
        """Nothing is open."""


def act(base: Path, session: str | None, pace: float = 0.0) -> int:
    """Run the agent in `base`, in a new or a resumed session; returns the exit code."""
    options = AgentOptions(mode="accept-edits", allow=("bash(*)",), window=WINDOW, policy=POLICY, tools="all")
    factory = AgentFactory(Workspace.read(base / "work"), options, model=DemoModel(base / "requests.jsonl", pace))
    return run_headless(factory.open(session), () if session else (Text(PROMPT, "user"),), "stream-json")
