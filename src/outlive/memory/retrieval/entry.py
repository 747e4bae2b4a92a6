"""Input and output of the index."""

import hashlib

import msgspec

from outlive.errors import OutliveError


class Entry(msgspec.Struct, frozen=True):
    """A text to be found. Turns of a dialogue also state their session (`group`) and their `position` in it."""

    key: str
    name: str
    description: str
    body: str
    date: str = ""
    keys: tuple[str, ...] = ()
    group: str = ""
    position: int = 0


class DenseUnavailable(OutliveError):
    """Dense retrieval was requested, but its packages are not installed or cannot be loaded."""


class SearchHit(msgspec.Struct, frozen=True):
    """A found entry. Scores are comparable within one answer."""

    key: str
    score: float
    words: float = 0.0
    """The share of the query that its own words cover."""
    meaning: float | None = None
    """The cosine of its embedding and the query's; None without an embedding model."""


def digest(*texts: str) -> bytes:
    """A digest of several texts; lengths distinguish `("ab", "c")` from `("a", "bc")`."""
    state = hashlib.blake2b(digest_size=16)
    for text in texts:
        raw = text.encode("utf-8", "surrogatepass")
        state.update(b"%d:" % len(raw))
        state.update(raw)
    return state.digest()


def content(entry: Entry) -> bytes:
    """The digest of everything that the index depends on."""
    fields = (entry.key, entry.name, entry.description, entry.body, entry.date, entry.group, str(entry.position))
    return digest(*fields, *entry.keys)
