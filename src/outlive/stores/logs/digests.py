"""Reads passes of older logs, whose digest is written as the rows in which it differs from the pass before.

New passes are written whole. A pass whose rows are lost is named and left out; the session then makes another.
"""

import hashlib
from itertools import accumulate, chain

import msgspec
from msgspec.structs import asdict, replace

from outlive.events import Base, Compacted, Event, Receipt, Unknown, ViewEdit

MOST_PAGES = 10_000_000
"""No session has more; a number beyond is nobody's handle."""
LARGEST = 1 << 30
"""Characters of all digests of a log together."""

Rows = tuple[str | tuple[int, int], ...]
"""A digest in parts: texts, and rows of the digest before (the first, and how many)."""
Ranges = tuple[tuple[int, int], ...]
"""Numbers that follow each other: the first and the last."""


class _Compacted(Base, frozen=True, kw_only=True, tag="compacted"):
    """A pass as a line has it, with the handles of the receipt beside it."""

    fold_to: int
    base: int = 0
    """The pass whose digest the rows are from; 0 if there is none."""
    rows: Rows
    hash: str
    edits: tuple[ViewEdit, ...]
    receipt: Receipt
    handles: Ranges = ()
    focus: str = ""
    summary: str = ""
    pages: tuple[int, ...] = ()
    pictures: tuple[tuple[int, int], ...] = ()


_decoder = msgspec.json.Decoder(_Compacted)


class DigestReader:
    """Puts the digests of one log together again, in the order in which they were written."""

    def __init__(self) -> None:
        self._base = 0
        self._rows: list[str] = []
        self._ends = [0]
        self._numbers: list[int] = []
        self._room = LARGEST

    def whole(self, event: Event) -> Event | str:
        """A pass as it was, or why that cannot be told; any other event as it is."""
        found = _stored(event)
        if found is None:
            if isinstance(event, Compacted):
                self._remember(event.id, event.digest)
            return event
        if found.base and found.base != self._base:
            return f"pass {event.id} builds on pass {found.base}, which cannot be read"
        size = self._size(found)
        if size > self._room:
            return f"pass {event.id} would make all digests together larger than {LARGEST >> 20} MiB"
        parts = ([part] if isinstance(part, str) else self._rows[slice(*self._span(part))] for part in found.rows)
        digest = "\n".join(chain.from_iterable(parts))
        if hashlib.sha256(digest.encode()).hexdigest()[:16] != found.hash:
            return f"pass {event.id} does not come out as it was written: it, or pass {found.base}, was changed"
        self._room -= size
        self._remember(event.id, digest)
        return _as_event(found, digest, self._counted(found.handles))

    def _remember(self, id: int, digest: str) -> None:
        self._base, self._rows = id, digest.split("\n")
        self._ends = list(accumulate((len(row) + 1 for row in self._rows), initial=0))

    def _size(self, found: _Compacted) -> int:
        """Characters of its digest, and what its handles take: a few bytes can stand for very many."""
        size = 0
        for part in found.rows:
            if isinstance(part, str):
                size += len(part)
            else:
                start, stop = self._span(part)
                size += self._ends[stop] - self._ends[start]
        return size + 8 * sum(max(last - first, 0) + 1 for first, last in found.handles)

    def _span(self, part: tuple[int, int]) -> tuple[int, int]:
        first, count = max(part[0], 0), max(part[1], 0)
        return min(first, len(self._rows)), min(first + count, len(self._rows))

    def _counted(self, ranges: Ranges) -> tuple[int, ...]:
        """The same number is the same object in every receipt, because there are very many."""
        found: list[int] = []
        for first, last in ranges:
            if 0 <= first <= last < MOST_PAGES:
                self._numbers.extend(range(len(self._numbers), last + 1))
                found += self._numbers[first : last + 1]
        return tuple(found)


def sketch(event: Event) -> Event:
    """A pass without its digest, where that is written as a difference; any other event as it is."""
    found = _stored(event)
    return event if found is None else _as_event(found, "", ())


def _stored(event: Event) -> _Compacted | None:
    if not isinstance(event, Unknown):
        return None
    try:
        return _decoder.decode(event.raw)
    except msgspec.ValidationError:
        return None


def _as_event(found: _Compacted, digest: str, handles: tuple[int, ...]) -> Compacted:
    fields = asdict(found)
    for name in ("base", "rows", "hash", "handles"):
        del fields[name]
    fields["receipt"] = replace(found.receipt, handles=handles)
    return Compacted(**fields, digest=digest)
