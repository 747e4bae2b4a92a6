"""A model that answers at once, and what a turn cost besides it."""

import statistics
import time
from collections.abc import AsyncGenerator, Callable, Sequence

from outlive.messages import Text, ToolCall
from outlive.models.protocol import Price, Reply, Usage
from outlive.request import Request
from outlive.stream import ModelStreamEvent

WINDOW = 100_000
Calls = Callable[[int], ToolCall | None]
"""What the model does in turn N of a run, counted from 1; None when it is done."""


class Instant:
    """Answers at once, and remembers when it was asked and when it had answered."""

    name = "instant:model"
    window = WINDOW
    price: Price | None = None

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.turn = 0
        self.asked: list[float] = []
        self.answered: list[float] = []

    async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        if not request.system:  # the harness itself asks what was learned
            yield Reply((Text('{"memories": []}'),), "end", Usage(input=1000, output=10))
            return
        self.asked.append(time.perf_counter())
        self.turn += 1
        call = self.calls(self.turn)
        usage = Usage(input=_size(request) // 3, output=40)
        self.answered.append(time.perf_counter())
        yield Reply((call or Text("done"),), "tools" if call else "end", usage)

    async def close(self) -> None: ...


def _size(request: Request) -> int:
    """Characters of a request: a provider counts what it gets, not what the harness believes."""
    blocks = (block for message in request.messages for block in message.blocks)
    return len(request.system) + 9_000 + sum(len(getattr(block, "text", "")) for block in blocks)


COLUMNS = "median | first 200 | last 200 | last / first | mean | worst (a pass)"


def row(milliseconds: Sequence[float]) -> str:
    """One row of COLUMNS."""
    first, last = statistics.median(milliseconds[:200]), statistics.median(milliseconds[-200:])
    found = [statistics.median(milliseconds), first, last, last / first]
    found += [statistics.mean(milliseconds), max(milliseconds)]
    return " | ".join(f"{value:.2f}" for value in found)
