"""When two texts say the same. Careful rather than clever: a fact that is lost is worse than one kept twice."""

import re
from collections.abc import Iterator, Sequence

from outlive.memory.order import CODE, SentenceReading, read, say_the_same
from outlive.memory.tokens import folded

_SENTENCE = re.compile(rf"{CODE.pattern}|([.!?]+(?=\s|$)|\n+)")
_PART = re.compile(rf"{CODE.pattern}|([.!?;]+(?=\s|$)|\n+)")
_BACK = frozenset(("it", "its", "they", "their", "them", "he", "she", "his", "her", "this", "that", "these", "those"))
_BACK |= {"then", "there", "otherwise", "so", "but", "and", "instead", "also", "both", "which"}
"""A sentence that begins with one of these speaks of what stands before it."""
_TELLING = tuple("bcgkmqxz0123456789")


def words(text: str) -> tuple[str, ...]:
    """What counts of a text, word by word as it is written, with signs for where its parts and sentences end."""
    found: list[str] = []
    for sentence in sentences(text):
        found += (*["."] * bool(found), *(word.text for word in sentence.marked), *["?"] * sentence.asks)
    return tuple(found)


def spelling(text: str) -> tuple[int, ...]:
    """Cheap to make, and the same for two texts that say the same: how many there are of digits, and of some letters
    that no word has which does not matter."""
    return tuple(map(folded(text).count, _TELLING))


def sentences(text: str) -> tuple[SentenceReading, ...]:
    """Each sentence or line."""
    return tuple(reading for reading in map(read, split(text)) if reading.words)


def same(one: str, other: str) -> bool:
    """They differ in words that say nothing at most, in a plural at the end, or in where a "where" stands."""
    mine, theirs = _once(sentences(one)), _once(sentences(other))
    if not mine and not theirs:
        return one.split() == other.split()
    return len(mine) == len(theirs) and all(map(say_the_same, mine, theirs))


def says_all_of(one: str, other: str) -> bool:
    """All sentences of `other` stand in `one` too."""
    theirs = sentences(other)
    return bool(theirs) and all_said(theirs, sentences(one))


def all_said(theirs: Sequence[SentenceReading], mine: Sequence[SentenceReading]) -> bool:
    """Whether these sentences stand among those, one after the other, and not under a heading that they lack or after
    something else that they speak of."""
    for start in range(len(mine) - len(theirs) + 1):
        if start and (mine[start - 1].opens or theirs[0].words[0] in _BACK):
            return False
        if all(map(say_the_same, theirs, mine[start : start + len(theirs)])):
            return True
    return False


def _once(found: Sequence[SentenceReading]) -> list[SentenceReading]:
    return list({(sentence.marked, sentence.asks): sentence for sentence in found}.values())


def split(text: str, *, semicolons: bool = False) -> Iterator[str]:
    """Its sentences and lines, with the sign at their end. Code and quotations are left whole."""
    begin = 0
    for match in (_PART if semicolons else _SENTENCE).finditer(text):
        if match[2]:
            yield text[begin : match.end()]
            begin = match.end()
    yield text[begin:]
