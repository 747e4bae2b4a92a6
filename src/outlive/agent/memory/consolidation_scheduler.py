"""Bringing memories into order while a session goes on: when it is due, beside everything else, one at a time."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import cached_property, partial
from typing import Any, Literal, TypeVar

from outlive.errors import OutliveError
from outlive.memory.consolidate import (
    Busy,
    ConsolidationReport,
    consolidate,
    consolidation,
    due,
    last_time,
    step,
)
from outlive.memory.memories import Memories
from outlive.secrets import mask
from outlive.stores.logs.names import is_subagent
from outlive.stores.logs.protocol import LogStore
from outlive.stores.memories.protocol import MemoryReader
from outlive.stores.memories.records import Scope

REQUESTS = 4
"""So many requests at most without being asked: a store that takes more is consolidated by rules."""
SECONDS = 120.0
"""How long a model may take for all of them."""
LAST_SECONDS = 10.0
"""The same, when the session is about to end."""
_NAMED = 160
"""Characters of what is said about the changes."""
Consolidation = Literal["auto", "rules", "never"]
"""By a model where there is one, by rules alone, or only when the user says so."""
AskModel = Callable[[str], Coroutine[Any, Any, str]]
T = TypeVar("T")


class ConsolidationScheduler:
    """Of the memories of one session: those of the project, and the user's own."""

    def __init__(
        self, memories: Memories, store: LogStore, tell: Callable[[str], None], how: Consolidation = "auto"
    ) -> None:
        self._memories = memories
        self._store = store
        self._tell = tell
        self._how = how
        self._not_due: dict[Scope, int] = {}
        """At which moment of a store."""
        self._ending = False
        self._until = 0.0
        """When to stop waiting for the model, by the clock of the event loop."""
        self._limit: asyncio.Timeout | None = None
        """The same, while an answer is waited for."""

    async def when_due(self, ask: AskModel | None = None) -> None:
        """Consolidate what is due, and say so. Thousands of memories take seconds: not on the loop."""
        for scope in self._memories.stores if self._how != "never" else ():
            try:
                if await beside(partial(self._due, scope)):
                    self._say(await self._consolidated(scope, ask if self._how == "auto" else None))
            except Busy:
                continue  # another process is consolidating it
            except OutliveError as error:
                self._tell(f"the memories were not consolidated: {error}")

    def hurry(self) -> None:
        """The session is about to end: a model that does not answer soon is not waited for."""
        self._ending = True
        if self._limit is not None and not self._limit.expired():
            self._until = min(self._until, asyncio.get_running_loop().time() + LAST_SECONDS)
            self._limit.reschedule(self._until)

    def _due(self, scope: Scope) -> str:
        """Why it is due. Where nothing has changed since it was not, it is not: the log of all steps may be long."""

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
        """By the model if it answers, else by rules: then it is not asked again before it is due again."""
        if ask is not None:
            try:
                return await self._by_model(scope, ask)
            except Busy:
                raise
            except (OutliveError, TimeoutError) as error:
                if not self._ending:
                    reason = str(error) or "no answer in time"
                    self._tell(f"the model did not consolidate the memories, so it is done by rules: {reason}")
        return await beside(partial(consolidate, self._memories, scope=scope))

    async def _by_model(self, scope: Scope, ask: AskModel) -> ConsolidationReport:
        self._until = asyncio.get_running_loop().time() + (LAST_SECONDS if self._ending else SECONDS)
        work = consolidation(self._memories, scope=scope, model=True, most=REQUESTS)
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
            what = "".join(filter(str.isprintable, mask("; ".join(report.notes))))
            what = what if len(what) <= _NAMED else f"{what[:_NAMED]}…"
            number = f"{'u' if report.scope == 'user' else ''}{report.step}"
            self._tell(f"memories consolidated: {what} (outlive memory log; outlive memory undo {number})")

    @cached_property
    def _started(self) -> list[float]:
        """When the sessions here began, as far as they had when this one first asked."""
        return [info.started for info in self._store.sessions() if not info.replay and not is_subagent(info.id)]


async def beside(work: Callable[[], T]) -> T:
    """Run `work` in a thread. A caller that is cancelled still waits for its end, because the stores that it uses are
    closed afterwards."""
    thread = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        await asyncio.wait([thread])
        thread.exception()  # the caller gave up; its result is not needed
        raise
