"""A process of `bench.web_readers`: the agent, all browsers, or the control.

It says that it is ready, waits for a line, and tells what it measured.
"""

import http.client
import json
import resource
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
from tests.web.made import answer, started

SESSION = "busy"
PAUSE = 1.0
"""Seconds between two questions for the summary."""
SLICE = 0.01
"""Seconds between two pauses of the control."""


def agent(folder: str, steps: str) -> dict[str, float]:
    """Make so many steps as fast as it can."""
    with started(Path(folder), SESSION) as session:
        answer(session, 0, lines=5)
        _ready()
        sys.stdin.readline()
        used, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        for number in range(1, int(steps) + 1):
            answer(session, number, lines=5)
        seconds, now = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
    return {"seconds": seconds, "agent": _seconds(now) - _seconds(used), "waits": now.ru_nvcsw - used.ru_nvcsw}


def browsers(origin: str, token: str, workspace: str, count: str) -> dict[str, float]:
    """Read so many streams, each with the topics of a session's page, and throw away what they say. As the page does,
    each asks for the summary of the session when it has changed, at most once in `PAUSE`."""
    ended = _line_comes()
    changed: set[int] = set()
    asking = threading.Thread(target=_ask, args=(ended, changed, origin, token, workspace))
    with selectors.DefaultSelector() as selector:
        for number in range(int(count)):
            selector.register(_stream(origin, token, workspace), selectors.EVENT_READ, number)
        _ready()
        asking.start()
        before, messages, last = _seconds(resource.getrusage(resource.RUSAGE_SELF)), 0, False
        while not last:
            last = ended.wait(0.02)  # what has come meanwhile is read at once, so that reading costs little
            for key, _ in selector.select(0):
                data = key.fileobj.recv(1 << 24)  # type: ignore[union-attr]
                messages += data.count(b"\ndata: ")
                if b"event: changed" in data:
                    changed.add(key.data)
    asking.join()
    return {"browsers": _seconds(resource.getrusage(resource.RUSAGE_SELF)) - before, "messages": messages}


def _ask(ended: threading.Event, changed: set[int], origin: str, token: str, workspace: str) -> None:
    """Ask for the summary for each browser that was told of a change."""
    connection = http.client.HTTPConnection(urlsplit(origin).netloc)
    asked: dict[int, float] = {}
    while not ended.wait(0.02):
        for number in [one for one in list(changed) if time.monotonic() - asked.get(one, 0.0) > PAUSE]:
            asked[number] = time.monotonic()
            changed.discard(number)
            connection.request("GET", f"/api/w/{workspace}/sessions/{SESSION}/summary", headers=_bearer(token))
            connection.getresponse().read()
            if ended.is_set():
                return


def control(share: str) -> dict[str, float]:
    """Take a share of one processor."""
    ended = _line_comes()
    _ready()
    before = _seconds(resource.getrusage(resource.RUSAGE_SELF))
    first, began = time.process_time(), time.perf_counter()
    while not ended.is_set():
        if time.process_time() - first < float(share) * (time.perf_counter() - began):
            until = time.process_time() + SLICE
            while time.process_time() < until:
                pass
        else:
            time.sleep(SLICE)
    return {"browsers": _seconds(resource.getrusage(resource.RUSAGE_SELF)) - before}


def _stream(origin: str, token: str, workspace: str) -> socket.socket:
    """A stream that has said that both topics have begun."""
    parts = urlsplit(origin)
    connection = socket.create_connection((parts.hostname, parts.port))
    head = f"GET /api/stream HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {token}\r\n\r\n"
    connection.sendall(head.encode())
    seen = _until(connection, b"", b'"stream":"')
    stream = _until(connection, seen.partition(b'"stream":"')[2], b'"').partition(b'"')[0].decode()
    topic = {"workspace": workspace}
    log = topic | {"kind": "log", "session": SESSION, "after": 1}
    form = {"add": {"changes": topic | {"kind": "changes"}, "log": log}}
    httpx2.post(f"{origin}/api/stream/{stream}", json=form, headers=_bearer(token), timeout=60)
    seen = _until(connection, b"", b"event: grown", b"event: watching")
    return connection


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _until(connection: socket.socket, seen: bytes, *marks: bytes) -> bytes:
    while not all(mark in seen for mark in marks):
        seen += connection.recv(1 << 20)
    return seen


def _line_comes() -> threading.Event:
    """Set when a line has come on the standard input."""
    come = threading.Event()

    def wait() -> None:
        sys.stdin.readline()
        come.set()

    threading.Thread(target=wait, daemon=True).start()
    return come


def _ready() -> None:
    print("ready", flush=True)


def _seconds(used: resource.struct_rusage) -> float:
    return used.ru_utime + used.ru_stime


PARTS: dict[str, Callable[..., dict[str, float]]] = {"agent": agent, "browsers": browsers, "control": control}

if __name__ == "__main__":
    print(json.dumps(PARTS[sys.argv[1]](*sys.argv[2:])))
