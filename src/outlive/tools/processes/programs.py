"""Programs that outlive starts, and the environment they get."""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path


def find_program(name: str, writable: Iterable[Path] = ()) -> str | None:
    """The path of a program on PATH. Relative entries and those in a `writable` folder do not count: what lies there
    may have come with a repository, or been put there by a command in the sandbox."""
    folders = tuple(writable)
    entries = [entry for entry in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(entry)]
    safe = [entry for entry in entries if not any(_real(entry).is_relative_to(folder) for folder in folders)]
    found = shutil.which(name, path=os.pathsep.join(safe)) if safe else None
    return None if found is None or any(_real(found).is_relative_to(folder) for folder in folders) else found


def careful(environment: Mapping[str, str]) -> dict[str, str]:
    """These variables, and a setting for the git of commands: a repository that lies in the workspace as plain files
    is used only when it is named (`--git-dir`). A clone can bring one, with settings that name programs."""
    count = environment.get("GIT_CONFIG_COUNT", "0")
    at = int(count) if count.isascii() and count.isdecimal() and len(count) < 5 else 0
    known = [environment.get(f"GIT_CONFIG_KEY_{number}", "").lower() for number in range(at)]
    if "safe.barerepository" in known:
        return dict(environment)
    added = {f"GIT_CONFIG_KEY_{at}": "safe.bareRepository", f"GIT_CONFIG_VALUE_{at}": "explicit"}
    return {**environment, **added, "GIT_CONFIG_COUNT": str(at + 1)}


def _real(path: str) -> Path:
    return Path(os.path.realpath(path))
