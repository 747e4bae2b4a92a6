"""The digest of a pass, written as the rows in which it differs from the one before: it is long and mostly the same.

What is left out is in the same log, never further back than `IN_A_ROW` passes, and its hash is checked on reading. A
pass whose rows are lost is named and left out; the session then makes another.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import msgspec
from msgspec.structs import asdict, replace

from outlive.events import Base, Compacted, Event, Receipt, Unknown, ViewEdit

IN_A_ROW = 16
"""Passes that build on each other; then one stands alone again."""
MOST_PAGES = 10_000_000
"""No session has more; a number beyond is nobody's handle."""
LARGEST = 1 << 30
"""Characters of all digests of a log together."""
WORTH_IT = 16
"""Characters from which on rows are pointed at instead of written again."""

Rows = tuple[str | tuple[int, int], ...]
"""A digest in parts: texts, and rows of the digest before (the first, and how many)."""
Ranges = tuple[tuple[int, int], ...]
"""Numbers that follow each other: the first and the last."""


class _Compacted(Base, frozen=True, kw_only=True, tag="compacted"):
    """A pass, as a line has it. The receipt's handles stand beside it."""

    fold_to: int
    base: int = 0
    """The pass whose digest the rows are from; 0 when it stands alone."""
    rows: Rows
    hash: str
    edits: tuple[ViewEdit, ...]
    receipt: Receipt
    handles: Ranges = ()
    focus: str = ""
    summary: str = ""
    pages: tuple[int, ...] = ()
    pictures: tuple[tuple[int, int], ...] = ()


_encode = msgspec.json.Encoder().encode
_decoder = msgspec.json.Decoder(_Compacted)


class DigestWriter:
    """Writes the passes of one log. Whatever it has written must get into the log, or it has to `forget`."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Let the next pass stand alone."""
        self._base = 0
        self._rows: list[str] = []
        self._count = 0

    def line(self, event: Compacted) -> bytes:
        """The line of a pass."""
        new = event.digest.split("\n")
        rows: Rows = (event.digest,)
        base = self._base if 0 < self._count < IN_A_ROW else 0
        if base:
            rows = tuple(_parts(self._rows, new))
            if sum(len(part) for part in rows if isinstance(part, str)) > len(event.digest) / 2:
                base, rows = 0, (event.digest,)
        self._base, self._rows, self._count = event.id, new, self._count + 1 if base else 1
        fields = asdict(event)
        del fields["digest"]
        fields["receipt"] = replace(event.receipt, handles=())
        handles = tuple(_ranges(event.receipt.handles))
        return _encode(_Compacted(**fields, base=base, rows=rows, hash=_hash(event.digest), handles=handles))


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
        digest = "\n".join(self._expanded(found.rows))
        if _hash(digest) != found.hash:
            return f"pass {event.id} does not come out as it was written: it, or pass {found.base}, was changed"
        self._room -= size
        self._remember(event.id, digest)
        return _as_event(found, digest, self._counted(found.handles))

    def _remember(self, id: int, digest: str) -> None:
        self._base, self._rows = id, digest.split("\n")
        self._ends = list(accumulate((len(row) + 1 for row in self._rows), initial=0))

    def _size(self, found: _Compacted) -> int:
        """Characters of its digest, and what its handles take: a few bytes can stand for very many."""
        spans = (len(part) if isinstance(part, str) else self._length(*self._span(part)) for part in found.rows)
        return sum(spans) + 8 * sum(max(last - first, 0) + 1 for first, last in found.handles)

    def _span(self, part: tuple[int, int]) -> tuple[int, int]:
        first, count = max(part[0], 0), max(part[1], 0)
        return min(first, len(self._rows)), min(first + count, len(self._rows))

    def _length(self, start: int, stop: int) -> int:
        return self._ends[stop] - self._ends[start]

    def _expanded(self, rows: Rows) -> Iterator[str]:
        for part in rows:
            if isinstance(part, str):
                yield part
            else:
                start, stop = self._span(part)
                yield from self._rows[start:stop]

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


def _parts(old: Sequence[str], new: Sequence[str]) -> Iterator[str | tuple[int, int]]:
    """`new` as texts and runs of `old`, which mostly follow each other."""
    places: dict[str, list[int]] = {}
    for number, row in enumerate(old):
        places.setdefault(row, []).append(number)
    written: list[str] = []
    at = expected = 0
    while at < len(new):
        first, count = _run(old, new, at, expected, places.get(new[at], ()))
        if sum(map(len, new[at : at + count])) + count > WORTH_IT:
            if written:
                yield "\n".join(written)
                written = []
            yield first, count
            expected = first + count
        else:
            count = max(count, 1)
            written += new[at : at + count]
        at += count
    if written:
        yield "\n".join(written)


def _run(old: Sequence[str], new: Sequence[str], at: int, expected: int, places: Sequence[int]) -> tuple[int, int]:
    """Where in `old` the rows from `at` on stand, at or after the `expected` place if possible, and how many."""
    if not places:
        return 0, 0
    next_place = bisect_left(places, expected)
    first = places[next_place] if next_place < len(places) else places[0]
    count = 1
    while first + count < len(old) and at + count < len(new) and old[first + count] == new[at + count]:
        count += 1
    return first, count


def _ranges(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Rising numbers as ranges."""
    first = last = None
    for number in numbers:
        if last is not None and number == last + 1:
            last = number
            continue
        if first is not None and last is not None:
            yield first, last
        first = last = number
    if first is not None and last is not None:
        yield first, last


def _hash(digest: str) -> str:
    return hashlib.sha256(digest.encode()).hexdigest()[:16]
