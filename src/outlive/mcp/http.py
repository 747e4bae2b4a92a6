"""The server over streamable HTTP: on loopback only, for clients that know the token."""

import asyncio
import hmac
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from outlive.ending import terminations
from outlive.errors import ConfigError
from outlive.mcp.server import OutliveServer

HOST = "127.0.0.1"
GRACE = 2
"""Seconds that open streams have to end."""


class TokenRequired:
    """Middleware that refuses requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "lifespan" or hmac.compare_digest(given, self._expected):
            await self._app(scope, receive, send)
            return
        headers = {"www-authenticate": "Bearer"}
        refusal = PlainTextResponse("the token is missing or wrong\n", status_code=401, headers=headers)
        await refusal(scope, receive, send)


class _Web(uvicorn.Server):
    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override] # it would raise them again
        return nullcontext()


def run_http(server: OutliveServer, port: int, token: str, listening: Callable[[str], None]) -> None:
    """Serve on loopback until SIGINT or SIGTERM. `listening` is called with the URL."""
    try:
        listener = socket.create_server((HOST, port))
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {HOST}, port {port}: {error.strerror}", hint="0 takes a free one"
        ) from None
    try:
        asyncio.run(_serve(server, listener, token, listening))
    finally:
        listener.close()
        server.close()


async def _serve(
    server: OutliveServer, listener: socket.socket, token: str, listening: Callable[[str], None]
) -> None:
    port = listener.getsockname()[1]
    names = [f"{name}:{port}" for name in (HOST, "localhost")]
    only_us = TransportSecuritySettings(allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names])
    app = TokenRequired(server.protocol.streamable_http_app(transport_security=only_us), token)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=GRACE, ws="none"
    )
    web = _Web(config)

    def leave() -> None:
        server.changes.close()
        web.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, *terminations()):
        loop.add_signal_handler(number, leave)
    listening(f"http://{HOST}:{port}/mcp")
    await web.serve(sockets=[listener])
