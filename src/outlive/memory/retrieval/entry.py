"""What goes into the index and what comes out of it."""

import hashlib

import msgspec

from outlive.errors import OutliveError


class Entry(msgspec.Struct, frozen=True):
    """One text to be found. Turns of a dialogue also say their session (`group`) and their `position` in it."""

    key: str
    name: str
    description: str
    body: str
    date: str = ""
    keys: tuple[str, ...] = ()
    group: str = ""
    position: int = 0


class DenseUnavailable(OutliveError):
    """Dense retrieval was asked for by name, and its parts are not installed or cannot be loaded."""


class SearchHit(msgspec.Struct, frozen=True):
    """An entry that was found. Scores can be compared within one answer."""

    key: str
    score: float


def digest(*texts: str) -> bytes:
    """Tells texts apart by content; lengths keep `("ab", "c")` and `("a", "bc")` different."""
    state = hashlib.blake2b(digest_size=16)
    for text in texts:
        raw = text.encode("utf-8", "surrogatepass")
        state.update(b"%d:" % len(raw))
        state.update(raw)
    return state.digest()


def content(entry: Entry) -> bytes:
    """The digest of everything about an entry that its place in the index depends on."""
    fields = (entry.key, entry.name, entry.description, entry.body, entry.date, entry.group, str(entry.position))
    return digest(*fields, *entry.keys)
