"""Where something stands in a text. Looking for plain text is many times faster than looking for a pattern, so
patterns are tried only where a hint stands."""

import re
from collections.abc import Iterable, Iterator

import msgspec

LONGEST_LINE = 4_000
BEFORE, BEHIND = 60, 2_000
"""Characters: of a longer line, what stands around a hint is looked at, so that the time grows with the text only."""


class Secret(msgspec.Struct, frozen=True):
    """Where a secret stands in a text, and what it looks like."""

    start: int
    end: int
    kind: str


def parts(text: str, hints: Iterable[int]) -> Iterator[tuple[int, str]]:
    """The lines of a text that have a hint in them; of a long line, what stands around each hint."""
    done = 0
    for at in sorted(hints):
        if at < done:
            continue
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if end - start > LONGEST_LINE:
            start, end = max(start, at - BEFORE), min(end, at + BEHIND)
            done = end if end - at < BEHIND else at + BEHIND // 2
        else:
            done = end
        yield start, text[start:end]


def places(text: str, hint: str) -> Iterator[int]:
    at = text.find(hint)
    while at >= 0:
        yield at
        at = text.find(hint, at + len(hint))


def matches(pattern: re.Pattern[str], text: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    """What begins at one of these places, none within another."""
    done = 0
    for at in places:
        if at >= done and (match := pattern.match(text, at, at + LONGEST_LINE)):
            done = match.end()
            yield match
