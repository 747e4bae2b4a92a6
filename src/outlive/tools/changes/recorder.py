"""Records which files a call changed, with what they held before.

An edit names its files. A command can change anything, so the workspace is compared before and after it. What changes
while no call runs is not recorded: the user did it, or a background command.
"""

import asyncio
import hashlib
import os
import sqlite3
import stat
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from outlive.events import UNREAD, ChangedFile, FilesChanged
from outlive.regular import read_regular
from outlive.secrets import Masker
from outlive.stores.logs.protocol import DamagedBlob, LogStore
from outlive.tools.changes.restore import Restored, restore, steps_back
from outlive.tools.changes.snapshot import Snapshot, Snapshots, WorkspaceFile
from outlive.tools.errors import ToolError
from outlive.tools.permissions.fence import Fence

MAX_EDITED_BYTES = 8 * 2**20
"""Bytes of an edited file whose earlier content is kept."""
MAX_CHANGED_FILES = 500
"""Files that one event names."""
MAX_KEPT_BYTES = 32 * 2**20
"""Bytes of earlier contents that are kept of one call."""


class ChangeRecorder:
    """One for a session and its sub-agents. `store` keeps contents with the session's log."""

    def __init__(
        self,
        fence: Fence,
        snapshots: Snapshots,
        log: Callable[..., Any],
        store: LogStore,
        mask: Masker,
    ) -> None:
        self._snapshots = snapshots
        self._fence = fence
        self._log = log
        self._store = store
        self._mask = mask
        self._lock = asyncio.Lock()
        self._running = 0
        self._baseline: Snapshot | None = None
        """The workspace before the running commands, without the changes that are recorded already."""

    @asynccontextmanager
    async def edit(self, call_id: str, paths: Iterable[str]) -> AsyncIterator[None]:
        """Record what happens to these files."""
        names = {real: self._fence.shown(real) for path in paths if (real := self._inside(path))}
        before = await asyncio.to_thread(lambda: {real: self._read(real) for real in names})
        try:
            yield
        finally:
            async with self._lock:
                changed = await asyncio.to_thread(self._edited, names, before)
                self._recorded(call_id, changed)

    @asynccontextmanager
    async def command(self, call_id: str) -> AsyncIterator[None]:
        """Record what happens to the workspace. Of commands that run at once, the first to end gets the changes."""
        async with self._lock:
            if not self._running:
                self._baseline = await asyncio.to_thread(self._snapshot, call_id)
            self._running += 1
        try:
            yield
        finally:
            async with self._lock:
                self._running -= 1
                if self._baseline is not None:
                    self._recorded(call_id, await asyncio.to_thread(self._compared))

    async def interrupted(self, call_id: str) -> None:
        """Record what happened to the workspace since the command of a dead process began."""
        async with self._lock:
            self._baseline = await asyncio.to_thread(self._snapshots.left_by, call_id)
            if self._baseline is not None:
                self._recorded(call_id, await asyncio.to_thread(self._compared))

    def restore(self, changes: Sequence[FilesChanged]) -> Restored:
        """Undo these changes (oldest first) of files that nobody else changed."""
        steps, reasons = steps_back(changes)
        done = restore(steps, self._fence, self._content, self._keep)
        return replace(done, skipped=(*reasons, *done.skipped))

    def _content(self, digest: str) -> bytes | None:
        """A content that was kept, or None if it was lost."""
        with suppress(DamagedBlob):
            return self._store.get_blob(digest)
        return self._snapshots.content(digest)

    def _inside(self, path: str) -> Path | None:
        with suppress(ToolError):
            return self._fence.inside(path)
        return None

    def _read(self, real: Path) -> "_Content":
        try:
            found = os.lstat(real)
            if not stat.S_ISREG(found.st_mode):
                return _Content(UNREAD)
            if found.st_size > MAX_EDITED_BYTES:
                return _Content(UNREAD, mode=stat.S_IMODE(found.st_mode))
            data = read_regular(real, MAX_EDITED_BYTES)
            return _Content(hashlib.sha256(data).hexdigest(), data, stat.S_IMODE(found.st_mode))
        except (FileNotFoundError, NotADirectoryError):
            return _Content("")
        except OSError:
            return _Content(UNREAD)

    def _edited(self, names: dict[Path, str], before: "dict[Path, _Content]") -> list[ChangedFile]:
        changed = []
        for real, name in names.items():
            old, new = before[real], self._read(real)
            if old.digest != new.digest or old.digest == UNREAD:
                kept = old.data is None or self._keep(old.data)
                changed.append(ChangedFile(name, old.digest, new.digest, old.mode, kept=kept))
        if self._baseline is not None and (inside := {os.fsencode(name) for name in names.values()}):
            now = self._snapshot() or {}  # a running command did not make these changes
            rest = {name: state for name, state in self._baseline.items() if name not in inside}
            self._baseline = rest | {name: state for name, state in now.items() if name in inside}
        return changed

    def _snapshot(self, before: str = "") -> Snapshot | None:
        with suppress(OSError, sqlite3.Error):
            return self._snapshots.take(before)
        return None

    def _compared(self) -> list[ChangedFile]:
        before, after = self._baseline or {}, self._snapshot()
        if after is None:
            return []
        self._baseline = after
        room = MAX_KEPT_BYTES
        changed = []
        for name in sorted(before.keys() | after.keys()):
            old, new = before.get(name), after.get(name)
            if _same(old, new):
                continue
            kept = True
            if old is not None and old.digest:
                data = self._snapshots.content(old.digest)
                kept = data is not None and len(data) <= room and self._keep(data)
                room -= len(data or b"") if kept else 0
            changed.append(
                ChangedFile(os.fsdecode(name), _digest(old), _digest(new), old.mode if old else 0, kept=kept)
            )
        return changed

    def _keep(self, data: bytes) -> bool:
        """Put a content into the session's store, unless it holds a secret: that stays in the local cache."""
        text = data.decode("utf-8", "surrogateescape")
        if self._mask(text) != text:
            return self._snapshots.keep(data)
        self._store.put_blob(data)
        return True

    def _recorded(self, call_id: str, changed: list[ChangedFile]) -> None:
        named = [file for file in changed if file.path.isprintable()][:MAX_CHANGED_FILES]
        if changed:
            self._log(FilesChanged, call_id=call_id, files=tuple(named), more=len(changed) - len(named))


class _Content(Struct, frozen=True):
    digest: str
    data: bytes | None = None
    mode: int = 0


def _same(old: WorkspaceFile | None, new: WorkspaceFile | None) -> bool:
    if old is None or new is None:
        return old is new
    if not (old.digest and new.digest):
        return old.mark == new.mark
    return (old.digest, old.mode) == (new.digest, new.mode)


def _digest(state: WorkspaceFile | None) -> str:
    return "" if state is None else state.digest or UNREAD
