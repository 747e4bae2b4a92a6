"""The processes of this machine: which run, in which group and session, and how to recognise one later.

Numbers are reused, so a group is identified by its number, the start time of its first process, and the machine with
its boot and PID namespace. All descendants of a command carry `CALL_VARIABLE` in their environment.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from outlive.events import Process
from outlive.stores.machine import machine

CALL_VARIABLE = "OUTLIVE_CALL"
"""The environment variable with the session and call that a command runs for."""
_PROC = Path("/proc")
_HAS_PROC = Path("/proc/self/stat").exists()
"""Elsewhere `ps` is used, and environments stay unknown."""


class Row(NamedTuple):
    """A running process; zombies do not count."""

    pid: int
    group: int
    session: int


def exists(pid: int) -> bool:
    """Whether there is a process with this number, zombies included."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def mark(session: str, call: str) -> str:
    return f"{session}/{call}"


def identify(pid: int) -> Process:
    """The identity of the group that `pid` leads."""
    return Process(group=pid, started=start_time(pid), machine=machine())


def start_time(pid: int) -> str:
    """The start time of a process in the system's own form without spaces; empty if there is none."""
    if _HAS_PROC:
        fields = _stat(pid)
        return fields[19] if fields else ""
    return "-".join(_ps("-o", "lstart=", "-p", str(pid)).split())


def running() -> Iterator[Row]:
    """All running processes."""
    if _HAS_PROC:
        for path in _PROC.iterdir():
            if path.name.isdecimal() and (fields := _stat(int(path.name))) and fields[0] not in "ZX":
                yield Row(int(path.name), int(fields[2]), int(fields[3]))
        return
    for line in _ps("-axo", "pid=,pgid=,stat=").splitlines():
        pid, group, state = line.split()[:3]
        if state[0] not in "ZX":
            yield Row(int(pid), int(group), int(group))


def living(process: Process, marked: str = "", *, anywhere: bool = False) -> list[int]:
    """The pids that still run of a group and of the session that its first process leads.

    Once that process is gone the number proves nothing: then processes count whose environment is `marked`, in the
    group or, with `anywhere`, outside it too.
    """
    if process.machine != machine():
        return []
    leads = bool(process.started) and start_time(process.group) == process.started
    return [
        row.pid
        for row in running()
        if (leads and process.group in row) or ((anywhere or row.group == process.group) and carries(row.pid, marked))
    ]


def carries(pid: int, marked: str) -> bool:
    """Whether the environment of a process is `marked`; one that cannot be read is not."""
    try:
        variables = _PROC.joinpath(str(pid), "environ").read_bytes().split(b"\0") if marked else []
    except OSError:  # another user's
        return False
    return f"{CALL_VARIABLE}={marked}".encode() in variables


def _stat(pid: int) -> list[str]:
    """The fields of `/proc/PID/stat` after the name, which may contain anything."""
    try:
        return _PROC.joinpath(str(pid), "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _ps(*options: str) -> str:
    listed = subprocess.run(["ps", *options], capture_output=True, text=True, check=False)  # noqa: S603, S607 - constants
    return listed.stdout
