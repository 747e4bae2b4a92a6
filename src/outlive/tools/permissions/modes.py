"""Which mode a resumed session may have. A log lies in the workspace and may have come with it: that it says `bypass`
is not the user's word. What the user chose is kept in the user's home; without it, a wide mode is `ask` again."""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from outlive.config.home import keep, project_folder
from outlive.regular import read_regular
from outlive.tools.permissions.asking import MODES, Mode

NARROW: tuple[Mode, ...] = ("ask", "plan")
LARGEST = 1024
"""Bytes of the file that holds a mode."""


def remember_mode(project: Path, session: str, mode: Mode) -> None:
    """The user chose this mode for this session. A face calls it together with logging `ModeChanged`."""
    keep(_file(project, session), mode + "\n")


def opened_here(project: Path, sessions: Iterable[str]) -> bool:
    """Whether the user worked in one of these sessions on this machine: then its log is not only what it says."""
    return any(_chosen(project, session) for session in sessions)


def resumed_mode(project: Path, sessions: Iterable[str], logged: str) -> Mode:
    """The mode to go on with: what the log says, if it is narrow or if the user chose it for one of `sessions`.

    `sessions` are the one that is resumed and those that it was forked from.
    """
    for mode in MODES:
        if mode == logged and (mode in NARROW or any(_chosen(project, session) == mode for session in sessions)):
            return mode
    return "ask"


def _chosen(project: Path, session: str) -> str:
    try:
        return read_regular(_file(project, session), LARGEST).decode().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _file(project: Path, session: str) -> Path:
    return project_folder(project) / "modes" / sha256(session.encode("utf-8", errors="replace")).hexdigest()[:32]
