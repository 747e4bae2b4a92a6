"""This machine, told apart from another boot of it and from containers that share its host name."""

import os
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path

MACHINE = "OUTLIVE_MACHINE"
"""The environment variable that names the machine instead, for hosts whose own names say nothing."""
_PROC = Path("/proc")


@cache
def _boot_and_names() -> tuple[str, str]:
    """The boot and the PID namespace; empty where the system does not tell."""
    boot, names = "", ""
    with suppress(OSError):
        boot = _PROC.joinpath("sys/kernel/random/boot_id").read_text().strip()
        names = os.readlink(_PROC / "self/ns/pid")
    return boot, names


def machine() -> str:
    """This host, its boot, and its PID namespace: a process number means the same within it."""
    return " ".join(filter(None, (socket.gethostname(), *_boot_and_names())))


def machine_name() -> str:
    """The same as one word, `host/boot/namespace`; or what OUTLIVE_MACHINE says."""
    named = os.environ.get(MACHINE, "").strip()
    return "/".join((named or machine()).split())
