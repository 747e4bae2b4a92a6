"""What a worker reports: one line for each thing that happens, for people or as JSON."""

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal

from outlive.printable import clean
from outlive.secrets import mask

LogForm = Literal["text", "json"]
Observer = Callable[[str, dict[str, Any]], None]
MAX_TEXT_CHARS = 2_000  # of a field: log collectors cut long lines


class WorkLog:
    """Writes lines; safe in any thread."""

    def __init__(self, write: Callable[[str], object], form: LogForm = "text", *, worker: str = "") -> None:
        self._write = write
        self._form = form
        self._worker = worker
        self._lock = threading.Lock()
        self.observers: list[Observer] = []

    def say(self, event: str, **fields: Any) -> None:
        """Report an event. Fields without a value are left out."""
        shown = {key: _text(value) for key, value in fields.items() if value not in (None, "", [], ())}
        line = self._json(event, shown) if self._form == "json" else _plain(event, shown)
        with self._lock:
            self._write(line)
            for observer in self.observers:
                observer(event, fields)

    def _json(self, event: str, fields: dict[str, Any]) -> str:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        return json.dumps({"at": at, "worker": self._worker, "event": event, **fields}, default=str)


def _text(value: Any) -> Any:
    return mask(value[:MAX_TEXT_CHARS]) if isinstance(value, str) else value


def _plain(event: str, fields: dict[str, Any]) -> str:
    rest = dict(fields)
    about = f" #{rest.pop('task')}" if "task" in rest else ""
    told = "  ".join(f"{key}={' '.join(str(value).split())}" for key, value in rest.items())
    return clean(f"{datetime.now():%H:%M:%S}{about} {event.replace('_', ' ')}  {told}".rstrip())
