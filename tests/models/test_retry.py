"""Trying again and trying elsewhere: through the simulator, with waits that are noted instead of waited."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.messages import Text, ToolCall
from outlive.models.errors import ModelNotSetUp, ModelUnavailable, PromptTooLong
from outlive.models.protocol import Model, Reply
from outlive.models.retry import FALLBACK_SECONDS, MAX_RETRY_AFTER_SECONDS, MAX_RETRY_SECONDS, Fallback, Retrying
from outlive.request import Request
from outlive.stream import ModelRetrying, ModelStreamEvent, TextDelta
from outlive.testing.simulator import Fault, Simulator, call, say
from tests.models.talking import BOTH, Making, ask, asked, asking, claude, gpt, playing


class Naps:
    """A sleep that only notes how long it would have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def patient(model: Model, naps: Naps, attempts: int = 5) -> Retrying:
    return Retrying(model, attempts=attempts, sleep=naps, rng=lambda: 0.0)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize(
    "fault",
    [
        *(Fault.status(code) for code in (429, 500, 503, 529)),
        *(Fault.cut(2), Fault.cut(3, within_line=True), Fault.error_event(2)),
    ],
    ids=lambda fault: f"{fault.name} {fault.code or fault.events}",
)
def test_the_answer_comes_after_what_was_passing(make: Making, fault: Fault) -> None:
    naps = Naps()
    with playing(say("Here.") + call("bash", command="ls")) as sim:
        sim.faults.add(fault, times=3)
        reply, pieces = ask(patient(make(sim), naps), asking())
        assert len(sim.requests) == 4
    assert reply.blocks[0] == Text("Here.")
    assert isinstance(reply.blocks[1], ToolCall)
    waits = [piece for piece in pieces if isinstance(piece, ModelRetrying)]
    assert [wait.attempt for wait in waits] == [1, 2, 3]
    assert [wait.seconds for wait in waits] == naps.seconds == [0.5, 1.0, 2.0]


def test_what_arrived_before_a_wait_is_void() -> None:
    with playing(say("Here it is, in pieces.")) as sim:
        sim.faults.add(Fault.cut(4))
        _, pieces = ask(patient(claude(sim), Naps()), asking())
    place = next(number for number, piece in enumerate(pieces) if isinstance(piece, ModelRetrying))
    after = [piece.text for piece in pieces[place:] if isinstance(piece, TextDelta)]
    assert "".join(after) == "Here it is, in pieces."


def test_retry_after_is_honoured() -> None:
    naps = Naps()
    with playing(say("Yes.")) as sim:
        sim.faults.add(Fault.status(429, retry_after=17))
        ask(patient(claude(sim), naps), asking())
    assert naps.seconds == [17.0]


def test_a_retry_after_that_is_too_long_ends_the_run() -> None:
    naps = Naps()
    with Simulator(script=[]) as sim:
        sim.faults.add(Fault.status(429, retry_after=MAX_RETRY_AFTER_SECONDS + 1))
        with pytest.raises(ModelUnavailable, match="tried once"):
            ask(patient(claude(sim), naps), asking())
    assert naps.seconds == []


def test_after_all_attempts_the_error_comes_out() -> None:
    with Simulator(script=[]) as sim:
        sim.faults.add(Fault.status(529), times=9)
        with pytest.raises(ModelUnavailable, match=r"Overloaded.*tried 3 times"):
            ask(patient(claude(sim), Naps(), attempts=3), asking())
        assert len(sim.requests) == 3


@pytest.mark.parametrize("code", [400, 401, 403])
def test_what_lasts_is_not_tried_again(code: int) -> None:
    naps = Naps()
    with Simulator(script=[]) as sim:
        sim.faults.add(Fault.status(code, message="prompt is too long: 9 tokens > 5 maximum"), times=9)
        with pytest.raises((ModelNotSetUp, PromptTooLong)):
            ask(patient(claude(sim), naps), asking())
        assert len(sim.requests) == 1
    assert naps.seconds == []


