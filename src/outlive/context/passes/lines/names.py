"""What counts as a name: something a later tool call may have to spell exactly.

A token of five or more characters with a capital, digit, `_`, `.` or `/` inside, or a quoted string of several words.
Plain words are not names: they are everywhere, and keeping a line for their sake keeps the wrong lines.
"""

import re
import sys
from collections.abc import Callable
from functools import wraps
from itertools import chain
from typing import Generic, TypeVar

from msgspec import Struct

from outlive.context.policy import CAPITALS, HEX, NUMBER, QUOTED

_TOKEN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./\-]{3,}[A-Za-z0-9_]")
_QUOTED = re.compile(r"[\"'`]([^\"'`]{5,80})[\"'`]")
_INNER = re.compile(r".[A-Z0-9_./]")
_NUMBER = re.compile(r"[0-9][0-9._\-/]*")
_HEX = re.compile(r"(?=.*[0-9])[0-9a-f\-]{7,}")
SHORTEST, LONGEST = 5, 200
"""Characters of a name; what is longer is data."""
MOST_CACHED = 1 << 15
"""Texts whose names are remembered."""
T = TypeVar("T")


class _Box(Struct, Generic[T], gc=False):
    """A value in a cache; a dictionary of such objects is not tracked for cycles."""

    value: T


def cached(compute: Callable[[str], T]) -> Callable[[str], T]:
    """Remember what was computed. Unlike `lru_cache` it costs nothing at a full collection of garbage."""
    known: dict[str, _Box[T]] = {}

    @wraps(compute)
    def get(text: str) -> T:
        box = known.get(text)
        if box is None:
            if len(known) >= MOST_CACHED:
                known.clear()
            box = known[text] = _Box(compute(text))
        return box.value

    return get


@cached
def _names_of_token(token: str) -> tuple[str, ...]:
    """The token itself if it is a name, and the last part of a path, which is often used alone; each is kept once."""
    if len(token) > LONGEST or not _INNER.search(token):
        return ()
    _, slash, base = token.rpartition("/")
    if slash and len(base) >= SHORTEST and _INNER.search(base):
        return (sys.intern(token), sys.intern(base))
    return (sys.intern(token),)


@cached
def names(line: str) -> tuple[str, ...]:
    """The names in a line, each once, in order."""
    found = _TOKEN.findall(line)
    if not found:
        return ()
    may_quote = '"' in line or "'" in line or "`" in line
    quoted = [text for text in _QUOTED.findall(line) if " " in text.strip()] if may_quote else ()
    if len(found) == 1 and not quoted:
        return _names_of_token(found[0])
    return tuple(dict.fromkeys(chain(chain.from_iterable(map(_names_of_token, found)), map(sys.intern, quoted))))


@cached
def shape_score(name: str) -> float:
    """How the look of a name alone changes its odds of being used again."""
    if " " in name:
        return QUOTED
    if _NUMBER.fullmatch(name):
        return NUMBER
    if _HEX.fullmatch(name):
        return HEX
    return CAPITALS if name.isupper() else 1.0
