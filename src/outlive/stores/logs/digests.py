"""Reads passes of older logs, in which a digest is stored as a difference to the pass before.

New passes are written whole. A pass whose rows are lost is reported and left out; the session then makes another.
"""

import hashlib
from itertools import accumulate, chain

import msgspec
from msgspec.structs import asdict, replace

from outlive.events import Base, Compacted, Event, Receipt, Unknown, ViewEdit

MAX_PAGES = 10_000_000
"""Bound on page numbers; a larger number is not a valid handle."""
MAX_DIGEST_CHARS = 1 << 30
"""Characters of all digests of a log together."""

Rows = tuple[str | tuple[int, int], ...]
"""A digest in parts: texts, and ranges of rows of the digest before (first row, count)."""
Ranges = tuple[tuple[int, int], ...]
"""Consecutive numbers as (first, last)."""


class _Compacted(Base, frozen=True, kw_only=True, tag="compacted"):
    """Compacted in the form of a log line, with the handles of the receipt beside it."""

    fold_to: int
    base: int = 0
    """The pass whose digest the rows refer to; 0 if there is none."""
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
    """Restores the digests of one log, in the order in which they were written."""

    def __init__(self) -> None:
        self._base = 0
        self._digest = ""
        self._rows: list[str] | None = []
        """Those of the digest, once a pass builds on it."""
        self._ends = [0]
        self._numbers: list[int] = []
        self._room = MAX_DIGEST_CHARS

    def whole(self, event: Event) -> Event | str:
        """The restored pass, or the reason why it cannot be restored; other events unchanged."""
        found = _stored(event)
        if found is None:
            if isinstance(event, Compacted):
                self._remember(event.id, event.digest)
            return event
        if found.base and found.base != self._base:
            return f"pass {event.id} builds on pass {found.base}, which cannot be read"
        if self._rows is None:
            self._rows = self._digest.split("\n")
            self._ends = list(accumulate((len(row) + 1 for row in self._rows), initial=0))
        rows, size = self._rows, self._size(found)
        if size > self._room:
            return f"pass {event.id} would make all digests together larger than {MAX_DIGEST_CHARS >> 20} MiB"
        parts = ([part] if isinstance(part, str) else rows[slice(*self._span(part))] for part in found.rows)
        digest = "\n".join(chain.from_iterable(parts))
        if hashlib.sha256(digest.encode()).hexdigest()[:16] != found.hash:
            return f"pass {event.id} does not come out as it was written: it, or pass {found.base}, was changed"
        self._room -= size
        self._remember(event.id, digest)
        return _as_event(found, digest, self._counted(found.handles))

    def _remember(self, id: int, digest: str) -> None:
        self._base, self._digest, self._rows = id, digest, None

    def _size(self, found: _Compacted) -> int:
        """Characters of the digest and its handles: a few bytes can expand to very many."""
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
        most = len(self._ends) - 1
        return min(first, most), min(first + count, most)

    def _counted(self, ranges: Ranges) -> tuple[int, ...]:
        """Expand ranges. Equal numbers share one object, because there are very many."""
        found: list[int] = []
        for first, last in ranges:
            if 0 <= first <= last < MAX_PAGES:
                self._numbers.extend(range(len(self._numbers), last + 1))
                found += self._numbers[first : last + 1]
        return tuple(found)


def sketch(event: Event) -> Event:
    """A pass without its digest if that is stored as a difference; other events unchanged."""
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
