"""A provider that asks one worker to slow down slows all of them."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime, timedelta

from msgspec.structs import replace

from outlive.models.protocol import Model, Reply
from outlive.models.retry import MAX_RETRY_AFTER_SECONDS
from outlive.models.wrapped import WrappedModel
from outlive.request import Request
from outlive.stream import ModelRetrying, ModelStreamEvent
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.records import Pace

FIRST_INTERVAL, MAX_INTERVAL = 0.25, 30.0
"""Seconds between two requests of the fleet after the first refusal, and at most."""
MAX_WAIT_SECONDS = MAX_RETRY_AFTER_SECONDS
EASE_AFTER_SECONDS = 20.0
"""Seconds without a refusal after which the interval is halved."""


class PacedModel(WrappedModel):
    """A model whose requests wait while its provider is overloaded, also if only another worker was told so."""

    def __init__(self, model: Model, board: FleetBoard) -> None:
        super().__init__(model)
        self.provider = model.name.partition(":")[0]
        self._board = board

    async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        if seconds := await asyncio.to_thread(self._wait):
            yield ModelRetrying(f"{self.provider} has asked the fleet to slow down", round(seconds, 3), 1)
            await asyncio.sleep(seconds)
        async with aclosing(self.model.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ModelRetrying) and piece.overloaded:
                    await asyncio.to_thread(self._slow, piece.seconds)
                yield piece

    def _wait(self) -> float:
        """Seconds until the next request may go out; takes its turn."""
        if self._board.get(Pace, self.provider) is None:
            return 0.0
        wait = 0.0

        def work(old: Pace | None, now: datetime) -> Pace | None:
            nonlocal wait
            wait = 0.0
            if old is None:
                return None
            eased = old.eased or now
            if now - eased > timedelta(seconds=EASE_AFTER_SECONDS):
                halved = old.interval / 2
                old = replace(old, interval=halved if halved >= FIRST_INTERVAL / 2 else 0.0, eased=now)
            latest = now + timedelta(seconds=MAX_WAIT_SECONDS)  # what is later was written by a wrong clock
            turn = min(latest, max(now, old.until, old.following or now))
            wait = (turn - now).total_seconds()
            if not old.interval and not wait:
                return None
            return replace(old, following=turn + timedelta(seconds=old.interval))

        self._board.change(Pace, self.provider, work)
        return wait

    def _slow(self, seconds: float) -> None:
        def work(old: Pace | None, now: datetime) -> Pace:
            interval = min(MAX_INTERVAL, max(FIRST_INTERVAL, (old.interval if old else 0.0) * 2))
            until = max(now + timedelta(seconds=seconds * random.uniform(0.9, 1.1)), old.until if old else now)
            return Pace(until=until, interval=interval, following=old.following if old else None, eased=now)

        self._board.change(Pace, self.provider, work)
