"""What the processes of all contenders share. Imports the standard library only: it runs in any environment."""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

POLL_SECONDS = 0.01
"""Seconds; how often DBOS asks for work where it is measured at its best; its default is a second."""
MOST_OVERDUE_SECONDS = 15


class Meter:
    """What one process did: how long each claim and each finish took, and when the last one ended."""

    started = 0.0
    """Processor time of this process at the start."""

    def __init__(self) -> None:
        self.claims: list[float] = []
        self.finishes: list[float] = []
        self.last = 0.0

    def claimed(self, began: float) -> None:
        self.claims.append(time.time() - began)

    def finished(self, began: float) -> None:
        self.last = time.time()
        self.finishes.append(self.last - began)

    def report(self) -> None:
        report(
            claims=self.claims,
            finishes=self.finishes,
            last=self.last,
            processor=time.process_time() - Meter.started,
        )


def wait_for_start() -> None:
    """Say that this process is ready, and wait until all are."""
    print("here", flush=True)
    sys.stdin.readline()
    Meter.started = time.process_time()


def wait_for_end(ages: list[float]) -> None:
    """Report the ages once the parent says how many there should be, and they are there or overdue."""
    expected = int(sys.stdin.readline())
    deadline = time.monotonic() + MOST_OVERDUE_SECONDS
    while len(ages) < expected and time.monotonic() < deadline:
        time.sleep(0.05)
    report(ages=ages)


def report(**values: Any) -> None:
    print(json.dumps(values), flush=True)


def run(commands: dict[str, Callable[..., None]]) -> None:
    """Run `COMMAND URL NUMBER…` of the command line."""
    name, url, *numbers = sys.argv[1:]
    commands[name](url, *(float(number) if "." in number else int(number) for number in numbers))
