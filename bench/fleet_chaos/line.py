"""The line of one machine to PostgreSQL, which can be cut: then nothing arrives, and nothing says so."""

import selectors
import socket
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

NAME = ".s.PGSQL.5432"
"""Of the socket in a folder that a URL names as `host`."""
_BYTES = 65_536


class Line:
    """Listens in a folder of its own, and passes what comes on to the server that listens in `server`."""

    def __init__(self, server: Path) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="outlive-line-")  # the path of a socket must be short
        self.folder = Path(self._temporary.name)
        self._server = str(server / NAME)
        self._open = threading.Event()
        self._open.set()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / NAME))
        self._listener.listen(128)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._closing = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def cut(self) -> None:
        self._open.clear()

    def heal(self) -> None:
        self._open.set()

    def close(self) -> None:
        self._closing = True
        self._open.set()
        self._thread.join()
        self._temporary.cleanup()

    def _run(self) -> None:
        try:
            while not self._closing:
                for key, _ in self._selector.select(0.2):
                    self._open.wait()
                    if key.fileobj is self._listener:
                        self._accept()
                    elif isinstance(key.fileobj, socket.socket):
                        self._pass_on(key.fileobj, key.data)
        finally:
            for key in list(self._selector.get_map().values()):
                if isinstance(key.fileobj, socket.socket):
                    key.fileobj.close()
            self._selector.close()

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self._server)
        except OSError:  # it is being restarted
            client.close()
            return
        self._selector.register(client, selectors.EVENT_READ, server)
        self._selector.register(server, selectors.EVENT_READ, client)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        data = b""
        with suppress(OSError):
            data = source.recv(_BYTES)
            target.sendall(data)
        if not data:
            for end in (source, target):
                with suppress(KeyError, ValueError):
                    self._selector.unregister(end)
                end.close()
