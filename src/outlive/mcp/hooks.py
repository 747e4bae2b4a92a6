"""Answers the hooks of the client that started this server, over a unix socket of the user's own."""

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from outlive import __version__
from outlive.clients import CLIENTS_WITH_HOOKS, MAX_EVENT_BYTES
from outlive.clients.server_socket import socket_path
from outlive.private import make_private

Event = dict[str, Any]
_log = logging.getLogger(__name__)


class HookSocket:
    """The socket, once `listen` has made it. Without it, hooks answer themselves, and take longer."""

    def __init__(self, answer: Callable[[str, Event], Awaitable[str]]) -> None:
        """`answer` takes a client's name and its event."""
        self._answer = answer
        self._made: tuple[Path, int] | None = None

    async def listen(self) -> None:
        path = socket_path(os.getppid())
        if path is None:
            return
        try:
            make_private(path.parent)
            path.unlink(missing_ok=True)  # of a server that was killed, or of another one of this client
            await asyncio.start_unix_server(self._serve, path, limit=MAX_EVENT_BYTES)
            path.chmod(0o600)
            self._made = path, path.stat().st_ino
        except OSError as error:
            _log.warning("hooks are not answered here: %s", error)

    def close(self) -> None:
        """Remove the socket, unless another server has replaced it."""
        if self._made:
            path, inode = self._made
            with suppress(OSError):
                if path.stat().st_ino == inode:
                    path.unlink()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            form = await self._answered(json.loads(await reader.readuntil(b"\n")))
            writer.write(json.dumps(form).encode() + b"\n")
            await writer.drain()
        writer.close()

    async def _answered(self, form: Any) -> Event:
        asked = form if isinstance(form, dict) else {}
        client, event = asked.get("client"), asked.get("event")
        if asked.get("version") != __version__ or client not in CLIENTS_WITH_HOOKS or not isinstance(event, dict):
            return {"error": f"this is outlive {__version__}, which answers hooks of its own version"}
        return {"text": await self._answer(client, event)}
