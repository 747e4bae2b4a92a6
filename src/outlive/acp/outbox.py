"""Updates of one session on their way to the editor: sent in order, and fewer when it reads slowly."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from acp.schema import AgentMessageChunk, AgentThoughtChunk, TextContentBlock, ToolCallProgress
from pydantic import BaseModel


class Outbox:
    """Sends updates in order; waiting ones are merged: pieces of a text, and states of one tool call."""

    def __init__(self, send: Callable[[BaseModel], Awaitable[None]]) -> None:
        self._send = send
        self._waiting: deque[BaseModel] = deque()
        self._sending: asyncio.Task[None] | None = None

    def put(self, *updates: BaseModel) -> None:
        for update in updates:
            last = self._waiting[-1] if self._waiting else None
            if last is not None and (both := _joined(last, update)) is not None:
                self._waiting[-1] = both
            else:
                self._waiting.append(update)
        if self._waiting and (self._sending is None or self._sending.done()):
            self._sending = asyncio.ensure_future(self._drain())

    async def flush(self) -> None:
        """Wait until everything is sent."""
        while self._sending is not None and not self._sending.done():
            await asyncio.wait([self._sending])

    async def _drain(self) -> None:
        try:
            while self._waiting:
                await self._send(self._waiting.popleft())
        except ConnectionError:  # the editor is gone; the log has everything
            self._waiting.clear()


def _joined(first: BaseModel, second: BaseModel) -> BaseModel | None:
    match first, second:
        case (
            AgentMessageChunk(content=TextContentBlock()) | AgentThoughtChunk(content=TextContentBlock()),
            AgentMessageChunk(content=TextContentBlock()) | AgentThoughtChunk(content=TextContentBlock()),
        ):
            if type(first) is type(second) and first.message_id == second.message_id:
                content = TextContentBlock(type="text", text=first.content.text + second.content.text)
                return first.model_copy(update={"content": content})
        case ToolCallProgress(), ToolCallProgress() if first.tool_call_id == second.tool_call_id:
            return first.model_copy(update={name: getattr(second, name) for name in second.model_fields_set})
    return None
