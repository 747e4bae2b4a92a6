"""A command that outlived the process which started it: it can be looked at, waited for and ended."""

import asyncio
import os
import signal
import time
from contextlib import suppress

from outlive.events import Process
from outlive.tools.processes.process_table import living

GRACE = 2.0
"""Seconds between asking it to end and ending it."""
_LOOK = 0.1
"""Seconds between two looks whether it has ended."""
OUTPUT_LOST = "[what it printed is lost: the process that read it ended]\n"


class Orphan:
    """Stands where a `Command` does. `marked` is what its environment holds; `unanswered`: its call has no result, so
    that whatever it started counts, wherever it went."""

    timed_out = left_behind = held = False
    exit_code: int | None = None
    """Nobody knows: it is not our child."""

    def __init__(self, call: str, text: str, process: Process, marked: str, *, unanswered: bool) -> None:
        self.call = call
        self.text = text
        self.process = process
        self.unanswered = unanswered
        self._marked = marked
        self._output = OUTPUT_LOST

    def pids(self) -> list[int]:
        """What still runs of it."""
        return living(self.process, self._marked, anywhere=self.unanswered)

    @property
    def pid(self) -> int:
        return self.process.group

    @property
    def running(self) -> bool:
        return bool(self.pids())

    def take(self) -> str:
        output, self._output = self._output, ""
        return output

    async def finished(self) -> None:
        """Wait until all of it has ended."""
        while self.running:
            await asyncio.sleep(_LOOK)

    def end(self, grace: float = GRACE) -> None:
        """Ask all of it to end, then make it."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in self.pids():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
            until = time.monotonic() + grace
            while self.running and time.monotonic() < until:
                time.sleep(_LOOK)

    def forget(self) -> None:
        """It was never watched."""
