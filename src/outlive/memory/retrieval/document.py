"""What the index keeps of an entry, and how much each of its fields counts."""

from collections import defaultdict

import msgspec

from outlive.memory.retrieval.analysis import terms, terms_of_date
from outlive.memory.retrieval.entry import Entry, digest
from outlive.memory.retrieval.series import Place, place

NAME, DESCRIPTION, KEYS, BODY, DATE = 2.0, 1.5, 1.0, 1.0, 1.0
"""Weights of the fields: multiples of a half, so that sums of them are exact in whatever order they are taken."""


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
    _count(weights, terms(entry.name), NAME)
    _count(weights, terms(entry.description), DESCRIPTION)
    for key in entry.keys:
        _count(weights, terms(key), KEYS)
    _count(weights, terms(entry.body), BODY)
    _count(weights, terms_of_date(entry.date), DATE)
    length = sum(weights.values())
    document = Document(entry.key, known, length, " ".join(weights), place(entry), digest(passage(entry)))
    return document, weights


def _count(weights: defaultdict[str, float], found: list[str], weight: float) -> None:
    for term in found:
        weights[term] += weight


def passage(entry: Entry) -> str:
    """The text of an entry that is embedded: each part once, a name only where it is made of words."""
    name = entry.name.replace("-", " ").replace("_", " ")
    parts = [name] if sum(map(str.isalpha, name)) > len(name) / 2 else []
    parts += [entry.description, *entry.keys, entry.body]
    kept: list[str] = []
    for part in parts:
        if (part := part.strip()) and part not in kept:
            kept.append(part)
    return "\n".join(kept)
