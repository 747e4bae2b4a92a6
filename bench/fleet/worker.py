"""What the processes of all contenders share. Imports nothing but the standard library: it runs in any environment."""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

POLL_SECONDS = 0.01
"""How often DBOS asks for work where it is measured at its best; its default is a second."""


class Meter:
    """What one process did: how long each claim and each finish took, and when the last one ended."""

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
        report(claims=self.claims, finishes=self.finishes, last=self.last)


def wait_for_start() -> None:
    """Say that this process is ready, and wait until all are."""
    print("here", flush=True)
    sys.stdin.readline()


def wait_for_end() -> None:
    """Wait until the parent has seen enough."""
    sys.stdin.readline()


def report(**values: Any) -> None:
    print(json.dumps(values), flush=True)


def run(commands: dict[str, Callable[..., None]]) -> None:
    """Run `COMMAND URL NUMBER…` of the command line."""
    name, url, *numbers = sys.argv[1:]
    commands[name](url, *(float(number) if "." in number else int(number) for number in numbers))
