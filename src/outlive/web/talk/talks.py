"""The sessions that this server holds open, and the browsers that watch them, also those that are not open yet."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeVar

from outlive.stores.logs.names import is_subagent
from outlive.web.api import HttpProblem
from outlive.web.live import Mailbox, ServerEvent, messages_of
from outlive.web.talk.open_talk import OpenTalk
from outlive.web.talk.thread import AgentThread
from outlive.web.workspaces import ServedWorkspace

T = TypeVar("T")

MOST_OPEN = 8  # each has an agent with its connections and processes
IDLE_SECONDS = 15 * 60.0
"""After this long without a run, a session is handed back, so that a terminal can have it."""
SWEEP_SECONDS = 20.0  # a session may be idle this much longer than `IDLE_SECONDS`
Key = tuple[str, str]
"""Workspace and session."""


class Talks:
    """All methods may be called from the server; the work is done in the agents' thread."""

    def __init__(self, *, most: int = MOST_OPEN, idle_seconds: float = IDLE_SECONDS) -> None:
        self._most = most
        self._idle_seconds = idle_seconds
        self._thread = AgentThread()
        self._open: dict[Key, OpenTalk] = {}
        self._readers: dict[Key, set[Mailbox[ServerEvent]]] = {}
        self._opening = asyncio.Lock()
        self._sweeper: asyncio.Task[None] | None = None
        self._closed = False

    async def start(self, workspace: ServedWorkspace, use: Callable[[OpenTalk], object]) -> str:
        """Open a new session and do something with it; its id."""

        async def work() -> str:
            talk = await self._opened(workspace, None)
            try:
                use(talk)
            except HttpProblem:
                await self._let_go((workspace.id, talk.id))
                raise
            return talk.id

        return await self._thread.run(work())

    async def use(self, workspace: ServedWorkspace, session: str, use: Callable[[OpenTalk], T]) -> T:
        """Do something with a session, which is opened if it is not open yet. Raises OutliveError."""

        async def work() -> T:
            return use(self._open.get((workspace.id, session)) or await self._opened(workspace, session))

        return await self._thread.run(work())

    async def with_open(self, workspace: ServedWorkspace, session: str, use: Callable[[OpenTalk], T]) -> T:
        """Do something with a session that is open here. Raises HttpProblem if it is not."""

        async def work() -> T:
            try:
                talk = self._open[workspace.id, session]
            except KeyError:
                raise HttpProblem(409, "this session is not open here any more", code="not_open") from None
            return use(talk)

        return await self._thread.run(work())

    async def hand_back(self, workspace: ServedWorkspace, session: str) -> bool:
        """Close a session; whether it was open."""
        return await self._thread.run(self._let_go((workspace.id, session)))

    async def messages(self, workspace: ServedWorkspace, session: str) -> AsyncGenerator[ServerEvent, None]:
        """A snapshot, then what happens, whether the session is open here or not."""
        key = workspace.id, session
        mailbox: Mailbox[ServerEvent] = Mailbox()

        async def join() -> ServerEvent:
            snapshot = self._open[key].snapshot() if key in self._open else None
            self._readers.setdefault(key, set()).add(mailbox)
            return snapshot or ServerEvent({"state": await self._closed_state(workspace, session)}, "snapshot")

        async def leave() -> None:
            readers = self._readers.get(key, set())
            readers.discard(mailbox)
            if not readers:
                self._readers.pop(key, None)

        try:
            yield await self._thread.run(join())
            async for message in messages_of(mailbox, lambda message: message):
                yield message
        finally:
            self._thread.begin(leave())

    def end_streams(self) -> None:
        """The server ends: no browser waits for more."""

        async def end() -> None:
            self._closed = True
            for readers in self._readers.values():
                for mailbox in readers:
                    mailbox.close()

        if self._thread.running:
            self._thread.begin(end())

    async def close(self) -> None:
        """Interrupt all runs and let go of all sessions."""

        async def work() -> None:
            if self._sweeper is not None:
                self._sweeper.cancel()
            await asyncio.gather(*map(self._let_go, list(self._open)), return_exceptions=True)

        if self._thread.running:
            await self._thread.run(work())
            self._thread.close()

    # -- in the agents' thread

    async def _opened(self, workspace: ServedWorkspace, session: str | None) -> OpenTalk:
        async with self._opening:
            if session is not None and (found := self._open.get((workspace.id, session))):
                return found
            if self._closed:
                raise HttpProblem(503, "the server ends", code="ending")
            if session is not None and is_subagent(session):
                hint = "say it in the session that started it"
                raise HttpProblem(409, "a sub-agent takes its words from its agent", hint=hint, code="subagent")
            await self._make_room()
            talk = await asyncio.to_thread(OpenTalk, workspace.config, session, self._teller(workspace.id))
            self._open[workspace.id, talk.id] = talk
            talk.begin()
            self._sweeper = self._sweeper or asyncio.ensure_future(self._sweep())
            self._tell((workspace.id, talk.id), talk.snapshot())
            return talk

    async def _make_room(self) -> None:
        """Close the session that was idle longest, if too many are open."""
        if len(self._open) < self._most:
            return
        idle = {key: since for key, talk in self._open.items() if (since := talk.idle_since) is not None}
        if not idle:
            message = f"{len(self._open)} sessions are at work here, and no more are held open at once"
            raise HttpProblem(409, message, hint="interrupt one of them, or wait", code="too_many")
        await self._let_go(min(idle, key=lambda key: idle[key]))

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(min(SWEEP_SECONDS, self._idle_seconds))
            before = time.monotonic() - self._idle_seconds
            for key, talk in list(self._open.items()):
                if talk.idle_since is not None and talk.idle_since <= before:
                    await self._let_go(key)

    async def _let_go(self, key: Key) -> bool:
        talk = self._open.pop(key, None)
        if talk is None:
            return False
        with contextlib.suppress(Exception):
            await _logged(talk.close())
        self._tell(key, ServerEvent({"state": {"open": False, "elsewhere": False}}, "snapshot"))
        return True

    async def _closed_state(self, workspace: ServedWorkspace, session: str) -> dict[str, object]:
        writer = await asyncio.to_thread(workspace.stores.logs.has_writer, session)
        return {"open": False, "elsewhere": writer}

    def _teller(self, workspace: str) -> Callable[[str, ServerEvent], None]:
        return lambda session, message: self._tell((workspace, session), message)

    def _tell(self, key: Key, message: ServerEvent) -> None:
        for mailbox in self._readers.get(key, ()):
            mailbox.put(message)


async def _logged(work: Awaitable[None]) -> None:
    try:
        await work
    except Exception:
        logging.getLogger("outlive").exception("a session was not closed")
        raise
