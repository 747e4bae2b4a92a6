"""The terminal as fingers feel it: from the start to the first key, and from a key to the screen while text arrives.

Everything is real but the model: `outlive` at a pty, a server on this machine that streams 200 tokens a second.
"""

import json
import os
import pty
import random
import re
import select
import signal
import statistics
import string
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

TIMES = 10
KEYS = 200
TOKENS_A_SECOND = 200
TOKENS = 6_000
DEADLINE_SECONDS = 60.0
ROWS, COLUMNS = 40, 120
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[()][A-Z0-9]|[=>78])")


def measure(_: int) -> None:
    with TemporaryDirectory() as name, streaming() as address:
        folder = Path(name) / "work"
        folder.mkdir()
        environment = {
            "HOME": name,
            "OUTLIVE_HOME": f"{name}/home",
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": address,
            "MODEL_ID": "anthropic:claude-haiku-4-5",
        }
        _starts(folder, environment)
        _keys(folder, environment)


class Typist:
    """A program at a pty, and what it has shown."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self.began = time.perf_counter()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(command[0], list(command), dict(environment))
        subprocess.run(["stty", "rows", str(ROWS), "cols", str(COLUMNS)], stdin=self.terminal, check=True)
        self.shown = ""

    def read(self, seconds: float) -> bool:
        """Take in what is shown within so many seconds; False if nothing is."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.terminal, 65536)
        except OSError:  # it ended
            return False
        if b"\x1b[6n" in data:  # prompt_toolkit asks where the cursor is
            os.write(self.terminal, b"\x1b[1;1R")
        self.shown += data.decode("utf-8", "replace")
        return True

    def until(self, text: str, times: int = 1) -> float:
        """Seconds until this is on the screen, from now."""
        began = time.perf_counter()
        while _SEQUENCE.sub("", self.shown).count(text) < times:
            self.read(0.1)
            if time.perf_counter() - began > DEADLINE_SECONDS:
                raise SystemExit(f"{text!r} was not shown, but {self.shown[-2000:]!r}")
        return time.perf_counter() - began

    def type(self, text: str) -> None:
        self.shown = ""
        os.write(self.terminal, text.encode())

    def end(self) -> float:
        """End it; seconds of CPU that it took."""
        os.kill(self.pid, signal.SIGKILL)
        used = os.wait4(self.pid, 0)[2]
        os.close(self.terminal)
        return used.ru_utime + used.ru_stime


def _starts(folder: Path, environment: Mapping[str, str]) -> None:
    """A key is typed at once, before the program can have read anything; when is it on the screen, in its prompt?"""
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(TIMES):
        for name, command in {
            "python -c pass": ["-c", "print('QQ')"],
            "import prompt_toolkit": ["-c", "import asyncio, prompt_toolkit; print('QQ')"],
            "outlive": ["-m", "outlive"],
        }.items():
            typist = Typist([sys.executable, *command], folder, environment)
            if name == "outlive":
                os.write(typist.terminal, b"Q")
            typist.until("Q", times=2)  # the terminal itself shows the key first
            wall = time.perf_counter() - typist.began
            found.setdefault(name, []).append((wall, typist.end()))
    print("\n### From the start to the first key in the prompt: milliseconds, best and median of", TIMES)
    print("\n| | best | median | CPU, best | against python |\n| --- | --- | --- | --- | --- |")
    bare = min(cpu for _, cpu in found["python -c pass"])
    for name, rows in found.items():
        walls, cpus = zip(*rows, strict=True)
        cells = [1000 * min(walls), 1000 * statistics.median(walls), 1000 * min(cpus)]
        print(f"| {name} | {' | '.join(f'{cell:.0f}' for cell in cells)} | {min(cpus) / bare:.1f}x |", flush=True)


def _keys(folder: Path, environment: Mapping[str, str]) -> None:
    print("\n### From a key to the screen: milliseconds\n")
    print("| | median | p95 | worst | over 16 ms |\n| --- | --- | --- | --- | --- |")
    typist = Typist([sys.executable, "-m", "outlive"], folder, environment)
    typist.until("> ")
    typist.read(1.0)
    _row("nothing arrives", _typed(typist))
    typist.type("\x15go\r")
    typist.until("word")
    _row(f"an answer arrives at {TOKENS_A_SECOND} tokens a second", _typed(typist))
    typist.end()


def _typed(typist: Typist) -> list[float]:
    """Milliseconds from a key to the screen, for keys at odd moments; nothing else that is shown has capitals."""
    chance, found = random.Random(1), []
    for number in range(KEYS):
        pause = time.perf_counter() + chance.uniform(0.02, 0.1)
        while (left := pause - time.perf_counter()) > 0:
            typist.read(left)
        if number % 50 == 49:
            typist.type("\x15")
            typist.read(0.2)
        key = string.ascii_uppercase[number % 26]
        typist.type(key)
        found.append(1000 * typist.until(key))
    return found


def _row(name: str, found: list[float]) -> None:
    ordered = sorted(found)
    slow = sum(value > 16 for value in found)
    figures = [statistics.median(found), ordered[int(len(ordered) * 0.95)], ordered[-1]]
    print(f"| {name} | {' | '.join(f'{figure:.1f}' for figure in figures)} | {slow} of {len(found)} |", flush=True)


@contextmanager
def streaming() -> Iterator[str]:
    """A server whose answers arrive a token at a time, as Markdown: its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            began = time.monotonic()
            for number, form in enumerate(_answer()):
                time.sleep(max(0.0, began + number / TOKENS_A_SECOND - time.monotonic()))
                self.wfile.write(f"event: {form['type']}\ndata: {json.dumps(form)}\n\n".encode())

        def log_message(self, format: str, *arguments: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """The terminal is ended in the middle of an answer."""

    server = Server(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def _answer() -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    yield {"type": "message_start", "message": {"id": "m", "model": "m", "usage": usage}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    for number in range(TOKENS):
        end = "\n\n" if number % 60 == 59 else "\n- " if number % 20 == 19 else " "
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": f"word{end}"}}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}
    yield {"type": "message_stop"}
