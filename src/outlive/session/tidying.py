"""Bringing memories into order while a session goes on: when it is due, beside everything else, one at a time."""

import asyncio
from collections.abc import Callable
from functools import cached_property, partial
from typing import TypeVar

from outlive.memory.book import Memories
from outlive.memory.consolidate import Busy, Report, consolidate, due, last_time
from outlive.stores.log_names import is_subagent
from outlive.stores.log_protocol import LogStore
from outlive.stores.memory_records import Scope

T = TypeVar("T")


class Tidying:
    """Of the memories of one session: those of the project, and the user's own."""

    def __init__(self, memories: Memories, store: LogStore, tell: Callable[[str], None]) -> None:
        self._memories = memories
        self._store = store
        self._tell = tell

    async def when_due(self) -> None:
        """Consolidate what is due, and say so. Thousands of memories take seconds: not on the loop."""
        for scope in self._memories.stores:
            if await beside(partial(self._due, scope, self._started)):
                try:
                    report = await beside(partial(consolidate, self._memories, scope=scope))
                except Busy:
                    continue  # whoever has it does it
                self._say(report)

    def _due(self, scope: Scope, started: list[float]) -> str:
        steps = self._memories.stores[scope].read(lambda tx: tx.steps(), glance=True)
        since = last_time(steps)
        return due(steps, sessions=sum(moment > since for moment in started))

    def _say(self, report: Report) -> None:
        if report.notes:
            self._tell(f"memories consolidated: {len(report.notes)} changes (outlive memory log, undo)")

    @cached_property
    def _started(self) -> list[float]:
        """When the sessions here began, as far as they had when this one first asked."""
        return [info.started for info in self._store.sessions() if not info.replay and not is_subagent(info.id)]


async def beside(work: Callable[[], T]) -> T:
    """Do something in a thread. Whoever is cancelled meanwhile still waits for its end: what it works on is closed
    afterwards."""
    thread = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        await asyncio.wait([thread])
        raise
