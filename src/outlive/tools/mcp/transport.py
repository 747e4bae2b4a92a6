"""The way to an MCP server: a process with pipes, or HTTP. What it sends is bounded, and its process ends with us.

The SDK's own transport for processes reads lines of any length, lets no one know the process and inherits standard
error, so that this module has one of its own.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from outlive.config.mcp_server import McpServer
from outlive.errors import ConfigError
from outlive.secrets import Masker
from outlive.tools.permissions.sandbox import passing_shell
from outlive.tools.processes.children import close_pipes, exit_code, kill_group
from outlive.tools.processes.output import MaskedBytes
from outlive.tools.processes.programs import careful, find_program
from outlive.tools.processes.watchdog import WATCHDOG

MAX_MESSAGE_BYTES = 8 * 2**20
"""Bytes of one message: an image of the largest size that a model takes, and some text."""
Streams = tuple[Any, Any]
"""Messages from the server and to it, as the SDK's `Client` takes them."""
MAX_STDERR_BYTES = 4_000
"""Bytes that are kept of the end of standard error."""
GRACE_SECONDS = 1.0
"""Seconds that a server has to end after its input was closed, and again after SIGTERM."""
CONNECT_TIMEOUT_SECONDS = 10.0  # also what a read may take longer than a call: that one is to time out first
INHERITED_VARIABLES = (
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
)
"""All that a server gets of our environment; `env` of its settings comes on top."""
_GATE = 'read -r _ && exec "$@"'
"""The first line of input opens the gate, once the watchdog knows the process."""


class ErrorTail:
    """The end of what a server wrote to standard error, or its last errors of HTTP."""

    def __init__(self, mask: Masker) -> None:
        self._masked = MaskedBytes(mask.stream())
        self._kept = b""

    def add(self, data: bytes) -> None:
        self._kept = (self._kept + self._masked.add(data))[-MAX_STDERR_BYTES:]

    def text(self) -> str:
        """What is kept, without secrets."""
        return (self._kept + self._masked.release(all=True)).decode("utf-8", errors="replace")


@asynccontextmanager
async def process_streams(
    server: McpServer, root: Path, errors: ErrorTail, ended: Callable[[], None]
) -> AsyncIterator[Streams]:
    """Start the server's program in `root`. `ended` is called when it closes its output or sends what it may not."""
    command = server.command if os.sep in server.command else find_program(server.command)
    if command is None:
        raise ConfigError(f"there is no program {server.command!r} on PATH")
    variables = {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *(*passing_shell(), "-c", _GATE, "outlive", command, *server.args),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=root,
        env=careful(variables) | server.env,
        limit=MAX_MESSAGE_BYTES,
        start_new_session=True,
    )
    assert process.stdin and process.stdout and process.stderr  # noqa: S101, PT018 - started with pipes
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    spoke = False

    async def read(pipe: asyncio.StreamReader) -> None:
        nonlocal spoke
        async with to_session:
            with suppress(ValueError, anyio.BrokenResourceError):  # a line that is too long; nobody listens
                while line := await pipe.readline():
                    spoke = True
                    await to_session.send(_message(line))
            ended()

    async def write(pipe: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            pipe.write(b"\n")
            async for message in from_session:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                pipe.write(text.encode() + b"\n")
                await pipe.drain()

    async def complaints(pipe: asyncio.StreamReader) -> None:
        while data := await pipe.read(MAX_STDERR_BYTES):
            errors.add(data)

    with WATCHDOG.watching(process.pid):
        work = [read(process.stdout), write(process.stdin), complaints(process.stderr)]
        tasks = [asyncio.ensure_future(coroutine) for coroutine in work]
        try:
            yield incoming, outgoing
        finally:
            process.stdin.close()
            if not spoke:  # it does not read yet either
                kill_group(process.pid, signal.SIGTERM)
            await _end(process)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            close_pipes(process)
            for stream in (to_session, incoming, outgoing, from_session):
                stream.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    """Wait for the program to end by itself, then end its whole group."""
    try:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE_SECONDS):
                    await exit_code(process)
            kill_group(process.pid, number)
        await exit_code(process)
    finally:
        if process.returncode is None:  # we were told to hurry
            kill_group(process.pid)


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


@asynccontextmanager
async def http_streams(server: McpServer, errors: ErrorTail, ended: Callable[[], None]) -> AsyncIterator[Streams]:
    """Connect to the server's address. `ended` is called when the server has forgotten us. The SDK keeps redirects on
    the origin."""

    async def check(response: httpx2.Response) -> None:
        """Bound what is read of an answer. Events of a stream are bounded one by one by the SDK."""
        if response.status_code >= 400:
            errors.add(f"HTTP {response.status_code}\n".encode())
        if response.status_code == 404 and "mcp-session-id" in response.request.headers:
            ended()
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("it compressed its answer though it was asked not to")
        stream = response.stream
        is_events = response.headers.get("content-type", "").startswith("text/event-stream")
        if isinstance(stream, httpx2.AsyncByteStream) and not is_events:
            response.stream = _BoundedStream(stream)

    headers = {**server.headers, "Accept-Encoding": "identity"}
    timeout = httpx2.Timeout(CONNECT_TIMEOUT_SECONDS, read=server.timeout + CONNECT_TIMEOUT_SECONDS)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, event_hooks={"response": [check]}) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES) as streams,
    ):
        yield streams


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for data in self._stream:
            size += len(data)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.ReadError(f"it sent more than {MAX_MESSAGE_BYTES:,} bytes")
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()
