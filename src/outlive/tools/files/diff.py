"""Unified diffs, bounded in size and in work."""

from difflib import Match, SequenceMatcher
from itertools import accumulate

from msgspec import Struct

from outlive.printable import encodable

MAX_LINES = 400  # shown to a user who decides; the rest is counted
MAX_COMPARISONS = 2_000_000
"""Line comparisons, after which the change is shown as one block."""


class FileChange(Struct, frozen=True):
    """A file before and after a change, exactly."""

    path: str
    """Absolute."""
    before: str | None
    """None: there is no such file yet."""
    after: str


def unified(before: str, after: str, name: str) -> str:
    """The unified diff; empty if nothing changed."""
    rows = changed_lines(before, after)
    if not rows:
        return ""
    more = len(rows) - MAX_LINES
    if more > 0:
        rows[MAX_LINES:] = [f"… {more:,} more lines of the diff"]
    return encodable("\n".join([f"--- {name}", f"+++ {name}", *rows]))


def counted(before: str, after: str) -> str:
    """Added and removed lines: `+3 −2`."""
    rows = changed_lines(before, after)
    return f"+{sum(row.startswith('+') for row in rows)} −{sum(row.startswith('-') for row in rows)}"


def changed_lines(before: str, after: str, context: int = 3) -> list[str]:
    """The rows of a diff without its header. Only the part between the first and last difference is compared."""
    if before == after:
        return []
    old, new = _lines(before), _lines(after)
    head = _common(old, new, min(len(old), len(new)))
    tail = _common(old[::-1], new[::-1], min(len(old), len(new)) - head)
    start, spare = max(0, head - context), max(0, tail - context)
    return _rows(old[start : len(old) - spare], new[start : len(new) - spare], start, context)


def _lines(text: str) -> list[str]:
    """The lines; a last line without a line end differs from the same line with one."""
    *whole, rest = text.split("\n")
    return [*whole, f"{rest}\n\\ No newline at end of file"] if rest else whole


def _common(one: list[str], other: list[str], most: int) -> int:
    return next((at for at in range(most) if one[at] != other[at]), most)


class _TooMuch(Exception):
    """Comparing the lines would take too long."""


class _Matcher(SequenceMatcher[str]):
    """Limits the work: each line costs the number of equal lines on the other side."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__(None, old, new)
        places: dict[str, list[int]] = vars(self)["b2j"]
        self._upto = [0, *accumulate(1 + len(places.get(line, ())) for line in old)]
        self._work = MAX_COMPARISONS

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        self._work -= self._upto[-1 if ahi is None else ahi] - self._upto[alo]
        if self._work < 0:
            raise _TooMuch
        return super().find_longest_match(alo, ahi, blo, bhi)


def _rows(old: list[str], new: list[str], start: int, context: int) -> list[str]:
    try:
        groups = list(_Matcher(old, new).get_grouped_opcodes(context))
    except _TooMuch:
        groups = [[("replace", 0, len(old), 0, len(new))]]
    rows: list[str] = []
    for group in groups:
        first, last = group[0], group[-1]
        rows.append(f"@@ -{_span(first[1], last[2], start)} +{_span(first[3], last[4], start)} @@")
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                rows += (f" {line}" for line in old[i1:i2])
            else:
                rows += (f"-{line}" for line in old[i1:i2])
                rows += (f"+{line}" for line in new[j1:j2])
    return rows


def _span(begin: int, end: int, start: int) -> str:
    """`12,7`: first line and count; for an empty range, the line before it."""
    length = end - begin
    first = begin + start + (length > 0)
    return str(first) if length == 1 else f"{first},{length}"
