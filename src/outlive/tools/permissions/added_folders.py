"""The folders that the user added to a session (`/add-dir`), kept in the user's home: a log, which may have come with
a cloned workspace, adds none."""

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from outlive.config.home import keep, project_folder, remember_project
from outlive.regular import read_regular

MAX_FILE_BYTES = 64 * 1024  # a larger one is not ours: no folder is added
MAX_FOLDERS = 50  # of a session; the oldest are forgotten


def remember_folder(project: Path, session: str, folder: Path) -> None:
    """Record that the user added a folder to this session. Raises ConfigError if it cannot be written."""
    remember_project(project)
    known = dict.fromkeys([*_known(project, session), str(folder)])
    keep(_file(project, session), json.dumps(list(known)[-MAX_FOLDERS:]) + "\n")


def added_folders(project: Path, sessions: Iterable[str]) -> list[Path]:
    """The folders that were added to one of these sessions: the resumed one and those it was forked from."""
    return [Path(name) for name in dict.fromkeys(name for session in sessions for name in _known(project, session))]


def _known(project: Path, session: str) -> list[str]:
    try:
        form = json.loads(read_regular(_file(project, session), MAX_FILE_BYTES))
    except (OSError, ValueError, RecursionError):
        return []
    names = form if isinstance(form, list) else []
    return [name for name in names if isinstance(name, str) and name.startswith("/") and "\0" not in name]


def _file(project: Path, session: str) -> Path:
    return project_folder(project) / "folders" / sha256(session.encode("utf-8", errors="replace")).hexdigest()[:32]
