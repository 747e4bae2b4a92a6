"""Kills the groups of our commands if we die: a separate process reads a pipe that ends with us, SIGKILL included."""

import atexit
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from outlive.events import Process
from outlive.tools.processes.process_table import identify

_SCRIPT = r"""
trap '' HUP INT QUIT TERM
watched=
while read -r word entry; do
    kept=
    for one in $watched; do [ "$one" = "$entry" ] || kept="$kept $one"; done
    [ "$word" = watch ] && kept="$kept $entry"
    watched=$kept
done
for entry in $watched; do
    group=${entry%%:*}
    if read -r stat <"/proc/$group/stat"; then
        set -- ${stat##*) }
        [ "${20}" = "${entry#*:}" ] || continue
    fi
    kill -s KILL -- "-$group"
    for path in /proc/[0-9]*; do
        read -r stat <"$path/stat" || continue
        set -- ${stat##*) }
        [ "$4" != "$group" ] || kill -s KILL "${path#/proc/}"
    done
done
"""
"""A group whose first process started at another time is not ours: its number was reused. Jobs that a shell put into
their own groups still belong to the session of the first process."""
_END_WAIT_SECONDS = 5.0
"""Seconds for it to end."""


class Watchdog:
    """Starts its process with the first group. Its methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: dict[int, Process] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, process: Process) -> None:
        """Kill this group if we die."""
        with self._lock:
            self._watched[process.group] = process
            if self._process is None or self._process.poll() is not None:
                self._start()
            else:
                self._tell("watch", process)

    def leave(self, process: Process) -> None:
        """The group has ended."""
        with self._lock:
            if self._watched.get(process.group) == process:  # else its number was reused
                del self._watched[process.group]
            if self._process is not None:
                self._tell("leave", process)

    @contextmanager
    def watching(self, pid: int) -> Iterator[None]:
        """Kill the group that `pid` leads if we die inside the `with` block."""
        process = identify(pid)
        self.watch(process)
        try:
            yield
        finally:
            self.leave(process)

    def close(self) -> None:
        """End the process without killing anything."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_WAIT_SECONDS)

    def _start(self) -> None:
        """Start or restart the process and tell it of all groups."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        self._process = subprocess.Popen(  # noqa: S603 - a constant
            ["/bin/sh", "-c", _SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            bufsize=0,
            start_new_session=True,
        )
        for process in self._watched.values():
            self._tell("watch", process)

    def _tell(self, word: str, process: Process) -> None:
        assert self._process is not None and self._process.stdin is not None  # noqa: S101, PT018 - it was started
        with suppress(BrokenPipeError):  # it was just killed; the next `watch` restarts it
            os.write(self._process.stdin.fileno(), f"{word} {process.group}:{process.started}\n".encode())


WATCHDOG = Watchdog()
atexit.register(WATCHDOG.close)
