"""JSON-RPC messages over standard input and output, one a line. Nothing else can write there or read from there."""

import asyncio
import json
import os
from typing import Any

import msgspec

MAX_MESSAGE_BYTES = 32 * 2**20
"""Bytes of one message; a prompt may have several pictures."""
PARSE_ERROR, INVALID_REQUEST = -32700, -32600


class Stdio:
    """The `Transport` of the protocol's library. `receive` returns only messages that the library can handle."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._turn = asyncio.Lock()

    @classmethod
    async def open(cls) -> "Stdio":
        """Take over standard input and output: a print goes to standard error from now on, a read finds nothing."""
        source, sink = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        os.close(nothing)
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MAX_MESSAGE_BYTES)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(source, "rb"))
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(sink, "wb")
        )
        return cls(reader, asyncio.StreamWriter(transport, protocol, None, loop))

    async def send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        async with self._turn:
            self._writer.write(data + b"\n")
            await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None at the end. An invalid one is answered with an error and skipped."""
        while line := await self._line():
            if not line.strip():
                continue
            try:
                message = msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError) as error:
                await self._refuse(PARSE_ERROR, f"not JSON: {error}")
                continue
            if problem := _problem(message):
                await self._refuse(INVALID_REQUEST, problem)
                continue
            found: dict[str, Any] = message
            if not isinstance(found.get("error"), dict | None):
                found["error"] = {"message": str(found["error"])}  # somebody waits for this answer
            return found
        return None

    async def close(self) -> None:
        self._writer.close()

    async def _line(self) -> bytes:
        """A line with its end; empty at the end of the input. A line that is too long is skipped."""
        too_long = False
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                line = end.partial
            except asyncio.LimitOverrunError as error:
                await self._reader.readexactly(error.consumed)
                too_long = True
                continue
            if not too_long or not line:
                return line
            await self._refuse(
                INVALID_REQUEST, f"a message has more than {MAX_MESSAGE_BYTES:,} bytes and was not read"
            )
            too_long = False

    async def _refuse(self, code: int, message: str) -> None:
        await self.send({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}})


def _problem(message: object) -> str:
    """Why this is not a valid JSON-RPC message, else empty."""
    if not isinstance(message, dict):
        return "a message is a JSON object"
    if not isinstance(message.get("id"), int | str | None):
        return "id: it is a number or a text"
    if "method" not in message:
        return ""
    if not isinstance(message["method"], str):
        return "method: it is a text"
    return "" if isinstance(message.get("params"), dict | None) else "params: they are an object"
