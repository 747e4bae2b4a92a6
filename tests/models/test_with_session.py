"""Real sessions, compacted many times, through both SDKs: nothing is refused, and the cache is read."""

import asyncio
from itertools import count
from pathlib import Path
from random import Random

import pytest

from outlive.agent import Session
from outlive.events import Compacted, UsageReported
from outlive.messages import tool_calls
from outlive.models.anthropic.model import AnthropicModel
from outlive.models.errors import PromptTooLong
from outlive.models.openai.model import OpenAIModel
from outlive.models.protocol import Reply, Usage
from outlive.models.retry import Retrying
from outlive.stores.logs.files import FileLogStore
from outlive.testing.simulator import Fault, SeenRequest, Simulator, Step, call, calls, say, think
from tests.models.talking import TOOLS, Making, claude, gpt
from tests.talk import Ticks, file_text

TURNS, WINDOW = 60, 16_000
WORDS = "Read every module. Never touch generated files."


def reader(request: SeenRequest) -> Step:
    """Thinks, says something and reads one to three files, until there were enough of them."""
    number = len(request.results())
    reads = [call("read_file", path=f"src/module_{number + one}.py") for one in range(1 + request.number % 3)]
    return think(f"Module {number} comes next.") + say(f"I read on at {number}.") + calls(reads)


async def work(session: Session, model: Retrying) -> list[Usage]:
    """The loop in short: ask, answer the calls, and go on."""
    used: list[Usage] = []
    for number in range(TURNS):
        if number % 15 == 0:
            session.user_said(WORDS)
        reply = await ask(session, model)
        said = session.assistant_said(reply.blocks, model=reply.model)
        session.log(
            UsageReported,
            of=said.id,
            input=reply.usage.input,
            cache_write=reply.usage.cache_write,
            cache_read=reply.usage.cache_read,
            output=reply.usage.output,
        )
        for place, made in enumerate(tool_calls(reply.blocks)):
            session.tool_finished(made.id, file_text(number * 3 + place, lines=20), is_error=place == 2)
        used.append(reply.usage)
    await model.close()
    return used


async def ask(session: Session, model: Retrying) -> Reply:
    while True:
        request = session.next_request()
        try:
            pieces = [piece async for piece in model.stream(request)]
        except PromptTooLong as error:
            session.too_long(error.actual, error.limit)
            continue
        assert isinstance(pieces[-1], Reply)
        return pieces[-1]


def thinking_claude(sim: Simulator) -> AnthropicModel:
    return claude(sim, "claude-opus-5", thinking=2_000)


def reasoning_gpt(sim: Simulator) -> OpenAIModel:
    return gpt(sim, "gpt-5.4", responses=True)


def newest_gpt(sim: Simulator) -> OpenAIModel:
    return gpt(sim, "gpt-6-astra", responses=True)


MAKERS = {
    "claude": claude,
    "thinking": thinking_claude,
    "gpt": gpt,
    "reasoning_gpt": reasoning_gpt,
    "newest_gpt": newest_gpt,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("faulty", [False, True], ids=["well", "faulty"])
def test_a_long_session_is_never_refused(tmp_path: Path, make: Making, faulty: bool) -> None:
    chance = Random(7)
    faults = [
        Fault.status(429),
        Fault.status(529),
        Fault.cut(3),
        Fault.cut(2, within_line=True),
        Fault.error_event(4),
    ]
    numbers = count()

    async def no_wait(seconds: float) -> None:
        next(numbers)

    with Simulator(brain=reader) as sim:
        if faulty:
            for number in range(1, TURNS * 2, 4):
                sim.faults.add(chance.choice(faults), at=number)
            sim.faults.add(Fault.too_long(14_000, 12_000), at=22)
        store = FileLogStore(tmp_path, durability="process")
        session = Session.start(store, system="You read.", tools=TOOLS, window=WINDOW, clock=Ticks())
        used = asyncio.run(work(session, Retrying(make(sim), sleep=no_wait)))
        assert sum(isinstance(event, Compacted) for event in session.events) > 2
        session.close()
        assert sim.refusals == []
        assert all(WORDS in request.text for request in sim.requests)
        assert not any("block of openai" in request.text for request in sim.requests), "no handles of encrypted text"
        if faulty:
            assert next(numbers) > 10
    read = sum(usage.cache_read for usage in used)
    prompt = read + sum(usage.cache_write + usage.input for usage in used)
    assert read / prompt > 0.75, "most of what is sent was sent before"
