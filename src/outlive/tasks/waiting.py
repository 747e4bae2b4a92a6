"""Sleeping until the graph offers something."""

import time
from collections.abc import Callable
from typing import TypeVar

from outlive.stores.tasks.protocol import TaskStore

T = TypeVar("T")

_LONGEST_PAUSE = 2.0
"""A watch may miss a file edited in place by hand; nothing is overlooked for longer than this."""


def until(store: TaskStore, attempt: Callable[[], T], timeout: float | None) -> T:
    """Try, and try again whenever the store changed or a lease ran out, until the result is true or time is up."""
    deadline = None if timeout is None else time.monotonic() + timeout
    with store.watch() as watch:
        while not (result := attempt()):
            pause = _LONGEST_PAUSE
            now, expiry = store.read(lambda tx: (tx.now, tx.next_expiry()))
            if expiry is not None:
                pause = min(pause, max(0.0, (expiry - now).total_seconds()) + 0.001)
            if deadline is not None:
                left = deadline - time.monotonic()
                if left <= 0:
                    break
                pause = min(pause, left)
            watch.wait(pause)
    return result
