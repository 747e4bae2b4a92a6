"""Replaces a file atomically, by a temporary one in the same folder."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from outlive.tools.permissions.fence import Fence


@contextmanager
def replacing(fence: Fence, path: str, *, make: bool, mode: int = 0o666) -> Iterator[tuple[BinaryIO, str, int]]:
    """A temporary file, which replaces the one at `path` when the block ends; the name of that, and its folder."""
    folder, name = fence.open_folder(path, make=make)
    scratch = f".outlive-{os.getpid()}-{secrets.token_hex(6)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        try:
            with os.fdopen(os.open(scratch, flags, mode, dir_fd=folder), "wb") as file:
                yield file, name, folder
            os.replace(scratch, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(scratch, dir_fd=folder)
            raise
    finally:
        os.close(folder)
