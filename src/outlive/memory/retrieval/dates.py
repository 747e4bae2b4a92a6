"""Dates as terms: "8 May 2023", "May 8th, 2023" and "2023-05-08" yield the same terms for day, month and year.

Relative dates ("last week") are ignored: their meaning depends on when they are read.
"""

import re
from collections.abc import Iterator

_NAMES = "january february march april may june july august september october november december"
_FULL = _NAMES.split()
_NUMBER = {name[:3]: number for number, name in enumerate(_FULL, start=1)}
_MONTH = r"(?P<month>" + "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _FULL if name != "september")
_MONTH += r"|sep(?:t(?:ember)?)?)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"

_WRITTEN = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b{_YEAR}[-/.](?P<number>\d{{1,2}})(?:[-/.](?P<day>\d{{1,2}}))?(?!\d)",
        rf"\b{_DAY} (?:of )?{_MONTH}\b(?:[.,]? {_YEAR}\b)?",
        rf"\b{_MONTH}\.? {_DAY}\b(?:,? {_YEAR}\b)?",
        rf"\b{_MONTH}\.?,? (?:of )?{_YEAR}\b",
        rf"\b(?:in|during|since|until|till|last|next|early|late|mid) {_MONTH}\b",
    )
)


def date_terms(lowered: str) -> Iterator[str]:
    """The terms of all dates in a lower-case text: month, year and month, month and day, the whole date."""
    if not any(sign.isdigit() for sign in lowered) and " may" not in lowered:
        return
    for pattern in _WRITTEN:
        for match in pattern.finditer(lowered):
            found = match.groupdict()
            month = int(found["number"]) if found.get("number") else _NUMBER[found["month"][:3]]
            day = int(found.get("day") or 0)
            if 1 <= month <= 12 and day <= 31:
                yield from _terms(found.get("year") or "", month, day)


def _terms(year: str, month: int, day: int) -> Iterator[str]:
    yield _FULL[month - 1]
    if year:
        yield year
        yield f"{year}-{month:02}"
    if day:
        yield f"{month:02}-{day:02}"
    if year and day:
        yield f"{year}-{month:02}-{day:02}"
