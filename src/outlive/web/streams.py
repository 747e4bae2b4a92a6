"""One stream a browser: it carries every topic that the pages of the browser listen to.

A browser opens few connections to one host, so its tabs share a stream. The stream begins with its id; topics are
added to it and removed from it by POST. Each message names its topic.
"""

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from outlive.errors import OutliveError
from outlive.web.api import HttpProblem, bad_request, form_of, route
from outlive.web.live import KEEP_ALIVE_SECONDS, ServerEvent, stream

MOST_TOPICS = 300
"""Of one stream."""
MOST_WAITING = 200
"""Messages that wait for a slow browser, before the topics wait, too."""
LONGEST_NAME = 300  # browsers choose the names of topics; each message repeats one

Messages = AsyncGenerator[ServerEvent, None]
TopicSource = Callable[[dict[str, Any]], Awaitable[Messages]]
"""Makes the messages of a topic from what the browser asked for. Raises HttpProblem and OutliveError."""


class BrowserStream:
    """The topics of one browser."""

    def __init__(self, sources: dict[str, TopicSource]) -> None:
        self.id = secrets.token_hex(16)
        self._sources = sources
        self._waiting: asyncio.Queue[ServerEvent | None] = asyncio.Queue(MOST_WAITING)
        self._topics: dict[str, asyncio.Task[None]] = {}

    def add(self, name: str, topic: dict[str, Any]) -> None:
        """Begin a topic; one of the same name is replaced. Raises HttpProblem."""
        self.remove(name)
        if len(self._topics) >= MOST_TOPICS:
            raise HttpProblem(409, f"a stream has at most {MOST_TOPICS} topics", code="too_many")
        self._topics[name] = asyncio.ensure_future(self._pump(name, topic))

    def remove(self, name: str) -> None:
        if task := self._topics.pop(name, None):
            task.cancel()

    async def messages(self) -> Messages:
        """Everything that the topics say, until the browser leaves or the server ends."""
        try:
            yield ServerEvent({"stream": self.id}, "open")
            while True:
                try:
                    message = await asyncio.wait_for(self._waiting.get(), KEEP_ALIVE_SECONDS)
                except TimeoutError:
                    message = ServerEvent({}, "alive")
                if message is None:
                    return
                yield message
        finally:
            self.close()

    def end(self) -> None:
        """The server ends: nothing more comes."""
        self.close()
        while not self._waiting.empty():
            self._waiting.get_nowait()
        self._waiting.put_nowait(None)

    def close(self) -> None:
        for name in list(self._topics):
            self.remove(name)

    async def _pump(self, name: str, topic: dict[str, Any]) -> None:
        try:
            source = self._sources.get(str(topic.get("kind")))
            if source is None:
                raise bad_request(f"there is no topic of the kind {str(topic.get('kind'))[:40]!r}")
            async with aclosing(await source(topic)) as messages:
                async for message in messages:
                    if message.event != "alive":
                        await self._tell(name, message.event, message.data, message.id)
        except (HttpProblem, OutliveError) as error:
            await self._tell(name, "refused", {"message": error.message, "code": error.code})
        except Exception:  # the browser is told that something failed, the terminal what
            logging.getLogger("outlive").exception("topic %s", topic.get("kind"))
            await self._tell(name, "refused", {"message": "the server met an unexpected error", "code": "internal"})

    async def _tell(self, name: str, event: str, data: object, id: int | None = None) -> None:
        await self._waiting.put(ServerEvent({"topic": name, "id": id, "data": data}, event))


class Streams:
    """The streams of all browsers that are connected."""

    def __init__(self, sources: dict[str, TopicSource]) -> None:
        self._sources = sources
        self._open: dict[str, BrowserStream] = {}

    def routes(self) -> list[Route]:
        return [
            Route("/api/stream", route(self._live)),
            Route("/api/stream/{stream}", route(self._change), methods=["POST"]),
        ]

    @property
    def watched(self) -> bool:
        """Whether a browser is connected."""
        return bool(self._open)

    def end(self) -> None:
        for one in list(self._open.values()):
            one.end()

    async def _live(self, request: Request) -> object:
        return stream(self._messages())

    async def _messages(self) -> Messages:
        opened = BrowserStream(self._sources)
        self._open[opened.id] = opened
        try:
            async for message in opened.messages():
                yield message
        finally:
            opened.close()
            del self._open[opened.id]

    async def _change(self, request: Request) -> object:
        """Remove topics, then add topics: `{"remove": [NAME…], "add": {NAME: {"kind": …}}}`."""
        found = self._open.get(request.path_params["stream"])
        if found is None:
            raise HttpProblem(404, "this stream is not open", code="unknown_stream")
        form = await form_of(request)
        remove, add = form.get("remove", []), form.get("add", {})
        if not isinstance(remove, list) or not isinstance(add, dict):
            raise bad_request("remove must be a list of names, and add an object of topics")
        for name in remove:
            found.remove(str(name))
        for name, topic in add.items():
            if not isinstance(topic, dict) or len(name) > LONGEST_NAME:
                raise bad_request("a topic must be an object with a short name")
            found.add(name, topic)
        return {}
