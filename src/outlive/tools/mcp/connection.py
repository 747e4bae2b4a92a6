"""One MCP server in a session: connected in a task of its own; after a death again when it is needed, within bounds.

A call that was under way when the server died is answered with an error and never repeated: it may have been done.
"""

import asyncio
import logging
import re
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from importlib import import_module
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from outlive.config.mcp_servers import ConfiguredServer
from outlive.errors import OutliveError
from outlive.printable import one_line
from outlive.secrets import Masker
from outlive.tools.errors import ToolError
from outlive.tools.mcp.results import untrusted_text

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult

    from outlive.tools.mcp.transport import ErrorTail

START_TIMEOUT_SECONDS = 60.0
"""Until a server has told its tools: `npx` may have to fetch it first."""
LIST_TIMEOUT_SECONDS = 10.0  # after a call that was too slow, to tell a slow tool from a dead server
CLOSE_TIMEOUT_SECONDS = 5.0  # then it is cancelled: a session's end must not hang
MAX_STARTS, STARTS_WITHIN = 3, 600.0
"""How often a server is started within so many seconds."""
MAX_TOOLS, MAX_PAGES, MAX_LIST_BYTES = 2_000, 50, 8 * 2**20
MAX_MESSAGE_CHARS = 400  # of an error, or of the end of what a server printed
_TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")

ServerState = Literal["not started", "starting", "ready", "ended", "failed"]


class RemoteTool(Struct, frozen=True):
    """A tool as its server describes it."""

    name: str
    description: str
    schema: dict[str, Any]
    read_only: bool
    """The server's claim that it changes nothing."""


