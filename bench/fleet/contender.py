"""Starts the processes of one contender and gathers what they report."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[2]
PROCESSES = 4
"""At most so many; more workers are threads, or tasks of an event loop, within these."""


@dataclass(frozen=True)
class Contender:
    name: str
    module: str
    python: str
    database: str
    beats: bool = True

    def url(self, server: str) -> str:
        return urlsplit(server)._replace(path=f"/{self.database}").geturl()

    def run(self, server: str, command: str, *numbers: float) -> None:
        subprocess.run(self._words(server, command, numbers), check=True, cwd=ROOT, stderr=subprocess.DEVNULL)

    def drain(self, server: str, workers: int, seconds: float, ready: Callable[[], object] = bool) -> dict[str, Any]:
        """Jobs a second of all processes together, and how long every claim and every finish took. `ready` is called
        once all processes are there."""
        processes = min(workers, PROCESSES)
        with self._started(server, "drain", processes, workers // processes, float(seconds)) as started:
            ready()
            began = _go(started)
            reports = [_reported(process) for process in started]
        done = sum(len(report["finishes"]) for report in reports)
        return {
            "rate": done / (max(report["last"] for report in reports) - began),
            "processor": sum(report["processor"] for report in reports) / done,
            "done": done,
            "claims": [value for report in reports for value in report["claims"]],
            "finishes": [value for report in reports for value in report["finishes"]],
        }

    def wake(self, server: str, waiters: int, count: int, *poll: float) -> list[float]:
        """Seconds from the moment a job was made to the start of its work, for jobs that come one at a time."""
        with self._started(server, "wait", 1, waiters, *poll) as started:
            _go(started)
            self.run(server, "send", count, 0.2)
            _go(started, str(count))
            return list(_reported(started[0])["ages"])

    def beat(self, server: str, workers: int, threads: int) -> dict[str, Any]:
        with self._started(server, "beat", 1, workers, threads) as started:
            _go(started)
            return _reported(started[0])

    def _words(self, server: str, command: str, numbers: Sequence[float]) -> list[str]:
        return [self.python, "-m", self.module, command, self.url(server), *map(str, numbers)]

    @contextmanager
    def _started(
        self, server: str, command: str, processes: int, *numbers: float
    ) -> Iterator[list[subprocess.Popen[str]]]:
        words = self._words(server, command, numbers)
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        started = [
            subprocess.Popen(words, cwd=ROOT, text=True, stdin=pipe, stdout=pipe, stderr=quiet)
            for _ in range(processes)
        ]
        try:
            for process in started:
                _line(process)
            yield started
        finally:
            for process in started:
                process.kill()
                process.communicate()


def contenders(others: Path) -> list[Contender]:
    """outlive, and those of the others whose environment is there."""
    python = others / "bin" / "python"
    found = [Contender("outlive", "bench.fleet.ours", sys.executable, "fleet_outlive")]
    for name, module, beats in (
        ("procrastinate", "bench.fleet.procrastinate_jobs", True),
        ("DBOS", "bench.fleet.dbos_jobs", False),
    ):
        package = name.lower()
        if (
            python.exists()
            and subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode == 0
        ):
            found.append(Contender(name, module, str(python), f"fleet_{package}", beats))
        else:
            print(f"{name} is left out: it is not in {others}; --install installs it there", file=sys.stderr)
    return found


def install(others: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(others)], check=True)
    packages = ["procrastinate", "dbos", "psycopg[binary]"]
    subprocess.run([others / "bin" / "python", "-m", "pip", "install", "-q", *packages], check=True)


def _go(started: Sequence[subprocess.Popen[str]], word: str = "") -> float:
    now = time.time()
    for process in started:
        assert process.stdin is not None
        process.stdin.write(f"{word}\n")
        process.stdin.flush()
    return now


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"{process.args!r} ended without a word"
    return line


def _reported(process: subprocess.Popen[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_line(process))
    return found
