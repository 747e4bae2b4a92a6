"""Processes of this machine: which run, in which group and session, since when; and how to know one again later.

A number alone is not enough, the system uses it again: a group is known by its number, the start time of its first
process, and the machine with its boot and PID namespace. What a command started carries `MARK` in its environment,
wherever it went.
"""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from outlive.events import Process

MARK = "OUTLIVE_CALL"
"""The variable that names the call a command runs for, as `mark` writes it."""
_PROC = Path("/proc")
_HAS_PROC = Path("/proc/self/stat").exists()
"""As on Linux; elsewhere `ps` is asked, and environments stay unknown."""


class Row(NamedTuple):
    """A process that runs; one that has ended and was not fetched yet does not."""

    pid: int
    group: int
    session: int


def mark(session: str, call: str) -> str:
    return f"{session}/{call}"


def identify(pid: int) -> Process:
    """The group that `pid` leads, as it is known again later."""
    return Process(group=pid, started=start_time(pid), machine=machine())


def start_time(pid: int) -> str:
    """When a process started, in the system's own form without spaces; nothing when there is no such process."""
    if _HAS_PROC:
        fields = _stat(pid)
        return fields[19] if fields else ""
    return "-".join(_ps("-o", "lstart=", "-p", str(pid)).split())


@cache
def machine() -> str:
    """This host, since it was started, and the namespace in which its process numbers count."""
    boot, names = "", ""
    with suppress(OSError):
        boot = _PROC.joinpath("sys/kernel/random/boot_id").read_text().strip()
        names = os.readlink(_PROC / "self/ns/pid")
    return " ".join(filter(None, (socket.gethostname(), boot, names)))


def running() -> Iterator[Row]:
    """All processes that run."""
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
    """Processes that still run of a group and of the session that its first process leads, by number.

    Once that one is gone the number proves nothing: then those count whose environment is `marked`, in the group or
    (`anywhere`) outside of it as well.
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
    return bool(marked) and f"{MARK}={marked}".encode() in _environment(pid)


def _stat(pid: int) -> list[str]:
    """The fields of `/proc/PID/stat` from the state on: the name before them may hold anything."""
    try:
        return _PROC.joinpath(str(pid), "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _ps(*options: str) -> str:
    told = subprocess.run(["ps", *options], capture_output=True, text=True, check=False)  # noqa: S603, S607 - constants
    return told.stdout


def _environment(pid: int) -> list[bytes]:
    try:
        return _PROC.joinpath(str(pid), "environ").read_bytes().split(b"\0")
    except OSError:  # somebody else's
        return []
