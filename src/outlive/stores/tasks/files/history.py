"""The audit trail of the file store: `history.jsonl`, one commit a line, append-only.

A line is written just before the commit point of its change. If a writer dies in between, its staged file is still
there, so the last line describes a change that did not happen; the next writer voids it.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from outlive.errors import StoreUnavailable
from outlive.regular import MIB, UnusableFile, open_regular, open_to_read
from outlive.stores.disk import MAX_FILE_BYTES, Disk, append, last_lines, read_bytes
from outlive.stores.tasks.records import TaskChange

_TASK = re.compile(rb'"task":(\d+),')
_MAX_LINE_BYTES = 64 * MIB
"""Bytes of the last line that are read to find its beginning."""


class _Line(msgspec.Struct, omit_defaults=True):
    changes: tuple[TaskChange, ...] = ()
    void: str | None = None
    """The last change of an earlier line that did not happen."""


_decode = msgspec.json.Decoder(_Line).decode
_encode = msgspec.json.Encoder().encode


class AuditTrail:
    def __init__(self, path: Path, disk: Disk) -> None:
        self.path = path
        self._disk = disk
        self._seen: tuple[int, int] | None = (0, 0)
        """Size and inode up to which all changes are known; None if unknown."""
        self._settled: tuple[int, int] | None = None

    def mark_seen(self) -> None:
        """Mark everything up to now as read; `news` reports later changes.

        Not while a change is staged: its line may be there while its files are not.
        """
        state = self._state()
        self._seen = None if self._disk.is_staging() else state

    def news(self) -> set[int] | None:
        """Tasks changed by other writers since the last call; None if unknown."""
        if self._seen is None:
            return None
        (size, inode), (seen, seen_inode) = self._state(), self._seen
        if inode != seen_inode or not 0 <= size - seen <= MAX_FILE_BYTES:
            return None
        if size == seen:
            return set()
        if self._disk.is_staging():
            return None
        with open_to_read(self.path) as file:
            file.seek(seen)
            raw = file.read(size - seen)
        self._seen = size, inode
        return {change.task for line in _parse(raw.split(b"\n")) for change in line.changes}

    def append(self, changes: Sequence[TaskChange]) -> int:
        """Write the line of a commit; returns the size before it, for `take_back`."""
        return self._append(_Line(changes=tuple(changes)))

    def take_back(self, size: int) -> None:
        """Undo an `append` whose change could not be committed. Only for the holder of the lock."""
        os.truncate(self.path, size)
        self.mark_seen()

    @property
    def settled(self) -> bool:
        """Whether every line is known to have happened or to be void. Reading does not settle."""
        return self._settled == self._state()

    def mark_settled(self) -> None:
        self._settled = self._state()

    def settle(self) -> tuple[TaskChange, ...]:
        """Void the last line if its writer died before the commit, else return its changes."""
        last = self._last()
        if self._hangs(last):
            self._append(_Line(void=last.changes[-1].id))
            last = _Line()
        self._disk.sweep()
        self.mark_settled()
        return last.changes

    def read(self, task: int | None = None) -> list[TaskChange]:
        commits: dict[str, tuple[TaskChange, ...]] = {}
        needle = b'"task":%d,' % task if task is not None else b""
        last = self._last()
        hanging = last.changes[-1].id if self._hangs(last) else None
        for line in _parse(line for line in self.lines() if needle in line or line.startswith(b'{"void"')):
            if line.changes:
                commits[line.changes[-1].id] = line.changes
            elif line.void is not None:
                commits.pop(line.void, None)
        if hanging is not None:
            commits.pop(hanging, None)
        changes = [change for commit in commits.values() for change in commit]
        return [change for change in changes if task in (None, change.task)]

    def lines(self) -> list[bytes]:
        return self._raw().split(b"\n")

    def mentions(self, ids: Collection[int]) -> bool:
        """Whether the trail has a change of one of these tasks."""
        try:
            raw = self._raw()
        except UnusableFile as error:
            raise StoreUnavailable(f"{self.path}: {error.strerror}") from None
        return not {b"%d" % number for number in ids}.isdisjoint(_TASK.findall(raw))

    def damaged(self) -> list[int]:
        """Numbers of unreadable lines."""
        numbered = enumerate(self.lines(), start=1)
        return [number for number, line in numbered if line.strip() and not list(_parse([line]))]

    def _raw(self) -> bytes:
        return read_bytes(self.path) or b""

    def _append(self, line: _Line) -> int:
        descriptor = open_regular(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            size = append(descriptor, _encode(line) + b"\n", durable=self._disk.durable)
            found = os.fstat(descriptor)
            self._seen = found.st_size, found.st_ino
        finally:
            os.close(descriptor)
        return size

    def _hangs(self, line: _Line) -> bool:
        """Whether the change of the last line was staged and not committed."""
        return bool(line.changes) and self._disk.staged(line.changes[-1].id).exists()

    def _state(self) -> tuple[int, int]:
        """Size and inode; zeros if the file does not exist."""
        try:
            stat = self.path.lstat()
        except FileNotFoundError:
            return 0, 0
        return stat.st_size, stat.st_ino

    def _last(self) -> _Line:
        """The last line, read from the end; empty if it cannot be read."""
        try:
            with open_to_read(self.path) as file:
                last = next(filter(None, last_lines(file.fileno(), longest=_MAX_LINE_BYTES)), b"")
        except FileNotFoundError:
            return _Line()
        return next(_parse([last]), _Line())


def _parse(lines: Iterable[bytes]) -> Iterator[_Line]:
    for line in lines:
        if line.strip():
            try:
                yield _decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
