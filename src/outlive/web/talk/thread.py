"""The thread in which agents work: a pass or a slow disk of theirs does not keep the server from answering."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE = 5.0
"""Seconds to wait for the thread to end."""


class AgentThread:
    """An event loop in a thread of its own, started when it is first needed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    @property
    def running(self) -> bool:
        return self._loop is not None

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine over there and wait for its result here."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._started()))

    def begin(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine over there without waiting for it."""
        asyncio.run_coroutine_threadsafe(work, self._started())

    def close(self) -> None:
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(PATIENCE)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="outlive agents", daemon=True)
                self._thread.start()
            return self._loop