@given(st.integers(1, 60), st.floats(0, 1), st.one_of(st.none(), st.floats(0, 10_000)))
def test_waits_are_bounded_and_never_shorter_than_asked(attempt: int, chance: float, asked_for: float | None) -> None:
    with_chance = Retrying(Nothing(), rng=lambda: chance)
    seconds = with_chance._wait(attempt, asked_for)
    if asked_for is None:
        assert min(0.5 * 2.0 ** (attempt - 1), MAX_RETRY_SECONDS / 2) <= seconds <= MAX_RETRY_SECONDS
    else:
        assert asked_for <= seconds <= asked_for + 1


def test_a_retrying_model_is_the_model_that_it_wraps() -> None:
    with Simulator(script=[]) as sim:
        model = claude(sim)
        wrapped = Retrying(model)
        assert (wrapped.name, wrapped.window, wrapped.price) == (model.name, 200_000, model.price)
        asyncio.run(wrapped.close())


def test_closing_ends_the_wait_and_the_call() -> None:
    async def leave(model: Model) -> None:
        async with aclosing(model.stream(asking())) as pieces:
            async for piece in pieces:
                assert isinstance(piece, ModelRetrying)
                break
        await model.close()

    with Simulator(script=[]) as sim:
        sim.faults.add(Fault.status(529), times=9)
        asyncio.run(leave(Retrying(claude(sim))))
        assert len(sim.requests) == 1


# -- elsewhere


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_second_answers_when_the_first_gives_up_and_the_first_rests() -> None:
    clock = Clock()
    with Simulator(brain=lambda request: say(request.model)) as sim:
        sim.faults.add(
            Fault.status(529), when=lambda request: request.provider == "anthropic" and clock.now < FALLBACK_SECONDS
        )
        model = Fallback(patient(claude(sim), Naps(), 2), patient(gpt(sim), Naps()), clock=clock)

        async def thrice() -> list[list[object]]:
            heard: list[list[object]] = []
            for moment in (0.0, 1.0, FALLBACK_SECONDS):
                clock.now = moment
                heard.append([piece async for piece in model.stream(asking())])
                heard[-1].append(model.price)
            await model.close()
            return heard

        first, second, third = asyncio.run(thrice())
        assert [request.model for request in sim.requests] == [
            *("claude-haiku-4-5", "claude-haiku-4-5", "gpt-4.1"),
            "gpt-4.1",
            "claude-haiku-4-5",
        ]
        assert model.name == "anthropic:claude-haiku-4-5"
    notices = [piece for piece in first if isinstance(piece, ModelRetrying)]
    assert notices[-1].seconds == 0
    assert "openai:gpt-4.1 answers instead" in notices[-1].reason
    replies = [next(piece for piece in heard if isinstance(piece, Reply)) for heard in (first, second, third)]
    assert [reply.blocks for reply in replies] == [
        (Text("gpt-4.1"),),
        (Text("gpt-4.1"),),
        (Text("claude-haiku-4-5"),),
    ]
    assert first[-1] == second[-1] != third[-1], "the price is that of the model that answered"


def test_what_is_not_passing_does_not_lead_to_the_second() -> None:
    with Simulator(script=[], window=500) as sim, pytest.raises(PromptTooLong):
        ask(Fallback(claude(sim), gpt(sim)), asking("long " * 2_000))


def test_when_both_fail_the_second_error_comes_out() -> None:
    with Simulator(script=[]) as sim:
        sim.faults.add(Fault.status(529), times=9)
        with pytest.raises(ModelUnavailable, match=r"gpt-4\.1"):
            asyncio.run(asked(Fallback(claude(sim), gpt(sim)), asking()))


class Nothing:
    """A model that is never asked."""

    name = "nothing:at-all"
    window = 0
    price = None

    async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        raise AssertionError
        yield

    async def close(self) -> None:
        pass
