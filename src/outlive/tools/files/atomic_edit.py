"""Atomic changes of files: written whole and renamed into place, if the file has not changed meanwhile."""

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from outlive.tools.files.open_files import MAX_HASHED_BYTES, digest_of, open_existing, size_text
from outlive.tools.files.replacing import replacing
from outlive.tools.permissions.fence import Fence
from outlive.tools.processes.process_table import exists
from outlive.tools.protocol import ToolContext, ToolError

_SCRATCH = re.compile(r"\.outlive-([0-9]+)-[0-9a-f]{12}\.tmp")
"""A temporary file and the process that writes it."""


class Before(Struct, frozen=True):
    """A file before its change; `state` is None if it does not exist yet."""

    path: str
    real: Path
    raw: bytes = b""
    state: os.stat_result | None = None

    @property
    def exists(self) -> bool:
        return self.state is not None


def read_before(context: ToolContext, path: str) -> Before:
    """The file as it is now. Raises ToolError if no tool may change it."""
    real = context.fence.editable(path)
    if path.endswith("/"):
        raise ToolError(f"{path} names a folder; name the file")
    try:
        file = open_existing(context, path, real)
    except FileNotFoundError:
        return Before(path, real)
    with file:
        state = os.fstat(file.fileno())
        if state.st_size > MAX_HASHED_BYTES:
            raise ToolError(f"{path} has {size_text(state.st_size)}, too large to be changed here; use bash")
        return Before(path, real, file.read(), state)


def refuse_unseen(context: ToolContext, before: Before) -> None:
    """Raise ToolError if the model has not read the file, or if the file has changed since."""
    if before.real not in context.read_tracker and before.raw:
        raise ToolError(
            f"{before.path} exists and you have not read it in this session, so nothing was written; "
            "read_file it first"
        )
    if before.state is not None and context.read_tracker.changed(before.real, before.state, digest_of(before.raw)):
        raise ToolError(
            f"{before.path} changed on disk since you read it, so nothing was written; "
            "read_file it again, then make the change on what is there now"
        )


def save(context: ToolContext, before: Before, raw: bytes) -> None:
    """Replace the file by `raw` atomically, keeping its mode."""
    with replacing(context.fence, before.path, make=not before.exists) as (file, name, folder):
        _copy_owner_and_mode(file.fileno(), before.state)
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())
        state = os.fstat(file.fileno())
        _refuse_replaced(before, name, folder)
    context.read_tracker.note(before.real, state, digest_of(raw))


def sweep(fence: Fence, path: str) -> None:
    """Remove temporary files beside `path` that dead processes left."""
    with suppress(ToolError, OSError):
        folder, _ = fence.open_folder(path)
        try:
            for name in os.listdir(folder):
                if (found := _SCRATCH.fullmatch(name)) and not exists(int(found[1])):
                    os.unlink(name, dir_fd=folder)
        finally:
            os.close(folder)


def _copy_owner_and_mode(descriptor: int, state: os.stat_result | None) -> None:
    """Copy owner (where allowed) and mode of the replaced file."""
    if state is None:
        return
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (state.st_uid, state.st_gid):
        with suppress(OSError):
            os.fchown(descriptor, state.st_uid, state.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(state.st_mode))


def _refuse_replaced(before: Before, name: str, folder: int) -> None:
    """Raise ToolError if the file changed just before the rename."""
    try:
        now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    old = before.state
    if old is None or (now.st_ino, now.st_size, now.st_mtime_ns) != (old.st_ino, old.st_size, old.st_mtime_ns):
        raise ToolError(f"{before.path} was just changed by another process; read_file it, then decide")
