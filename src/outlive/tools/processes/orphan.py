"""A command that outlived the outlive process that started it."""

import asyncio
import os
import signal
import time
from contextlib import suppress

from outlive.events import Process
from outlive.tools.processes.command import KILL_GRACE_SECONDS
from outlive.tools.processes.process_table import living

_POLL_SECONDS = 0.1
"""Seconds between two checks whether it has ended."""
OUTPUT_LOST = "[what it printed is lost: the process that read it ended]\n"


class Orphan:
    """Has the interface of a `RunningCommand`. Its environment is `marked`. `unanswered`: its call has no result, so
    all its descendants count."""

    timed_out = left_behind = held = False
    exit_code: int | None = None
    """Unknown: it is not our child."""

    def __init__(self, call: str, text: str, process: Process, marked: str, *, unanswered: bool) -> None:
        self.call = call
        self.text = text
        self.process = process
        self.unanswered = unanswered
        self._marked = marked
        self._output = OUTPUT_LOST

    def pids(self) -> list[int]:
        """The processes of it that still run."""
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
            await asyncio.sleep(_POLL_SECONDS)

    def end(self, grace: float = KILL_GRACE_SECONDS) -> None:
        """End all of it with SIGTERM, then SIGKILL."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in self.pids():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
            until = time.monotonic() + grace
            while self.running and time.monotonic() < until:
                time.sleep(_POLL_SECONDS)

    def forget(self) -> None:
        """It was never watched."""
