"""The permission mode of a resumed session. The log may have come with a cloned workspace, so a wide mode in it
counts only if the user's home records that the user chose it; otherwise the mode is `ask`."""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from outlive.config.home import keep, project_folder, remember_project
from outlive.regular import read_regular
from outlive.tools.permissions.asking import MODES, PermissionMode

NARROW: tuple[PermissionMode, ...] = ("ask", "plan")
MAX_FILE_BYTES = 1024
"""Bytes of the file that holds a mode."""


def remember_mode(project: Path, session: str, mode: PermissionMode) -> None:
    """Record that the user chose this mode for this session. Called together with logging `ModeChanged`."""
    remember_project(project)
    keep(_file(project, session), mode + "\n")


def opened_here(project: Path, sessions: Iterable[str]) -> bool:
    """Whether the user chose a mode for one of these sessions on this machine, so that its log is the user's own."""
    return any(_chosen(project, session) for session in sessions)


def resumed_mode(project: Path, sessions: Iterable[str], logged: str) -> PermissionMode:
    """The logged mode if it is narrow or the user chose it for one of `sessions`, else `ask`.

    `sessions` are the resumed session and those that it was forked from.
    """
    mode: PermissionMode = next((mode for mode in MODES if mode == logged), "ask")
    chosen = mode in NARROW or any(_chosen(project, session) == mode for session in sessions)
    return mode if chosen else "ask"


def _chosen(project: Path, session: str) -> str:
    try:
        return read_regular(_file(project, session), MAX_FILE_BYTES).decode().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _file(project: Path, session: str) -> Path:
    return project_folder(project) / "modes" / sha256(session.encode("utf-8", errors="replace")).hexdigest()[:32]
