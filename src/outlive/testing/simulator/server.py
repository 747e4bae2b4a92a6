"""The HTTP server: reads requests, writes replies, and leaves no thread or socket behind when it closes."""

import contextlib
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias


@dataclass(frozen=True)
class WireReply:
    """A status with a body or the events of a stream; perhaps slow, perhaps cut off."""

    status: int
    body: bytes = b""
    events: tuple[bytes, ...] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    """Close the connection after so many events (a body: after half of it)."""
    within_line: bool = False
    """Close it in the middle of the next event."""


Handle: TypeAlias = Callable[[str, str, Mapping[str, str], bytes | None], WireReply]
"""Maps method, path, headers (lower-case names) and body (None if too large) to a reply."""
GONE = (BrokenPipeError, ConnectionResetError, ConnectionAbortedError)


class Server(ThreadingHTTPServer):
    """One thread per connection; closing ends the connections first, so that no thread waits for its client."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, port: int, largest: int, handle: Handle) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.largest = largest
        self.handle = handle
        self.closing = threading.Event()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), name="outlive-simulator")

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stop listening, end all connections, wait for all threads."""
        self.closing.set()
        self.shutdown()
        self._thread.join()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def server_bind(self) -> None:
        """Bind without the slow lookup of the host name."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that go away. Failures inside `handle` were answered and are reported by `verify`."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""

    def _serve(self) -> None:
        with contextlib.suppress(*GONE):
            length = self.headers.get("content-length", "0")
            if "transfer-encoding" in self.headers or not (length.isascii() and length.isdecimal()):
                self.send_error(411, "The simulator reads bodies of a known length only")
                return
            body = self._body(int(length))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._write(self.server.handle(self.command, self.path.split("?")[0], headers, body))
            self.wfile.flush()
            return
        self.close_connection = True

    def _body(self, length: int) -> bytes | None:
        """Return the body; one that is too large is read and discarded, so that the client gets the error."""
        if length <= self.server.largest:
            return self.rfile.read(length)
        self.close_connection = True
        while length > 0 and (got := self.rfile.read(min(length, 1 << 20))):
            length -= len(got)
        return None

    def _write(self, reply: WireReply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.events is None:
            self._write_whole(reply)
        else:
            self._write_stream(reply, reply.events)

    def _write_whole(self, reply: WireReply) -> None:
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        self.server.closing.wait(reply.delay)
        if reply.cut is None:
            self.wfile.write(reply.body)
        else:
            self.wfile.write(reply.body[: len(reply.body) // 2])
            self.close_connection = True

    def _write_stream(self, reply: WireReply, events: tuple[bytes, ...]) -> None:
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, event in enumerate(events):
            if reply.delay:
                self.wfile.flush()
                if self.server.closing.wait(reply.delay):
                    break
            if reply.cut is not None and number >= reply.cut:
                if reply.within_line:
                    self._chunk(event[: len(event) // 2])
                break
            self._chunk(event)
        if reply.cut is None and not self.server.closing.is_set():
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
