"""What counts as a name: something a later tool call may have to spell exactly.

A token of five or more characters with a capital, digit, `_`, `.` or `/` inside, or a quoted string of several words.
Plain words are not names: they are everywhere, and keeping a line for their sake keeps the wrong lines.
"""

import re
import sys
from functools import lru_cache
from itertools import chain

from outlive.context.policy import CAPITALS, HEX, NUMBER, QUOTED

_TOKEN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./\-]{3,}[A-Za-z0-9_]")
_QUOTED = re.compile(r"[\"'`]([^\"'`]{5,80})[\"'`]")
_INNER = re.compile(r".[A-Z0-9_./]")
_NUMBER = re.compile(r"[0-9][0-9._\-/]*")
_HEX = re.compile(r"(?=.*[0-9])[0-9a-f\-]{7,}")
SHORTEST, LONGEST = 5, 200
"""Characters of a name; what is longer is data."""


@lru_cache(maxsize=1 << 14)
def _names_of_token(token: str) -> tuple[str, ...]:
    """The token itself if it is a name, and the last part of a path, which is often used alone; each is kept once."""
    if len(token) > LONGEST or not _INNER.search(token):
        return ()
    _, slash, base = token.rpartition("/")
    if slash and len(base) >= SHORTEST and _INNER.search(base):
        return (sys.intern(token), sys.intern(base))
    return (sys.intern(token),)


@lru_cache(maxsize=1 << 15)
def names(line: str) -> tuple[str, ...]:
    """The names in a line, each once, in order."""
    found = _TOKEN.findall(line)
    if not found:
        return ()
    quoted = [text for text in _QUOTED.findall(line) if " " in text.strip()]
    if len(found) == 1 and not quoted:
        return _names_of_token(found[0])
    return tuple(dict.fromkeys(chain(chain.from_iterable(map(_names_of_token, found)), map(sys.intern, quoted))))


@lru_cache(maxsize=1 << 15)
def shape_odds(name: str) -> float:
    """How the look of a name alone changes its odds of being used again."""
    if " " in name:
        return QUOTED
    if _NUMBER.fullmatch(name):
        return NUMBER
    if _HEX.fullmatch(name):
        return HEX
    return CAPITALS if name.isupper() else 1.0
