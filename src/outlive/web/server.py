"""Listening on loopback, and serving until SIGINT or SIGTERM."""

import asyncio
import ipaddress
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress

import uvicorn

from outlive.ending import terminations
from outlive.errors import ConfigError
from outlive.web.access import Access
from outlive.web.app import make_app
from outlive.web.hub import Hub
from outlive.web.workspaces import Workspaces

GRACE_SECONDS = 1  # event streams never end by themselves, so Ctrl-C does not wait for them
MOST_CONNECTIONS = 500  # refused above this, before open files run out (often 1,024)
LOOPBACK = ("127.0.0.1", "::1")
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


class _Server(uvicorn.Server):
    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override] # it would raise them again
        return nullcontext()


def listen(port: int | None, usual: int, host: str | None = None) -> list[socket.socket]:
    """Sockets on loopback, or on `host`. Without a port the `usual` one, or a free one if that is taken.

    Raises ConfigError.
    """
    hosts = (host,) if host else LOOPBACK
    try:
        first = _socket(hosts[0], usual if port is None else port)
    except OSError as error:
        if port is not None:
            raise ConfigError(
                f"cannot listen on {hosts[0]}, port {port}: {error.strerror or error}", hint="port 0 takes a free one"
            ) from None
        first = _socket(hosts[0], 0)
    sockets = [first]
    for other in hosts[1:]:
        with suppress(OSError):  # a machine without IPv6, or the port is taken there
            sockets.append(_socket(other, first.getsockname()[1]))
    return sockets


def _socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)


def host_names(host: str | None, port: int) -> list[str]:
    """The values of the Host header that are ours."""
    names = list(LOOPBACK_NAMES)
    if host:
        names.append(f"[{host}]" if ":" in host else host)
        with suppress(ValueError):
            if ipaddress.ip_address(host).is_unspecified:
                names += [socket.gethostname(), *_addresses()]
    return [f"{name}:{port}" for name in names]


def _addresses() -> list[str]:
    """The addresses of this machine by its own name."""
    with suppress(OSError):
        found = {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
        return [f"[{address}]" if ":" in address else address for address in sorted(found)]
    return []


def serve(
    workspaces: Workspaces,
    sockets: list[socket.socket],
    *,
    token: str,
    host: str | None,
    listening: Callable[[], None],
) -> None:
    """Serve until a signal. `listening` is called once requests are answered."""
    try:
        asyncio.run(_serve(workspaces, sockets, token, host, listening))
    finally:
        for listener in sockets:
            listener.close()


async def _serve(
    workspaces: Workspaces, sockets: list[socket.socket], token: str, host: str | None, listening: Callable[[], None]
) -> None:
    port = sockets[0].getsockname()[1]
    hub = Hub()
    app = Access(make_app(workspaces, hub), token=token, hosts=host_names(host, port), port=port)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        limit_concurrency=MOST_CONNECTIONS,
        ws="none",
    )
    server = _Server(config)

    def leave() -> None:
        hub.close()
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, *terminations()):
        loop.add_signal_handler(name, leave)
    listening()
    await server.serve(sockets=sockets)
