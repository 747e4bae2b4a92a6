"""Atomic file replacement: readers see the old file or the new one, also with several writers."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from outlive.private import make_private


def replace(path: Path, data: bytes) -> None:
    """Replace a file atomically. Not synced: everything stored here can be rebuilt."""
    make_private(path.parent)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
