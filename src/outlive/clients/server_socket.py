"""The socket at which the MCP server of a client answers its hooks: it has loaded what a hook would have to load.

Client, server and hook share the user's own folder; the socket is named by the client's process, which starts both.
Imports are few because every hook loads this module.
"""

import json
import os
from pathlib import Path

from outlive import __version__
from outlive.config.home import home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_SOCKET_PATH_BYTES = 100
"""Bytes of the path of a socket; the system takes about 107."""
CHUNK_BYTES = 1 << 16  # of one read; most answers fit


def socket_path(client: int) -> Path | None:
    """The socket for the hooks of a client's process; None if its path would be too long."""
    path = home() / "run" / f"hooks-{client}.sock"
    return path if len(os.fsencode(path)) <= MAX_SOCKET_PATH_BYTES else None


def ask_server(client: str, event: "dict[str, Any]") -> str | None:
    """The answer of the server to an event; None if no server of this version answers."""
    path = socket_path(os.getppid())
    if path is None:
        return None
    from _socket import AF_UNIX, SOCK_STREAM, socket  # the module `socket` takes longer to load than is saved

    connection = socket(AF_UNIX, SOCK_STREAM)
    try:
        connection.connect(os.fspath(path))
        request = {"version": __version__, "client": client, "event": event}
        connection.sendall(json.dumps(request).encode() + b"\n")
        found = b""
        while not found.endswith(b"\n"):
            chunk = connection.recv(CHUNK_BYTES)
            if not chunk:
                return None  # it was ended meanwhile
            found += chunk
    except TimeoutError:
        raise
    except OSError:
        return None
    finally:
        connection.close()
    text = json.loads(found).get("text")
    return text if isinstance(text, str) else None
