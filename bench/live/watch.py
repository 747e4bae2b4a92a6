"""A proxy in front of the server that notes what was answered, and how long it took."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

HOP = ("transfer-encoding", "connection", "content-length", "host", "accept-encoding")


@dataclass
class Watched:
    """What went through since it was last cleared."""

    url: str
    requests: int = 0
    refused: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def clear(self) -> None:
        self.requests, self.refused, self.seconds = 0, [], 0.0


@contextmanager
def watch(target: str) -> Iterator[Watched]:
    """Forward everything to `target`."""
    address = urlsplit(target)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._forward()

        def do_POST(self) -> None:
            self._forward()

        def log_message(self, format: str, *args: object) -> None: ...

        def _forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            kept = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
            began = time.monotonic()
            connection = HTTPConnection(str(address.hostname), address.port)
            connection.request(self.command, self.path, body, kept)
            answer = connection.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in HOP:
                    self.send_header(name, value)
            self.end_headers()
            whole = b""
            try:
                while data := answer.read1(65_536):
                    self.wfile.write(data)
                    whole = (whole + data)[:2_000]
            except OSError:  # the agent went away, for example to stop a runaway answer
                pass
            finally:
                connection.close()
            if self.path.endswith("/completions"):  # and not a question about the window
                seen.requests += 1
                seen.seconds += time.monotonic() - began
                if answer.status >= 400:
                    seen.refused.append(f"{answer.status} {whole.decode(errors='replace')[:300]}")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    seen = Watched(f"http://127.0.0.1:{server.server_port}/v1")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield seen
    finally:
        server.shutdown()
        server.server_close()
