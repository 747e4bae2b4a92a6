"""A server with manners of its own, as local ones and gateways have: it says exactly what a test tells it to say."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, Any]
"""A status and a body; with 200 and a list, the chunks of a stream, of which texts are sent as they are."""


class Quirky:
    """The server, and what it was asked."""

    def __init__(self, answers: Sequence[Answer], models: Any = None, after: Answer | None = None) -> None:
        self.answers = list(answers)
        self.after = after
        """The answer when there are no more of them."""
        self.models = models
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def environment(self) -> dict[str, str]:
        return {"OPENAI_BASE_URL": self.url, "ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": "none"}


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the middle of an answer is nothing to report."""


@contextmanager
def quirky(*answers: Answer, models: Any = None, after: Answer | None = None) -> Iterator[Quirky]:
    server = Quirky(answers, models, after)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.keys.append(self.headers.get("authorization", ""))
            self._write(200 if server.models is not None else 404, server.models or {})

        def do_POST(self) -> None:
            server.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            status, body = server.answers.pop(0) if server.answers or server.after is None else server.after
            if status != 200 or not isinstance(body, list):
                self._write(status, body)
                return
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for chunk in body:
                if isinstance(chunk, dict) and isinstance(chunk.get("type"), str):
                    self.wfile.write(f"event: {chunk['type']}\n".encode())
                data = chunk if isinstance(chunk, str) else json.dumps(chunk)
                self.wfile.write(f"data: {data}\n\n".encode("utf-8", "surrogatepass"))
            self.wfile.write(b"data: [DONE]\n\n")

        def _write(self, status: int, body: Any) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    http = _Server(("127.0.0.1", 0), Handler)
    server.port = http.server_address[1]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": [choice]}


def piece(index: int | None, call_id: str | None, name: str | None, arguments: Any) -> dict[str, Any]:
    """A piece of a call, with only what is not None."""
    function = {"name": name, "arguments": arguments}
    form = {"index": index, "id": call_id, "type": "function", "function": _given(function)}
    return _given(form)


def _given(form: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in form.items() if value is not None}
