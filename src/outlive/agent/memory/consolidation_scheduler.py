"""Consolidates memories in the background of a session when it is due, one store at a time."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import cached_property, partial
from typing import Any, Literal, TypeVar

from outlive.errors import OutliveError
from outlive.memory.consolidate import (
    ConsolidationBusy,
    ConsolidationReport,
    consolidate,
    consolidation,
    due,
    last_time,
    step,
)
from outlive.memory.memories import Memories
from outlive.printable import visible
from outlive.secrets import mask
from outlive.stores.logs.names import is_subagent
from outlive.stores.logs.protocol import LogStore
from outlive.stores.memories.protocol import MemoryReader
from outlive.stores.memories.records import Scope

MAX_REQUESTS = 4
"""Requests to a model that the user did not ask for; a store that needs more is consolidated by rules."""
TIMEOUT_SECONDS = 120.0
"""Timeout for all requests of one consolidation."""
CLOSING_TIMEOUT_SECONDS = 10.0
"""The same while the session is closing."""
_MAX_NOTICE_CHARS = 160
"""Characters of the notice about the changes."""
Consolidation = Literal["auto", "rules", "never"]
"""`auto`: by a model if there is one, `rules`: by rules alone, `never`: only when the user asks for it."""
AskModel = Callable[[str], Coroutine[Any, Any, str]]
T = TypeVar("T")


class ConsolidationScheduler:
    """Consolidates the memories of one session: those of the project and the user's own."""

    def __init__(
        self, memories: Memories, store: LogStore, tell: Callable[[str], None], how: Consolidation = "auto"
    ) -> None:
        self._memories = memories
        self._store = store
        self._tell = tell
        self._how = how
        self._not_due: dict[Scope, int] = {}
        """Store revision at which consolidation was last found not due."""
        self._ending = False
        self._until = 0.0
        """Deadline for the model, on the event loop's clock."""
        self._limit: asyncio.Timeout | None = None
        """The same, while an answer is awaited."""

    async def when_due(self, ask: AskModel | None = None) -> None:
        """Consolidate what is due and report it. Runs in a thread: thousands of memories take seconds."""
        for scope in self._memories.stores if self._how != "never" else ():
            try:
                if await beside(partial(self._due, scope)):
                    self._say(await self._consolidated(scope, ask if self._how == "auto" else None))
            except ConsolidationBusy:
                continue  # another process is consolidating it
            except OutliveError as error:
                self._tell(f"the memories were not consolidated: {error}")

    def hurry(self) -> None:
        """The session is closing: shorten the wait for the model."""
        self._ending = True
        if self._limit is not None and not self._limit.expired():
            self._until = min(self._until, asyncio.get_running_loop().time() + CLOSING_TIMEOUT_SECONDS)
            self._limit.reschedule(self._until)

    def _due(self, scope: Scope) -> str:
        """The reason why consolidation is due. A store that has not changed since the last check is not read
        again."""

        def look(tx: MemoryReader) -> str:
            now, _ = tx.changed()
            if self._not_due.get(scope) == now:
                return ""
            steps = tx.steps()
            since = last_time(steps)
            reason = due(steps, sessions=sum(moment > since for moment in self._started))
            if not reason:
                self._not_due[scope] = now
            return reason

        return self._memories.stores[scope].read(look, glance=True)

    async def _consolidated(self, scope: Scope, ask: AskModel | None) -> ConsolidationReport:
        """Consolidate by the model if it answers, else by rules; a failed model is not asked again until the next
        time."""
        if ask is not None:
            try:
                return await self._by_model(scope, ask)
            except ConsolidationBusy:
                raise
            except (OutliveError, TimeoutError) as error:
                if not self._ending:
                    reason = str(error) or "no answer in time"
                    self._tell(f"the model did not consolidate the memories, so it is done by rules: {reason}")
        return await beside(partial(consolidate, self._memories, scope=scope))

    async def _by_model(self, scope: Scope, ask: AskModel) -> ConsolidationReport:
        self._until = asyncio.get_running_loop().time() + (
            CLOSING_TIMEOUT_SECONDS if self._ending else TIMEOUT_SECONDS
        )
        work = consolidation(self._memories, scope=scope, model=True, most=MAX_REQUESTS)
        try:
            found = await beside(partial(step, work))
            while isinstance(found, str):
                async with asyncio.timeout_at(self._until) as self._limit:
                    answer = await ask(found)
                found = await beside(partial(step, work, answer))
            return found
        finally:
            self._limit = None
            await beside(work.close)

    def _say(self, report: ConsolidationReport) -> None:
        if report.problem:
            self._tell(f"memories not consolidated: {report.problem} (it is tried again when it is due again)")
        elif report.notes:
            what = visible(mask("; ".join(report.notes)))
            what = what if len(what) <= _MAX_NOTICE_CHARS else f"{what[:_MAX_NOTICE_CHARS]}…"
            number = f"{'u' if report.scope == 'user' else ''}{report.step}"
            self._tell(f"memories consolidated: {what} (outlive memory log; outlive memory undo {number})")

    @cached_property
    def _started(self) -> list[float]:
        """Start times of the sessions here, read once."""
        return [info.started for info in self._store.sessions() if not info.replay and not is_subagent(info.id)]


async def beside(work: Callable[[], T]) -> T:
    """Run `work` in a thread. A cancelled caller still waits for the end, because the stores it uses are closed
    afterwards."""
    thread = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        await asyncio.wait([thread])
        thread.exception()  # the caller gave up; its result is not needed
        raise
