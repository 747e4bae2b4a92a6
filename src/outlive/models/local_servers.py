"""What a server says about its models: their names and context windows. It is asked with GET requests and a model's
name, never with words of the user; every answer is bounded in time and size."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

T = TypeVar("T")
LOCAL_PORTS = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080, "vLLM": 8000}
PROBE_SECONDS = 0.3
"""Seconds for a server on this machine to list its models."""
WINDOW_SECONDS = 2.0
"""Seconds for all questions about the window of a model."""
MAX_LISTING_BYTES = 2_000_000  # any program may listen on these ports
MAX_WINDOW = 100_000_000  # a larger number is not a window
_OWNERS = {"llamacpp": "llama.cpp", "vllm": "vLLM", "library": "Ollama", "organization_owner": "LM Studio"}
_NOT_CHAT = re.compile(r"embed|rerank|whisper|tts|bge-|minilm", re.IGNORECASE)
_LENGTHS = ("max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length")
"""Names of the window in listings, in order of preference."""
_OLLAMA_SETTING = re.compile(r"^num_ctx\s+(\d{1,9})\s*$", re.MULTILINE)


class ServedModel(Struct, frozen=True):
    """A model of a server."""

    server: str
    address: str
    name: str
    window: int = 0


class ServedWindow(Struct, frozen=True):
    """A context window, and the answer that it was read from; 0 if the server does not say."""

    tokens: int = 0
    origin: str = ""


def in_time(work: Callable[[], T], seconds: float, otherwise: T) -> T:
    """The result of `work`, or `otherwise` if it takes longer; the thread then ends by itself."""
    found: list[T] = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0] if found else otherwise


def local_models(ports: Mapping[str, int] = LOCAL_PORTS, timeout: float = PROBE_SECONDS) -> list[ServedModel]:
    """The models of the usual local servers, queried in parallel; in the order of `ports`."""
    answers: dict[str, list[ServedModel]] = {}

    def ask(server: str, port: int) -> None:
        answers[server] = listed(server, f"http://127.0.0.1:{port}/v1", timeout)

    threads = [threading.Thread(target=ask, args=entry, daemon=True) for entry in ports.items()]
    for thread in threads:
        thread.start()
    until = time.monotonic() + timeout
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return [model for server in ports for model in answers.get(server, ())]


def listed(server: str, address: str, timeout: float, key: str = "") -> list[ServedModel]:
    """The models that the server at an address lists; empty if there is none or its answer is invalid."""
    return [
        ServedModel(_OWNERS.get(str(model.get("owned_by")), server), address, str(model["id"]), _length(model))
        for model in _entries(_get(f"{address.rstrip('/')}/models", timeout, key))
        if not _NOT_CHAT.search(str(model["id"]))
    ]


def served_window(address: str, name: str, *, key: str = "", timeout: float = WINDOW_SECONDS) -> ServedWindow:
    """The window of a model, as its server says."""
    return in_time(lambda: _served_window(address, name, key, timeout), timeout, ServedWindow())


def _served_window(address: str, name: str, key: str, timeout: float) -> ServedWindow:
    for path, tokens in _answers(address.rstrip("/"), name, key, timeout):
        if tokens:
            return ServedWindow(tokens, f"as the server at {address} says ({path})")
    return ServedWindow()


def _answers(address: str, name: str, key: str, timeout: float) -> Iterator[tuple[str, int]]:
    """Each question that a server may answer, and the window in its answer or 0."""
    entries = _entries(_get(f"{address}/models", timeout, key))
    mine = [entry for entry in entries if entry["id"] in (name, f"{name}:latest")] or entries[:1] * (
        len(entries) == 1
    )
    yield "/v1/models", _length(mine[0]) if mine else 0
    if not address.startswith("http://"):
        return
    root = address.removesuffix("/v1")
    in_studio = [entry for entry in _entries(_get(f"{root}/api/v0/models", timeout, key)) if entry["id"] == name]
    yield "/api/v0/models", _length(in_studio[0]) if in_studio else 0
    props = _get(f"{root}/props", timeout, key)
    yield "/props", _whole(_dict(_dict(props).get("default_generation_settings")).get("n_ctx"))
    loaded = [_dict(entry) for entry in _list(_dict(_get(f"{root}/api/ps", timeout, key)).get("models"))]
    running = [entry for entry in loaded if entry.get("name") in (name, f"{name}:latest")]
    yield "/api/ps", _whole(running[0].get("context_length")) if running else 0
    shown = _dict(_get(f"{root}/api/show", timeout, key, {"model": name}))
    setting = _OLLAMA_SETTING.search(str(shown.get("parameters", ""))[:MAX_LISTING_BYTES])
    yield "/api/show, num_ctx", int(setting[1]) if setting else 0
    lengths = (value for key, value in _dict(shown.get("model_info")).items() if key.endswith(".context_length"))
    yield "/api/show, the most that the model takes; OLLAMA_CONTEXT_LENGTH may be less", _whole(next(lengths, 0))


def _length(model: Mapping[str, Any]) -> int:
    """The context window in an entry of a listing, else 0."""
    if length := _whole(_dict(model.get("meta")).get("n_ctx")):
        return length
    return next((length for key in _LENGTHS if (length := _whole(model.get(key)))), 0)


def _entries(form: object) -> list[dict[str, Any]]:
    return [model for model in map(_dict, _list(_dict(form).get("data"))) if isinstance(model.get("id"), str | int)]


def _get(url: str, timeout: float, key: str, body: Mapping[str, str] | None = None) -> object:
    """The JSON behind an address, or None; `body` makes it a POST."""
    try:
        place = urlsplit(url)
        connect = HTTPSConnection if place.scheme == "https" else HTTPConnection
        connection = connect(place.hostname or "", place.port, timeout=timeout)
    except (ValueError, HTTPException):
        return None
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        if body is None:
            connection.request("GET", place.path, headers=headers)
        else:
            content = json.dumps(body).encode("utf-8", "replace")
            connection.request("POST", place.path, content, headers | {"content-type": "application/json"})
        answer = connection.getresponse()
        return json.loads(answer.read(MAX_LISTING_BYTES)) if answer.status == 200 else None
    except (OSError, HTTPException, ValueError, RecursionError):
        return None
    finally:
        connection.close()


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _whole(value: object) -> int:
    """A window that a server may have; 0 for anything else."""
    return value if type(value) is int and 0 < value < MAX_WINDOW else 0
