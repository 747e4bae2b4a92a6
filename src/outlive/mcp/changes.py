"""Telling subscribers that a resource changed, by the wake-ups of the task store and by the newest session's log."""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp_types import EmptyResult, SubscribeRequestParams, SubscriptionsListenRequestParams, UnsubscribeRequestParams
from mcp_types import SubscriptionsListenResult as Listened

from outlive.errors import OutliveError
from outlive.mcp.backend import Backend
from outlive.mcp.texts import READY, STATE
from outlive.stores.tasks.protocol import TaskReader
from outlive.tasks.waiting import until

MAX_SUBSCRIPTIONS = 100
"""Subscriptions of the older form; one more replaces the oldest."""
STOP = ""
_Context = ServerRequestContext[Any, Any]
_log = logging.getLogger(__name__)


class Changes:
    """Both forms of subscription: one stream a client (`subscriptions/listen`), or one resource at a time before.

    While there are subscribers a thread waits for changes, with stores of its own.
    """

    def __init__(self, open_backend: Callable[[], Backend]) -> None:
        self._open = open_backend
        self._bus = InMemorySubscriptionBus()
        self._bus.subscribe(self._tell_sessions)
        self._listening = ListenHandler(self._bus)
        self._streams = 0
        self._sessions: dict[tuple[str, int], ServerSession] = {}
        """By resource and connection."""
        self._told: set[asyncio.Future[None]] = set()
        self._lock = threading.Lock()
        self._watching: asyncio.Future[None] | None = None
        """Done once the thread has had its first look, from which on changes count."""

    async def listen(self, context: _Context, given: SubscriptionsListenRequestParams) -> Listened:
        if not {READY, STATE} & set(given.notifications.resource_subscriptions or ()):
            return await self._listening(context, given)  # for lists, which never change
        self._streams += 1
        try:
            await self._watch()
            return await self._listening(context, given)
        finally:
            self._streams -= 1

    async def subscribe(self, context: _Context, given: SubscribeRequestParams) -> EmptyResult:
        if str(given.uri) in (READY, STATE):  # the text behind a handle never changes
            self._sessions[_key(context, given.uri)] = context.session
            if len(self._sessions) > MAX_SUBSCRIPTIONS:
                del self._sessions[next(iter(self._sessions))]
            await self._watch()
        return EmptyResult()

    async def unsubscribe(self, context: _Context, given: UnsubscribeRequestParams) -> EmptyResult:
        self._sessions.pop(_key(context, given.uri), None)
        return EmptyResult()

    def close(self) -> None:
        """End all streams."""
        self._listening.close()

    def _tell_sessions(self, event: object) -> None:
        for key, session in list(self._sessions.items()):
            if isinstance(event, ResourceUpdated) and event.uri == key[0]:
                sending = asyncio.ensure_future(self._tell(key, session))
                self._told.add(sending)
                sending.add_done_callback(self._told.discard)

    async def _tell(self, key: tuple[str, int], session: ServerSession) -> None:
        try:
            await session.send_resource_updated(key[0])
        except Exception:  # noqa: BLE001 - its client is gone, whatever the transport makes of it
            self._sessions.pop(key, None)

    async def _watch(self) -> None:
        """Start the thread that watches, unless it runs."""
        with self._lock:
            if self._watching is None:
                loop = asyncio.get_running_loop()
                self._watching = loop.create_future()
                given = (loop, self._watching)
                threading.Thread(target=self._follow, args=given, name="outlive changes", daemon=True).start()
            began = self._watching
        await asyncio.shield(began)

    def _follow(self, loop: asyncio.AbstractEventLoop, began: asyncio.Future[None]) -> None:
        backend = self._open()
        seen: list[object] = []

        def changed() -> list[str]:
            nonlocal seen
            before, seen = seen, [backend.stores.tasks.read(_ready), backend.sessions.mark()]
            tasks, session = (was != now for was, now in zip(before or seen, seen, strict=True))
            stop = not self._streams and not self._sessions
            return [STOP] if stop else [READY] * tasks + [STATE] * (tasks or session)

        try:
            changed()
            loop.call_soon_threadsafe(began.set_result, None)
            while True:
                for uri in until(backend.stores.tasks, changed, None):
                    if uri == STOP and self._stopped():
                        return
                    asyncio.run_coroutine_threadsafe(self._bus.publish(ResourceUpdated(uri)), loop)
        except (OutliveError, OSError, RuntimeError) as error:  # RuntimeError: the loop was closed meanwhile
            self._watching = None  # the next subscription tries again
            _log.warning("changes are not told: %s", error)
            if not loop.is_closed():
                loop.call_soon_threadsafe(_finish, began)
        finally:
            backend.close()

    def _stopped(self) -> bool:
        """Stop, unless a client has subscribed in the meantime."""
        with self._lock:
            if self._streams or self._sessions:
                return False
            self._watching = None
            return True


def _finish(began: "asyncio.Future[None]") -> None:
    if not began.done():
        began.set_result(None)


def _key(context: _Context, uri: object) -> tuple[str, int]:
    """Key of a subscription: the resource and the connection. Each request has a session of its own, but the client's
    parameters are one object for the whole connection."""
    return str(uri), id(context.session.client_params)


def _ready(tx: TaskReader) -> list[tuple[int, int]]:
    """The ready tasks, and those that would be ready if expired leases were released."""
    return [*((task.id, task.revision) for task in tx.ready()), *((number, -1) for number in tx.expired())]
