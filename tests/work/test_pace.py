"""A provider that asks one worker to slow down slows all of them; other trouble slows nobody."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from outlive.messages import Message, Text
from outlive.models.protocol import Reply
from outlive.request import Request
from outlive.stores import open_stores
from outlive.stream import ModelRetrying, ModelStreamEvent
from outlive.testing import Clock, ScriptedModel, say
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.pace import EASE_AFTER_SECONDS, MAX_INTERVAL, PacedModel
from outlive.work.shared.records import Pace

REQUEST = Request("", (), (Message("user", (Text("hello"),)),), "", 10)


class Troubled(ScriptedModel):
    """Retries once before each answer."""

    def __init__(self, *, overloaded: bool, name: str = "scripted:model") -> None:
        super().__init__([say("ok")] * 100, name=name)
        self.overloaded = overloaded

    async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        yield ModelRetrying("trouble", 10.0, 1, overloaded=self.overloaded)
        async for piece in super().stream(request):
            yield piece


@pytest.fixture
def board(tmp_path: Path, clock: Clock) -> Iterator[FleetBoard]:
    with open_stores(f"sqlite:///{tmp_path / 'store.db'}", durability="process", clock=clock) as stores:
        yield FleetBoard(stores.fleet)


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that requests have waited."""
    naps: list[float] = []

    async def sleep(seconds: float) -> None:
        naps.append(seconds)

    monkeypatch.setattr("outlive.work.shared.pace.asyncio.sleep", sleep)
    return naps


def ask(model: PacedModel) -> list[ModelStreamEvent | Reply]:
    async def collect() -> list[ModelStreamEvent | Reply]:
        return [piece async for piece in model.stream(REQUEST)]

    return asyncio.run(collect())


def waits(board: FleetBoard, name: str = "scripted:other", times: int = 1) -> list[float]:
    """The waits that further requests are told."""
    model = PacedModel(ScriptedModel([say("ok")] * times, name=name), board)
    found = [ask(model) for _ in range(times)]
    return [sum(piece.seconds for piece in pieces if isinstance(piece, ModelRetrying)) for pieces in found]


def test_an_overloaded_provider_slows_everybody(board: FleetBoard, naps: list[float]) -> None:
    assert waits(board) == [0.0]
    ask(PacedModel(Troubled(overloaded=True), board))
    first, second, third = waits(board, times=3)
    assert 9.0 <= first <= 11.0
    assert second - first == third - second == pytest.approx(0.25), "one after the other"
    assert naps == pytest.approx([first, second, third], abs=0.001)
    assert waits(board, "elsewhere:model") == [0.0], "another provider has said nothing"


def test_other_trouble_slows_nobody(board: FleetBoard, naps: list[float]) -> None:
    ask(PacedModel(Troubled(overloaded=False), board))
    assert waits(board) == [0.0]
    assert board.all(Pace) == {}


def test_the_pace_goes_down_while_it_is_refused_and_up_again_afterwards(
    board: FleetBoard, naps: list[float], clock: Clock
) -> None:
    slow = PacedModel(Troubled(overloaded=True), board)
    for _ in range(12):
        ask(slow)
    assert board.all(Pace)["scripted"].interval == MAX_INTERVAL
    clock.advance(hours=1)
    for _ in range(20):
        waits(board)
        clock.advance(seconds=EASE_AFTER_SECONDS + 60)
    assert waits(board) == [0.0]
    assert board.all(Pace) == {}


def test_a_pause_that_a_wrong_clock_set_is_bounded(board: FleetBoard, naps: list[float], clock: Clock) -> None:
    clock.advance(days=400)
    ask(PacedModel(Troubled(overloaded=True), board))
    clock.advance(days=-400)
    assert waits(board) == [300.0]