class ServerConnection:
    """A server of this session. All of it runs in one event loop."""

    def __init__(self, named: ConfiguredServer, root: Path, note: Callable[[str], None], mask: Masker) -> None:
        self.name, self.named = named.name, named
        self.state: ServerState = "not started"
        self.problem = ""
        """Why it ended or failed, in our words."""
        self.details = ""
        """What it said about that, bounded and masked. It is untrusted: notes of the harness do not repeat it."""
        self.tools: dict[str, RemoteTool] = {}
        self.unusable = 0
        """Tools whose names no rule can spell: they are not offered."""
        self.instructions = ""
        self._root, self._note, self._mask = root, note, mask
        self._starts: deque[float] = deque(maxlen=MAX_STARTS)
        self._task: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        """It is ready, or will not be."""
        self._over = asyncio.Event()
        self._client: Client | None = None
        self._closing = False

    def start(self) -> None:
        """Connect in the background, unless it is connected or was started too often. Needs a running event loop."""
        if self._task is not None and not self._task.done():
            return
        now = time.monotonic()
        if len(self._starts) == MAX_STARTS and now - self._starts[0] < STARTS_WITHIN:
            return
        self._starts.append(now)
        self.state, self.problem, self.details = "starting", "", ""
        self._settled, self._over = asyncio.Event(), asyncio.Event()
        self._task = asyncio.ensure_future(self._serve())

    async def ready(self, seconds: float = START_TIMEOUT_SECONDS) -> None:
        """Wait until it can be used, and start it if need be. Raises ToolError with the reason why it cannot."""
        if self._task is not None and self._over.is_set():  # it is ending, which is bounded
            await asyncio.wait([self._task], timeout=CLOSE_TIMEOUT_SECONDS)
        self.start()
        if self.state == "starting":
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._settled.wait()
        if self.state == "starting":
            raise ToolError(f"MCP server {self.name} is still starting; try again later")
        if self.state != "ready":
            details = f"\n{untrusted_text(self.name, self.details)}" if self.details else ""
            raise ToolError(f"{self._obituary()}{details}")

    async def refresh(self) -> None:
        """Ask for its tools again; those that are known stay when it does not answer."""
        await self.ready()
        await self._answers(self._connected())

    async def call(self, tool: str, arguments: dict[str, Any]) -> "CallToolResult":
        """Call a tool once. Raises ToolError if the server does not answer in time, refuses, or dies."""
        await self.ready()
        client, seconds = self._connected(), self.named.server.timeout
        try:
            async with asyncio.timeout(seconds):
                return await client.call_tool(tool, arguments)
        except TimeoutError:
            message = f"MCP server {self.name} did not answer within {seconds:g} s; {tool} may have been done or not"
            if not await self._answers(client):
                self._over.set()
                message += f". It does not answer at all. {self._next_start()}"
            raise ToolError(message) from None
        except Exception as error:  # noqa: BLE001 - whatever a server or the SDK does, the session goes on
            message = f"MCP server {self.name} refused {tool}"
            if self._over.is_set() or _is_lost(error):
                self._over.set()
                message = f"MCP server {self.name} was lost; {tool} may have been done or not. {self._next_start()}"
            raise ToolError(f"{message}\n{untrusted_text(self.name, self._said(error))}") from None

    async def close(self) -> None:
        """End it: by itself within bounds, else by force."""
        self._closing = True
        self._over.set()
        if self._task is not None and not self._task.done():
            _, late = await asyncio.wait([self._task], timeout=CLOSE_TIMEOUT_SECONDS if self.state == "ready" else 0)
            for task in late:
                task.cancel()
                await asyncio.wait([task])

    # -- inside

    def _connected(self) -> "Client":
        if self._client is None:
            raise ToolError(f"MCP server {self.name} has just ended. {self._next_start()}")
        return self._client

    async def _answers(self, client: "Client") -> bool:
        """Whether it still tells its tools, which are as it says from now on."""
        try:
            async with asyncio.timeout(LIST_TIMEOUT_SECONDS):
                await self._list(client)
        except Exception:  # noqa: BLE001 - whatever it does instead
            return False
        return True

    async def _serve(self) -> None:
        """Connect, and stay connected until it is over."""
        errors: ErrorTail | None = None
        try:
            # About a second of work, which must not hold up the event loop.
            transport = await asyncio.to_thread(import_module, "outlive.tools.mcp.transport")
            for logger in map(logging.getLogger, ("mcp", "client")):  # else Python prints warnings of the SDK
                logger.handlers = logger.handlers or [logging.NullHandler()]
            errors = transport.ErrorTail(self._mask)
            async with asyncio.timeout(START_TIMEOUT_SECONDS) as limit, self._connecting(transport, errors) as client:
                client.session.validate_tool_result = _accepted  # type: ignore[method-assign]
                self.instructions = client.instructions or ""
                await self._list(client)
                limit.reschedule(None)
                self._client, self.state = client, "ready"
                self._settled.set()
                await self._over.wait()
            self.state, self.problem = "ended", "its connection was closed"
        except TimeoutError:
            self.state, self.problem = "failed", f"it did not answer within {START_TIMEOUT_SECONDS:g} s"
        except Exception as error:  # noqa: BLE001 - whatever a server or the SDK does, the session goes on
            failed = "its connection broke" if self.state == "ready" else "it could not be reached"
            self.state = "ended" if self.state == "ready" else "failed"
            ours = isinstance(error, OutliveError)
            self.problem, self.details = (str(error), "") if ours else (failed, self._said(error))
        finally:
            self._client = None
            tail = one_line(errors.text())[-MAX_MESSAGE_CHARS:] if errors else ""
            self.details = "\n".join(filter(None, (self.details, tail and f"last seen of it: {tail}")))
            self._settled.set()
        if not self._closing:
            self._note(self._obituary())

    def _connecting(self, transport: Any, errors: "ErrorTail") -> "AbstractAsyncContextManager[Client]":
        from mcp import Client
        from mcp_types import Implementation

        server = self.named.expanded()
        streams = (
            transport.http_streams(server, errors, self._over.set)
            if server.url
            else transport.process_streams(server, self._root, errors, self._over.set)
        )
        return Client(streams, client_info=Implementation(name="outlive", version=version("outlive")), cache=None)

    async def _list(self, client: "Client") -> None:
        found: dict[str, RemoteTool] = {}
        unusable, room = 0, MAX_LIST_BYTES
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                hints = tool.annotations
                read_only = bool(hints and hints.read_only_hint)
                if not _TOOL_NAME.fullmatch(tool.name):
                    unusable += 1
                    continue
                description = tool.description or ""
                room -= len(description) + len(msgspec.json.encode(tool.input_schema))
                if room >= 0:
                    found[tool.name] = RemoteTool(tool.name, description, tool.input_schema, read_only)
            cursor = page.next_cursor
            if cursor is None or len(found) >= MAX_TOOLS or room < 0:
                break
        self.tools, self.unusable = dict(islice(found.items(), MAX_TOOLS)), unusable

    def _said(self, error: BaseException) -> str:
        """What an error says, in one line of bounded length, without secrets."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        return one_line(self._mask(f"{type(error).__name__}: {error}"[: MAX_MESSAGE_CHARS * 8]), MAX_MESSAGE_CHARS)

    def _obituary(self) -> str:
        return f"MCP server {self.name} {self.state}: {self.problem}. {self._next_start()}"

    def _next_start(self) -> str:
        if len(self._starts) == MAX_STARTS and time.monotonic() - self._starts[0] < STARTS_WITHIN:
            return f"It was started {MAX_STARTS} times within {STARTS_WITHIN / 60:g} minutes: not again for a while"
        return "It is started again when it is needed"


async def _accepted(name: str, result: "CallToolResult") -> None:
    """Not checked: a result that does not fit the server's own schema is still what it said, and checking a pattern
    that the server chose may take for ever."""


def _is_lost(error: BaseException) -> bool:
    """Whether the connection is gone, and not only this call refused."""
    from mcp import MCPError
    from mcp_types import CONNECTION_CLOSED

    if isinstance(error, MCPError):
        return bool(error.error.code == CONNECTION_CLOSED)
    return not isinstance(error, ValueError | RuntimeError)  # an answer that makes no sense
