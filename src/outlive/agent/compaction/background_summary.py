"""A summary that the provider writes in the background while the agent keeps working."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from outlive.agent.session import Session
from outlive.context.summary import ask
from outlive.models.errors import ModelError, RequestRefused
from outlive.models.protocol import Model, Summary, Usage, summarize
from outlive.request import Request

SUMMARY_SECONDS = 120.0  # then the rules write the summary: a session must not wait for a stuck server


@dataclass(frozen=True, slots=True)
class SummaryAnswer:
    """The result of one request: a summary of everything up to event `fold_to`, or the reason why there is none."""

    fold_to: int
    summary: Summary | None
    problem: str = ""


class BackgroundSummary:
    """Asks the provider for a summary before a pass is due, once for each pass."""

    def __init__(self, session: Session, model: Callable[[], Model], spent: Callable[[Usage], None]) -> None:
        self._session = session
        self._model = model
        self._spent = spent
        self._task: asyncio.Task[SummaryAnswer] | None = None
        self._asked_after = -1
        """The pass in force when the last summary was requested."""
        self._unable = ""
        """A model that refused to summarise; it is not asked again."""

    def start(self) -> None:
        """Request a summary if the next pass is near and no summary for it is on its way."""
        engine = self._session.engine
        idle = self._task is None and engine.projection.event != self._asked_after
        if not idle or self._model().name == self._unable or not engine.nears_pass:
            return
        if asked := engine.summary_request():
            self._asked_after = engine.projection.event
            self._task = asyncio.create_task(self._ask(*asked))
            engine.awaits_summary = True

    def take(self) -> SummaryAnswer | None:
        """Return the answer once, if it has arrived."""
        if self._task is None or not self._task.done():
            return None
        task, self._task = self._task, None
        self._session.engine.awaits_summary = False
        return task.result()

    async def now(self, focus: str) -> SummaryAnswer:
        """Request a summary and wait for it."""
        await self.stop()
        asked = self._session.engine.summary_request()
        return await self._ask(*asked, focus) if asked else SummaryAnswer(0, None, "there is nothing to summarize")

    async def stop(self) -> None:
        """Cancel the request that is on its way."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None
            self._session.engine.awaits_summary = False

    async def _ask(self, request: Request, fold_to: int, focus: str = "") -> SummaryAnswer:
        model = self._model()
        try:
            async with asyncio.timeout(SUMMARY_SECONDS):
                summary = await summarize(model, request, ask(self._session.masked(focus)))
        except TimeoutError:
            return SummaryAnswer(fold_to, None, f"no answer within {SUMMARY_SECONDS:.0f} s")
        except ModelError as error:
            self._unable = model.name if isinstance(error, RequestRefused) else ""
            return SummaryAnswer(fold_to, None, str(error))
        self._spent(summary.usage)
        return SummaryAnswer(fold_to, summary)
