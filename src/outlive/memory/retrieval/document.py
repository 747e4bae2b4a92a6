"""What the index keeps of an entry, how much each of its fields counts, and which entries it belongs with.

Turns of a dialogue say their session and position themselves. Of other entries it is read from what they have:
entries of one date were written on one occasion, and names that end in a number ("D1:3", "note-12") count on.
"""

import re
from collections import defaultdict

import msgspec

from outlive.memory.retrieval.analysis import terms, terms_of_date
from outlive.memory.retrieval.entry import Entry, digest

_NUMBERED = re.compile(r"(.*?)(\d{1,9})", re.DOTALL)
NAME, DESCRIPTION, KEYS, BODY, DATE = 2.0, 1.5, 1.0, 1.0, 1.0
"""Weights of the fields: multiples of a half, so that sums of them are exact in whatever order they are taken."""


class Place(msgspec.Struct, frozen=True, array_like=True):
    """`group` is shared by entries of one occasion; entries of one `line` are neighbours by `number`."""

    group: str
    line: str
    number: int


class Document(msgspec.Struct, frozen=True, array_like=True):
    """An indexed entry. `terms` are joined by spaces: they are needed again only when it is removed."""

    key: str
    content: bytes
    length: float
    terms: str
    place: Place
    passage: bytes
    """The digest of the text that is embedded."""


def indexed(entry: Entry, known: bytes) -> tuple[Document, dict[str, float]]:
    """A document, given the digest of its content, and the weights of its terms."""
    weights: defaultdict[str, float] = defaultdict(float)
    for text, weight in (
        (entry.name, NAME),
        (entry.description, DESCRIPTION),
        *((key, KEYS) for key in entry.keys),
        (entry.body, BODY),
    ):
        for term in terms(text):
            weights[term] += weight
    for term in terms_of_date(entry.date):
        weights[term] += DATE
    length = sum(weights.values())
    document = Document(entry.key, known, length, " ".join(weights), place(entry), digest(passage(entry)))
    return document, weights


def place(entry: Entry) -> Place:
    if entry.group:
        return Place(f"g{entry.group}", f"g{entry.group}", entry.position)
    match = _NUMBERED.fullmatch(entry.name[-200:])
    line, number = (f"n{match[1]}", int(match[2])) if match else ("", 0)
    return Place(f"d{entry.date}" if entry.date else line, line, number)


def passage(entry: Entry) -> str:
    """The text of an entry that is embedded: each part once, a name only where it is made of words."""
    name = entry.name.replace("-", " ").replace("_", " ")
    parts = [name] if sum(map(str.isalpha, name)) > len(name) / 2 else []
    parts += [entry.description, *entry.keys, entry.body]
    return "\n".join(dict.fromkeys(filter(None, map(str.strip, parts))))
