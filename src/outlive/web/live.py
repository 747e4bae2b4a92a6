"""Server-sent events: messages, the mailbox of each reader, and channels that one thread fills for all readers.

A reader that is too slow is dropped with a `behind` event; it connects again and goes on after its Last-Event-ID.
"""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import msgspec
from starlette.responses import StreamingResponse

from outlive.errors import OutliveError

T = TypeVar("T")

KEEP_ALIVE_SECONDS = 15.0  # proxies cut silent connections, often after 60 seconds
MOST_WAITING = 1_000
"""Messages that wait for a slow reader."""


class ServerEvent(msgspec.Struct, frozen=True):
    """One server-sent event."""

    data: object
    event: str = "message"
    id: int | None = None

    def encoded(self) -> bytes:
        lines = [] if self.id is None else [f"id: {self.id}"]
        data = msgspec.json.encode(self.data).decode()
        return "\n".join([*lines, f"event: {self.event}", f"data: {data}", "", ""]).encode()


class Mailbox(Generic[T]):
    """What one reader has not read yet. `put` may be called from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._arrived = asyncio.Event()
        self._waiting: deque[T] = deque()
        self.overflowed = False
        self.closed = False

    def put(self, message: T) -> None:
        if self.overflowed or len(self._waiting) >= MOST_WAITING:
            self.overflowed = True  # nothing may follow what is missing
        else:
            self._waiting.append(message)
        self._wake()

    def close(self) -> None:
        self.closed = True
        self._wake()

    async def next(self, timeout: float) -> list[T] | None:
        """What has arrived; empty when nothing did in time, None when nothing more will come."""
        if not self._waiting and (self.closed or self.overflowed):
            return None
        try:
            await asyncio.wait_for(self._arrived.wait(), timeout)
        except TimeoutError:
            return []
        self._arrived.clear()
        found = [self._waiting.popleft() for _ in range(len(self._waiting))]
        return found if found or not (self.closed or self.overflowed) else None

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._arrived.set)


class Channel(Generic[T]):
    """A thread that produces messages while somebody reads them."""

    def __init__(
        self, produce: Callable[[threading.Event, Callable[[T], None]], None], name: str, *, greets: bool = False
    ) -> None:
        """`produce` gets an event that ends it, and a function that sends to all readers. If it `greets`, its first
        message says that it has begun, and later readers get it, too."""
        self._greets = greets
        self._greeting: T | None = None
        self._produce = produce
        self._name = name
        self._readers: set[Mailbox[T]] = set()
        self._lock = threading.Lock()
        self._stop: threading.Event | None = None

    @contextmanager
    def reader(self) -> Iterator[Mailbox[T]]:
        mailbox: Mailbox[T] = Mailbox()
        with self._lock:
            self._readers.add(mailbox)
            if self._greeting is not None:
                mailbox.put(self._greeting)
            if self._stop is None:
                self._stop = threading.Event()
                threading.Thread(target=self._run, args=(self._stop,), name=self._name, daemon=True).start()
        try:
            yield mailbox
        finally:
            with self._lock:
                self._readers.discard(mailbox)
                if not self._readers:
                    self._end()

    def close(self) -> None:
        with self._lock:
            self._end()
            for mailbox in self._readers:
                mailbox.close()

    def _end(self) -> None:
        if self._stop is not None:
            self._stop.set()
            self._stop = self._greeting = None

    def _run(self, stop: threading.Event) -> None:
        try:
            self._produce(stop, lambda message: self._send(stop, message))
        except OutliveError:  # the store went away; readers connect again and are told why
            self.close()

    def _send(self, stop: threading.Event, message: T) -> None:
        with self._lock:
            if stop is not self._stop:  # its readers have left; a new thread serves new ones
                return
            if self._greets and self._greeting is None:
                self._greeting = message
            for mailbox in self._readers:
                mailbox.put(message)


def stream(messages: AsyncIterator[ServerEvent]) -> StreamingResponse:
    """Messages as a response, with a sign of life when there are none."""

    async def chunks() -> AsyncIterator[bytes]:
        yield b": connected\n\n"
        async for message in messages:
            yield message.encoded()

    return StreamingResponse(chunks(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})


async def messages_of(mailbox: Mailbox[T], message: Callable[[T], ServerEvent]) -> AsyncIterator[ServerEvent]:
    """What a mailbox receives, until the server ends or the reader has fallen behind."""
    while (found := await mailbox.next(KEEP_ALIVE_SECONDS)) is not None:
        if not found:
            yield ServerEvent({}, "alive")
        for item in found:
            yield message(item)
    yield ServerEvent({}, "behind" if mailbox.overflowed else "ended")
