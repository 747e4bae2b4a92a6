"""Which files to write or delete to return to a moment of the session, and doing it.

A file is restored only if it still is as the session left it: what others changed since stays, and is said.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress

from msgspec import Struct

from outlive.events import UNREAD, ChangedFile, FilesChanged
from outlive.tools.errors import ToolError
from outlive.tools.files.replacing import replacing
from outlive.tools.permissions.fence import Fence

MAX_RESTORED_BYTES = 64 * 2**20
"""Bytes of a file that are compared; a larger one counts as changed by somebody else."""
GetContent = Callable[[str], bytes | None]
"""The content with a SHA-256, or None if it was lost."""


class Restored(Struct, frozen=True):
    """What a restore did."""

    written: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    """Files that were left as they are, each with the reason."""
    changes: tuple[ChangedFile, ...] = ()
    """The restore itself, as the log records it."""


class _Step(Struct, frozen=True):
    path: str
    wanted: str
    """SHA-256 of the content to write; empty to delete the file."""
    mode: int
    expected: str
    """SHA-256 of what the session left there; empty if it left no file."""


def steps_back(changes: Iterable[FilesChanged]) -> tuple[list[_Step], list[tuple[str, str]]]:
    """What undoes these changes (oldest first), and the files that cannot be restored, with the reason."""
    first: dict[str, ChangedFile] = {}
    last: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for event in changes:
        for file in event.files:
            if file.path in last and last[file.path] != file.before:
                reasons.setdefault(file.path, "somebody else changed it in between")
            if file.path not in first:
                first[file.path] = file
                if file.before == UNREAD or not file.kept:
                    reasons[file.path] = "its earlier content was not kept"
            last[file.path] = file.after
    steps = [
        _Step(path, file.before, file.mode, last[path])
        for path, file in first.items()
        if path not in reasons and file.before != last[path]
    ]
    unread = [step.path for step in steps if step.expected == UNREAD]
    reasons |= dict.fromkeys(unread, "it became too large to compare")
    return [step for step in steps if step.path not in reasons], list(reasons.items())


def restore(steps: Iterable[_Step], fence: Fence, content: GetContent, keep: Callable[[bytes], bool]) -> Restored:
    """Take the steps, each atomic by itself. `keep` stores what a file held, so that the restore can be undone."""
    written: list[str] = []
    deleted: list[str] = []
    skipped: list[tuple[str, str]] = []
    changes: list[ChangedFile] = []
    for step in steps:
        try:
            data = content(step.wanted) if step.wanted else b""
            if data is None:
                raise ToolError("its earlier content is lost")
            present, mode = _present(fence, step)
            before = hashlib.sha256(present).hexdigest() if present is not None else ""
            if before == step.wanted:
                continue
            kept = present is None or keep(present)
            _write(fence, step, data) if step.wanted else _delete(fence, step)
        except ToolError as error:
            skipped.append((step.path, str(error)))
        except OSError as error:
            skipped.append((step.path, error.strerror or str(error)))
        else:
            (written if step.wanted else deleted).append(step.path)
            changes.append(ChangedFile(step.path, before, step.wanted, mode, kept=kept))
    return Restored(tuple(written), tuple(deleted), tuple(skipped), tuple(changes))


def _present(fence: Fence, step: _Step) -> tuple[bytes | None, int]:
    """What the file holds, and its permissions. Raises ToolError if the session did not leave it so."""
    data, digest, mode = None, "", 0
    with suppress(FileNotFoundError):
        descriptor = fence.open_inside(step.path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
            data = file.read(MAX_RESTORED_BYTES)
            digest = hashlib.sha256(data).hexdigest()
    if digest not in (step.expected, step.wanted):
        raise ToolError("somebody else changed it since")
    return data, mode


def _write(fence: Fence, step: _Step, data: bytes) -> None:
    with replacing(fence, step.path, make=True, mode=0o600) as (file, _, _):
        file.write(data)
        os.fchmod(file.fileno(), step.mode & 0o777 or 0o644)
        file.flush()
        os.fsync(file.fileno())


def _delete(fence: Fence, step: _Step) -> None:
    folder, name = fence.open_folder(step.path)
    try:
        os.unlink(name, dir_fd=folder)
    finally:
        os.close(folder)
