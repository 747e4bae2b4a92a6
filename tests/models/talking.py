"""Requests as the context engine makes them, and one question to a model."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from typing import Any

from outlive.messages import Block, Message, Text, ToolCall, ToolResult
from outlive.models.anthropic.model import AnthropicModel
from outlive.models.openai.model import OpenAIModel
from outlive.models.protocol import Model, Reply
from outlive.request import Request
from outlive.stream import ModelStreamEvent, TextDelta
from outlive.testing.simulator import Simulator

BASH: dict[str, object] = {
    "name": "bash",
    "description": "Run a command.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}
READ: dict[str, object] = {
    "name": "read_file",
    "description": "Read a file.",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
}
TOOLS = (BASH, READ)
CLAUDE, GPT = "claude-haiku-4-5", "gpt-4.1"


def user(*blocks: Block | str) -> Message:
    return Message("user", tuple(Text(block) if isinstance(block, str) else block for block in blocks))


def assistant(*blocks: Block | str) -> Message:
    return Message("assistant", tuple(Text(block) if isinstance(block, str) else block for block in blocks))


def bash(number: int | str, command: str = "ls") -> ToolCall:
    return ToolCall(f"call_{number}", "bash", {"command": command})


def result(number: int | str, text: str = "a.py") -> ToolResult:
    return ToolResult(f"call_{number}", text)


def asking(
    *messages: Message | str, state: str = "", system: str = "You work.", tools: Sequence[dict[str, object]] = TOOLS
) -> Request:
    """A request; the state block is the last text of its last message, as the engine puts it."""
    said = [user(message) if isinstance(message, str) else message for message in messages or ("Hello?",)]
    if state:
        said[-1] = Message("user", (*said[-1].blocks, Text(state)))
    return Request(system, tuple(tools), tuple(said), state, 0)


def ask(model: Model, request: Request) -> tuple[Reply, list[ModelStreamEvent]]:
    """The whole answer, and what arrived before it."""
    return asyncio.run(asked(model, request))


async def asked(model: Model, request: Request) -> tuple[Reply, list[ModelStreamEvent]]:
    pieces: list[ModelStreamEvent] = []
    try:
        async with aclosing(model.stream(request)) as stream:
            async for piece in stream:
                if isinstance(piece, Reply):
                    return piece, pieces
                pieces.append(piece)
    finally:
        await model.close()
    raise AssertionError("there was no reply")


def claude(sim: Simulator, name: str = CLAUDE, **options: Any) -> AnthropicModel:
    return AnthropicModel(name, environment=sim.env(), **options)


def gpt(sim: Simulator, name: str = GPT, **options: Any) -> OpenAIModel:
    return OpenAIModel(name, environment=sim.env(), **options)


Making = Callable[[Simulator], Model]
BOTH: tuple[Making, Making] = (claude, gpt)


def words(pieces: Sequence[ModelStreamEvent]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))


@contextmanager
def playing(*script: Any, **options: Any) -> Iterator[Simulator]:
    """A simulator whose script is played to its end, and which had nothing to refuse."""
    with Simulator(script=list(script), **options) as sim:
        yield sim
        sim.verify()
        assert sim.refusals == []
