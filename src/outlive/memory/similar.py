"""When two texts say the same. Careful rather than clever: what differs in a number, a name or a "not" differs."""

import re
from collections.abc import Iterable, Sequence

from outlive.memory.order import SMALL, Reading, folded, read, say_the_same, tokens_that_matter

_SENTENCE = re.compile(r"[.!?]+(?=\s|$)|\n+")
_COPULA = re.compile(r"(?i)\s(?:is|are|was|were|=|lives? in|should be)\s|:\s")
_NOT_SO = re.compile(
    r"(?i)[,;(]?\s*(?:\b(?:and|but)\s+)?\b(?:(?:do(?:es)?\s+)?not|don['’]t|doesn['’]t|"
    r"instead of|rather than|no longer)\s+(?P<what>[^,;.)\n]+)\)?"
)
_NOW = re.compile(r"(?i)\b(?:now|no longer|anymore|any more|from now on|instead|actually|changed|switched|moved)\b")
_VALUES = (
    re.compile(r"v?\d[\d.,:]*\w{0,3}$"),
    re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?$"),
    re.compile(r"(?:january|february|march|april|may|june|july|august|september|october|november|december)$"),
    re.compile(r"(?:daily|weekly|monthly|hourly|yearly)$"),
)
"""Words of which one takes the place of another."""
_TELLING = tuple("cgkxz0125")


def words(text: str) -> tuple[str, ...]:
    """The words that matter, in their order. Signs belong to them: C, C++ and C# are three languages."""
    return tokens_that_matter(text)


def spelling(text: str) -> tuple[int, ...]:
    """Cheap to make, and the same for two texts that say the same: how many there are of digits, and of some letters
    that no word has which does not matter."""
    return tuple(map(folded(text).count, _TELLING))


def sentences(text: str) -> tuple[Reading, ...]:
    """Each sentence or line, once."""
    found = map(read, _SENTENCE.split(text))
    return tuple({reading.words: reading for reading in found if reading.words}.values())


def same(one: str, other: str) -> bool:
    """They differ in small words, case, punctuation and plurals at most, or in where a "where" stands."""
    whole, others = read(one), read(other)
    if whole.words == others.words:
        return True
    if whole.bag != others.bag:
        return False
    mine, theirs = sentences(one), sentences(other)
    return len(mine) == len(theirs) and all(map(say_the_same, mine, theirs))


def says_all_of(one: str, other: str) -> bool:
    """Each sentence of `other` stands in `one` too."""
    theirs = sentences(other)
    return bool(theirs) and all_said(theirs, sentences(one))


def all_said(theirs: Iterable[Reading], mine: Sequence[Reading]) -> bool:
    """Whether each of these sentences is among those."""
    return all(any(say_the_same(sentence, other) for other in mine) for sentence in theirs)


def differs_about(one: str, other: str) -> bool:
    """Both say what one thing is, and do not say the same: "the port is 80", "the port is 443"."""
    mine, theirs = _COPULA.split(one, maxsplit=1), _COPULA.split(other, maxsplit=1)
    if len(mine) < 2 or len(theirs) < 2 or len(sentences(one)) > 1 or len(sentences(other)) > 1:
        return False
    thing = words(mine[0])
    return thing == words(theirs[0]) and bool(set(thing) - SMALL) and words(mine[1]) != words(theirs[1])


def corrects(new: str, old: str) -> bool:
    """`new` says that `old` is not so: "on Mondays, not on Fridays" after "on Fridays". Or both say the same up to
    the end, and there another value, or another word with a "now"."""
    if len(sentences(new)) != 1 or len(sentences(old)) != 1:
        return False
    before = words(_NOT_SO.sub("", old))
    if match := _NOT_SO.search(new):
        denied, rest = set(words(match["what"])), set(words(new[: match.start()] + new[match.end() :]))
        kept, rest = set(before) - denied, rest - SMALL
        if denied and denied <= set(before) and kept <= rest and (kept or not rest):
            return True
    now = tuple(word for word in words(new) if not _NOW.fullmatch(word))
    if len(now) != len(before) or len(now) < 2 or now[:-1] != before[:-1] or now[-1] == before[-1]:
        return False
    return bool(_NOW.search(new)) or any(value.match(now[-1]) and value.match(before[-1]) for value in _VALUES)
