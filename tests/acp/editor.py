"""An editor: the protocol's own client library, a user who answers questions, and `outlive acp` as a process."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from acp.client.connection import ClientSideConnection
from acp.helpers import text_block
from acp.schema import (
    AgentMessageChunk,
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    PromptResponse,
    RequestPermissionResponse,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
)

from acp import PROTOCOL_VERSION, Client, connect_to_agent
from outlive.testing import Simulator
from tests.fork_server import fork_server

MODEL = "anthropic:claude-sonnet-5-5"
Answer = str | Callable[[ToolCallUpdate], Awaitable[str]]


class Editor:
    """Keeps every update and every question."""

    agent: ClientSideConnection

    def __init__(self, answer: Answer = "reject") -> None:
        self.answer = answer
        self.updates: list[tuple[str, Any]] = []
        self.questions: list[tuple[ToolCallUpdate, list[PermissionOption]]] = []
        self.pid = 0
        self.errors = ""
        self.code: int | None = None

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append((session_id, update))

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        self.questions.append((tool_call, options))
        chosen = self.answer if isinstance(self.answer, str) else await self.answer(tool_call)
        if chosen == "cancelled":
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    async def new(self, folder: Path) -> str:
        return (await self.agent.new_session(cwd=str(folder))).session_id

    async def say(self, session: str, *content: Any) -> PromptResponse:
        blocks = [text_block(one) if isinstance(one, str) else one for one in content]
        return await self.agent.prompt(session_id=session, prompt=blocks)

    # -- what it was told

    def of(self, session: str, *kinds: type[Any]) -> list[Any]:
        return [one for id, one in self.updates if id == session and (not kinds or isinstance(one, kinds))]

    def text(self, session: str, kind: type[Any] = AgentMessageChunk) -> str:
        return "".join(one.content.text for one in self.of(session, kind))

    def call(self, session: str, title: str) -> dict[str, Any]:
        """A tool call as an editor shows it in the end: later updates replace what they name."""
        start = next(one for one in self.of(session, ToolCallStart) if one.title.startswith(title))
        shown: dict[str, Any] = start.model_dump(exclude_none=True)
        for update in self.of(session, ToolCallProgress):
            if update.tool_call_id == start.tool_call_id:
                shown |= update.model_dump(exclude_none=True)
        return shown

    async def until(self, true: Callable[[], Any], what: str) -> None:
        async with asyncio.timeout(300):
            while not true():
                await asyncio.sleep(0.02)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def environment(folder: Path, sim: Simulator | None) -> dict[str, str]:
    return dict(os.environ) | (sim.env() if sim else {}) | {"OUTLIVE_HOME": str(folder.parent / "home")}


@asynccontextmanager
async def process(
    folder: Path, sim: Simulator | None, *arguments: str, editor: Editor
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """`outlive acp` and the pipes to it. At the end they are closed, and it has to end by itself."""
    source, sink = os.pipe()
    given = ["acp", "--model", MODEL, *arguments]
    agent = fork_server().start(given, folder=folder, environment=environment(folder, sim), stdin=source)
    editor.pid = agent.pid
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**26)
    incoming, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), agent.stdout)
    outgoing, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(sink, "wb")
    )
    try:
        yield reader, asyncio.StreamWriter(outgoing, protocol, None, loop)
    finally:
        outgoing.close()
        editor.errors = await asyncio.to_thread(agent.stderr.read)
        editor.code = await asyncio.to_thread(agent.wait)
        incoming.close()
        agent.stderr.close()


@asynccontextmanager
async def opened(
    folder: Path, sim: Simulator | None, *arguments: str, answer: Answer = "reject"
) -> AsyncIterator[Editor]:
    """An editor that is connected. Nothing but the protocol may be written, to either stream."""
    editor = Editor(answer)
    async with process(folder, sim, *arguments, editor=editor) as (reader, writer):
        editor.agent = connect_to_agent(cast(Client, editor), writer, reader, use_unstable_protocol=True)
        await editor.agent.initialize(protocol_version=PROTOCOL_VERSION)
        try:
            yield editor
        finally:
            await editor.agent.close()
    assert editor.errors == ""
    assert editor.code in (0, -signal.SIGKILL)
