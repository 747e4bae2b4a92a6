"""Programs that outlive itself starts."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path


def find_program(name: str, writable: Iterable[Path] = ()) -> str | None:
    """The path of a program on PATH. Relative entries and those in a `writable` folder do not count: what lies there
    may have come with a repository, or been put there by a command in the sandbox."""
    folders = tuple(writable)
    entries = [entry for entry in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(entry)]
    safe = [entry for entry in entries if not any(_real(entry).is_relative_to(folder) for folder in folders)]
    found = shutil.which(name, path=os.pathsep.join(safe)) if safe else None
    return None if found is None or any(_real(found).is_relative_to(folder) for folder in folders) else found


def _real(path: str) -> Path:
    return Path(os.path.realpath(path))
