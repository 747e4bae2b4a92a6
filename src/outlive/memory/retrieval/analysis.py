"""Tokenisation: terms are folded and stemmed, without stop words; identifiers also in parts, unspaced scripts in
bigrams."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import Stemmer

from outlive.memory.retrieval.dates import date_terms
from outlive.memory.retrieval.stopwords import STOP, WEAK

MAX_TEXT_CHARS = 200_000
"""Only the beginning of a longer text is indexed."""
_MAX_TERM_CHARS = 64  # longer "words" are encoded data; they still match by their beginning
_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_UNSPACED += "\U00020000-\U0003134f"
"""Scripts that put no spaces between words, or glue particles to them: there, two neighbouring signs are a term."""
_WORD = re.compile(rf"[\w\u0300-\u036f\u0900-\u0dff{_UNSPACED}]+")
_RUN = re.compile(rf"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_UNSPACED_SIGN = re.compile(f"[{_UNSPACED}]")
_CAMEL = re.compile(r"[a-z\d][A-Z]")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ACCENTS = re.compile("[\u0300-\u036f]")

_stemmer = Stemmer.Stemmer("english")
VERSION = f"1 {Stemmer.version()}"
"""Stored in caches: terms of another version are not comparable."""


def terms(text: str) -> list[str]:
    """The terms of a text in order, with repetitions."""
    text = unicodedata.normalize("NFKC", text[:MAX_TEXT_CHARS])
    found: list[str] = []
    for word in _WORD.findall(text):
        found.extend(_of_word(word[:_MAX_TERM_CHARS]))
    found.extend(_of_dates(text))
    return found


def terms_of_date(date: str) -> list[str]:
    """The terms of a date field without the time of day; other text is tokenised as text."""
    return list(_of_dates(unicodedata.normalize("NFKC", date[:MAX_TEXT_CHARS]))) or terms(date)


def is_telling(term: str) -> bool:
    """Whether sharing this term is significant."""
    return term not in _WEAK_STEMS


def _of_dates(text: str) -> Iterator[str]:
    return (_stem(term) for term in dict.fromkeys(date_terms(" ".join(text.lower().split()))))


@lru_cache(maxsize=1 << 16)
def _of_word(word: str) -> tuple[str, ...]:
    found: list[str] = []
    for run in _RUN.findall(word):
        unspaced = _UNSPACED_SIGN.match(run)
        found += (run[i : i + 2] for i in range(max(1, len(run) - 1))) if unspaced else _of_spaced(run)
    return tuple(found)


def _of_spaced(word: str) -> Iterator[str]:
    """The word itself, and the parts of `snake_case` and `camelCase`."""
    whole = _folded(word)
    if whole and whole not in STOP:
        yield _stem(whole)
    parts = [
        part for piece in word.split("_") for part in (_PART.findall(piece) if _CAMEL.search(piece) else [piece])
    ]
    if len(parts) > 1:
        folded = (_folded(part) for part in parts)
        yield from (_stem(part) for part in folded if part and part not in STOP and part != whole)


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower().strip("_")
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", word.casefold()))
    return unicodedata.normalize("NFC", bare).strip("_")


def _stem(word: str) -> str:
    return _stemmer.stemWord(word) if word.isascii() and word.isalpha() else word


_WEAK_STEMS = frozenset(_stem(word) for word in WEAK)
