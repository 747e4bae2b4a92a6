"""Wrappers of models: retries, and a fallback model. Each wait is announced and discards what had arrived."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from outlive.models.errors import ModelUnavailable
from outlive.models.protocol import Checkable, Model, Price, Reply, Summary, summarize
from outlive.models.wrapped import WrappedModel
from outlive.request import Request
from outlive.stream import ModelRetrying, ModelStreamEvent

MAX_ATTEMPTS = 10  # with the pauses below, two to four minutes of outage
FIRST, MAX_RETRY_SECONDS = 1.0, 60.0
"""Seconds before the second attempt, doubled each time up to a maximum."""
MAX_RETRY_AFTER_SECONDS = 300.0
"""Give up if Retry-After exceeds this."""
FALLBACK_SECONDS = 600.0
"""Seconds for which the fallback answers before the first model is tried again."""


class Retrying(WrappedModel):
    """Retries a model while it is unavailable, with exponential backoff and jitter. A summary gets one attempt."""

    def __init__(
        self,
        model: Model,
        *,
        attempts: int = MAX_ATTEMPTS,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        rng: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(model)
        self.attempts = attempts
        self._sleep = sleep
        self._rng = rng

    async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        """The model's stream; before each retry it announces the reason and the wait."""
        for attempt in range(1, self.attempts + 1):
            try:
                async with aclosing(self.model.stream(request)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except ModelUnavailable as error:
                seconds = self._wait(attempt, error.retry_after)
                if attempt == self.attempts or seconds > MAX_RETRY_AFTER_SECONDS:
                    tries = "once" if attempt == 1 else f"{attempt} times"
                    told = f"{error} (tried {tries})"
                    raise ModelUnavailable(told, error.retry_after, overloaded=error.overloaded) from error
                waits = ModelRetrying(str(error), round(seconds, 3), attempt, error.overloaded)
            yield waits
            await self._sleep(waits.seconds)

    def _wait(self, attempt: int, asked: float | None) -> float:
        """Half of the wait is fixed, half random, so that clients do not all return at once."""
        grown = min(MAX_RETRY_SECONDS, FIRST * 2.0 ** (attempt - 1))
        spread = grown * (0.5 + 0.5 * self._rng())
        return spread if asked is None else asked + min(1.0, spread) * self._rng()


class Fallback(WrappedModel):
    """Two models: when the first gives up, the second answers for `FALLBACK_SECONDS` seconds."""

    def __init__(self, first: Model, second: Model, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(first)
        self.second = second
        self._clock = clock
        self._rests_until = 0.0
        self._answering = first

    @property
    def price(self) -> Price | None:
        """The price of the model that answered last."""
        return self._answering.price

    async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        """The first model's answer, or a notice and the second's."""
        if self._clock() >= self._rests_until:
            self._answering = self.model
            try:
                async with aclosing(self.model.stream(request)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except ModelUnavailable as error:
                self._rests_until = self._clock() + FALLBACK_SECONDS
                notice = ModelRetrying(f"{error}; {self.second.name} answers instead", 0.0, 1)
            yield notice
        self._answering = self.second
        async with aclosing(self.second.stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def summarize(self, request: Request, instructions: str) -> Summary:
        """By the model that answers."""
        return await summarize(self._answering, request, instructions)

    async def check(self) -> None:
        for model in (self.model, self.second):
            if isinstance(model, Checkable):
                await model.check()

    async def close(self) -> None:
        try:
            await self.model.close()
        finally:
            await self.second.close()
