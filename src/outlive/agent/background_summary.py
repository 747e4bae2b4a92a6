"""A summary that the provider writes while the agent works on, so that nobody waits for it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from outlive.agent.session import Session
from outlive.context.summary import ask
from outlive.models.errors import ModelError, RequestRefused
from outlive.models.protocol import Model, Summary, Usage, summarize
from outlive.request import Request

SUMMARY_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class SummaryAnswer:
    """What came of one request: a summary of everything up to event `fold_to`, or why there is none."""

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
        """The pass that was in force when the last summary was asked for."""
        self._unable = ""
        """A model that refuses."""

    def start(self) -> None:
        """Ask for a summary, if the next pass is near and there is none on its way for it."""
        engine = self._session.engine
        idle = self._task is None and engine.projection.event != self._asked_after
        if not idle or self._model().name == self._unable or not engine.nears_pass:
            return
        if asked := engine.summary_request():
            self._asked_after = engine.projection.event
            self._task = asyncio.create_task(self._ask(*asked))
            engine.awaits_summary = True

    def take(self) -> SummaryAnswer | None:
        """The answer, if it has come; only once."""
        if self._task is None or not self._task.done():
            return None
        task, self._task = self._task, None
        self._session.engine.awaits_summary = False
        return task.result()

    async def now(self, focus: str) -> SummaryAnswer:
        """Ask, and wait for the answer."""
        await self.stop()
        asked = self._session.engine.summary_request()
        return await self._ask(*asked, focus) if asked else SummaryAnswer(0, None, "there is nothing to summarize")

    async def stop(self) -> None:
        """An answer that is on its way is not wanted any more."""
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
