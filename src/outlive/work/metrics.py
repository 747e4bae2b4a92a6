"""Numbers about a worker in the text format of Prometheus, served on an address of the user's choice."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from outlive.errors import ConfigError

_COUNTED = {"claimed": "claimed", "completed": "completed", "ended": "ended", "heartbeat_failed": "heartbeat_failed"}
_HELP = {
    "outlive_tasks_total": ("counter", "What became of tasks that this worker has claimed."),
    "outlive_dollars_total": ("counter", "What this worker has spent."),
    "outlive_slots": ("gauge", "Tasks that this worker works on at most."),
    "outlive_slots_busy": ("gauge", "Tasks that it works on now."),
    "outlive_draining": ("gauge", "1 if it takes no more tasks."),
    "outlive_heartbeat_age_seconds": ("gauge", "Since the store has last confirmed that the worker is alive."),
}


class Metrics:
    """Counts events of the log, and asks for what is true now when it is read."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()
        self.gauges: Callable[[], Mapping[str, float]] = lambda: {}

    def saw(self, event: str, fields: Mapping[str, Any]) -> None:
        if event in _COUNTED:
            self._outcomes[str(fields.get("why", event))] += 1

    def text(self) -> str:
        """All metrics in the exposition format."""
        lines = []
        for name, (kind, about) in _HELP.items():
            lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
            if name == "outlive_tasks_total":
                lines += [f'{name}{{outcome="{_escaped(why)}"}} {n}' for why, n in sorted(self._outcomes.items())]
            elif (value := self.gauges().get(name)) is not None:
                lines.append(f"{name} {value:g}")
        return "\n".join(lines) + "\n"


def serve_metrics(metrics: Metrics, address: str) -> Callable[[], None]:
    """Serve `/metrics` and `/healthz` on HOST:PORT; the returned function stops that. Raises ConfigError."""
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        raise ConfigError(f"metrics need HOST:PORT, such as 127.0.0.1:9464, not {address!r}")

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            known: dict[str, Callable[[], str]] = {"/metrics": metrics.text, "/healthz": lambda: "ok\n"}
            found = known.get(self.path)
            body = found().encode() if found else b"not found\n"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    try:
        server = ThreadingHTTPServer((host.strip("[]") or "127.0.0.1", int(port)), Handler)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"metrics cannot be served on {address}: {error}") from None
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()

    def stop() -> None:
        server.shutdown()
        server.server_close()

    return stop


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
