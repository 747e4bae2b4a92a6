"""Notices changes by polling a few times a second; cheaper than a dependency for each platform."""

import time
from collections.abc import Callable

_POLL_SECONDS = 0.05  # a waiting worker starts without a felt delay, for a `stat` of the state each time


class PollingWatch:
    """Watches anything that has a state to compare."""

    def __init__(self, state: Callable[[], object]) -> None:
        self._state = state
        self._seen = state()

    def wait(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, _POLL_SECONDS))
            state = self._state()
            if state != self._seen:
                self._seen = state
                return True
        return False
