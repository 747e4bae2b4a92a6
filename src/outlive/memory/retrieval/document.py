"""The indexed form of an entry: field weights, and which entries it belongs with.

Turns of a dialogue state their session and position. For other entries both are inferred: equal dates mean one
occasion, and names that end in a number ("D1:3", "note-12") form a sequence.
"""

import re
from collections import defaultdict

import msgspec

from outlive.memory.retrieval.analysis import terms, terms_of_date
from outlive.memory.retrieval.entry import Entry, digest

_NUMBERED = re.compile(r"(.*?)(\d{1,9})", re.DOTALL)
NAME, DESCRIPTION, KEYS, BODY, DATE = 2.0, 1.5, 1.0, 1.0, 1.0
"""Field weights: multiples of a half, so that sums are exact in any order."""


class Place(msgspec.Struct, frozen=True, array_like=True):
    """`group` is shared by entries of one occasion; entries of one `line` are neighbours by `number`."""

    group: str
    line: str
    number: int


class Document(msgspec.Struct, frozen=True, array_like=True):
    """An indexed entry. `terms` are joined by spaces, because they are needed only for its removal."""

    key: str
    content: bytes
    length: float
    terms: str
    place: Place
    passage: bytes
    """The digest of the embedded text."""


def indexed(entry: Entry, known: bytes) -> tuple[Document, dict[str, float]]:
    """The document of an entry with the digest of its content, and the weights of its terms."""
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
    """The text of an entry to embed: each part once, the name only if it consists of words."""
    name = entry.name.replace("-", " ").replace("_", " ")
    parts = [name] if sum(map(str.isalpha, name)) > len(name) / 2 else []
    parts += [entry.description, *entry.keys, entry.body]
    return "\n".join(dict.fromkeys(filter(None, map(str.strip, parts))))
