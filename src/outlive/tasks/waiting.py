"""Waiting for a change of the graph."""

import time
from collections.abc import Callable
from typing import TypeVar

from outlive.stores.tasks.protocol import TaskStore

T = TypeVar("T")

_POLL_SECONDS = 2.0
"""Seconds. A watch may miss a file edited in place by hand, so the store is polled this often."""


def until(store: TaskStore, attempt: Callable[[], T], timeout: float | None) -> T:
    """Repeat `attempt` whenever the store changed or a lease ran out, until it returns something or time is up."""
    deadline = None if timeout is None else time.monotonic() + timeout
    if result := attempt():
        return result  # a watch may cost a connection
    with store.watch() as watch:
        while not (result := attempt()):
            pause = _POLL_SECONDS
            now, expiry = store.read(lambda tx: (tx.now, tx.next_expiry()))
            if expiry is not None:
                pause = min(pause, max(0.0, (expiry - now).total_seconds()) + 0.001)
            if deadline is not None:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    break
                pause = min(pause, remaining)
            watch.wait(pause)
    return result
