"""Programs that outlive starts, and the environment they get."""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path


def find_program(name: str, writable: Iterable[Path] = ()) -> str | None:
    """The path of a program on PATH, ignoring relative entries and `writable` folders: a repository or a sandboxed
    command could have put a program there."""
    folders = tuple(writable)
    entries = [entry for entry in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(entry)]
    safe = [entry for entry in entries if not any(_real(entry).is_relative_to(folder) for folder in folders)]
    found = shutil.which(name, path=os.pathsep.join(safe)) if safe else None
    return None if found is None or any(_real(found).is_relative_to(folder) for folder in folders) else found


def careful(environment: Mapping[str, str]) -> dict[str, str]:
    """These variables plus `safe.bareRepository=explicit` for git: a clone can contain a bare repository whose
    settings name programs, so git uses one only if it is named (`--git-dir`)."""
    count = environment.get("GIT_CONFIG_COUNT", "0")
    at = int(count) if count.isascii() and count.isdecimal() and len(count) < 5 else 0
    known = [environment.get(f"GIT_CONFIG_KEY_{number}", "").lower() for number in range(at)]
    if "safe.barerepository" in known:
        return dict(environment)
    added = {f"GIT_CONFIG_KEY_{at}": "safe.bareRepository", f"GIT_CONFIG_VALUE_{at}": "explicit"}
    return {**environment, **added, "GIT_CONFIG_COUNT": str(at + 1)}


def _real(path: str) -> Path:
    return Path(os.path.realpath(path))
