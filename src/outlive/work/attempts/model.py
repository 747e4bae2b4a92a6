"""The model as an attempt uses it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from outlive.models.protocol import Model, Reply
from outlive.models.wrapped import WrappedModel
from outlive.request import Request
from outlive.stream import ModelStreamEvent
from outlive.work.attempts.endings import AttemptStopped
from outlive.work.attempts.keeping import WorkInProgress
from outlive.work.attempts.spending import SessionCosts
from outlive.work.parts import in_thread


class AttemptModel(WrappedModel):
    """Sends a request once the files that it tells of are stored, and what it may cost is counted."""

    def __init__(self, model: Model, keeping: WorkInProgress, costs: SessionCosts) -> None:
        super().__init__(model)
        self._keeping = keeping
        self._costs = costs

    async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        await self._keeping.keep_changes()
        if why := await in_thread(self._costs.open, request, self.price):
            raise AttemptStopped("budget", why)
        try:
            async with aclosing(self.model.stream(request)) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            self._costs.close()
