"""Who has a session open: the name of a writer, and whether its process is alive.

A name is `MACHINE PROCESS TOKEN`. Earlier versions wrote the host alone as the machine.
"""

import os
import secrets
import socket
from getpass import getuser

from outlive.stores.logs.protocol import SessionBusy
from outlive.stores.machine import MACHINE, machine_name

WRITER_TIMEOUT_SECONDS = 900.0
"""A writer on another machine counts as gone after this much silence."""
OWNER = "OUTLIVE_OWNER"


def new_writer() -> str:
    """A unique writer name that identifies its process."""
    return f"{machine_name()} {os.getpid()} {secrets.token_hex(8)}"


def parts(writer: str) -> tuple[str, int]:
    """The machine and the process of a writer."""
    machine, process, _ = writer.split(" ")
    return machine, int(process)


def owner_here() -> str:
    """Who opens a session in this process: what OUTLIVE_OWNER says, else the user of the machine."""
    if named := os.environ.get(OWNER, "").strip():
        return named
    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        return ""


def is_alive(writer: str, heard: float, now: float) -> bool:
    """Whether a writer is alive. On this machine that is known; on another one, a writer that was silent for long or
    was last heard in the future (a wrong clock) counts as gone."""
    machine, process = parts(writer)
    if machine != machine_name() and (os.environ.get(MACHINE) or machine != socket.gethostname()):
        return abs(now - heard) < WRITER_TIMEOUT_SECONDS
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def host_of(machine: str) -> str:
    """The readable part of a machine's name."""
    return machine.partition("/")[0]


def open_elsewhere(session: str, writer: str) -> SessionBusy:
    machine, process = parts(writer)
    return SessionBusy(
        f"session {session!r} is open in another process ({process} on {host_of(machine)})",
        hint="close it there, or fork it",
    )


def taken_over(session: str, owner: str = "", machine: str = "") -> SessionBusy:
    by = f"{owner} on {host_of(machine)}" if owner and machine else "another process"
    return SessionBusy(f"session {session!r} was taken over by {by}; fork it to go on from here")
