"""When two texts say the same. Careful rather than clever: what differs in a number, a name or a "not" differs."""

import re
import unicodedata

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
_AROUND = "\"'“”‘’()[]{}`*_,;:!?…"
_BULLETS = frozenset(("", "-", "*", "#", "##", "###", "—", "–", "•", "."))
_SMALL = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "of", "to", "in", "on", "at", "for", "with", "as"),
        *("and", "is", "are", "was", "were", "be", "been", "it", "its", "i", "me", "my", "we", "our", "user"),
        *("users", "please", "also", "just", "very", "really"),
    )
)
"""Words without which a sentence says the same. No "not", no "never", no "only"."""

_TELLING = tuple("cgkxz0125")


def words(text: str) -> tuple[str, ...]:
    """The words that matter, in their order. Signs belong to them: C, C++ and C# are three languages."""
    found = tokens(text)
    return tuple(word for word in found if word not in _SMALL) or found


def tokens(text: str) -> tuple[str, ...]:
    """All words, without the signs around them."""
    bare = (word.strip(_AROUND).rstrip(".").strip(_AROUND) for word in _folded(text).split())
    return tuple(word for word in bare if word not in _BULLETS)


def spelling(text: str) -> tuple[int, ...]:
    """Cheap to make, and the same for two texts that have the same words: how many there are of some letters that no
    word has which does not matter, and of digits."""
    folded = _folded(text)
    return tuple(map(folded.count, _TELLING))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def sentences(text: str) -> frozenset[tuple[str, ...]]:
    """Each sentence or line as its words."""
    return frozenset(filter(None, (words(part) for part in _SENTENCE.split(text))))


def same(one: str, other: str) -> bool:
    """They differ in small words, case and punctuation at most."""
    return words(one) == words(other)


def says_all_of(one: str, other: str) -> bool:
    """Each sentence of `other` stands in `one` too."""
    theirs = sentences(other)
    return bool(theirs) and theirs <= sentences(one)


def differs_about(one: str, other: str) -> bool:
    """Both say what one thing is, and do not say the same: "the port is 80", "the port is 443"."""
    mine, theirs = _COPULA.split(one, maxsplit=1), _COPULA.split(other, maxsplit=1)
    if len(mine) < 2 or len(theirs) < 2 or len(sentences(one)) > 1 or len(sentences(other)) > 1:
        return False
    thing = words(mine[0])
    return thing == words(theirs[0]) and bool(set(thing) - _SMALL) and words(mine[1]) != words(theirs[1])


def corrects(new: str, old: str) -> bool:
    """`new` says that `old` is not so: "on Mondays, not on Fridays" after "on Fridays". Or both say the same up to
    the end, and there another value, or another word with a "now"."""
    if len(sentences(new)) != 1 or len(sentences(old)) != 1:
        return False
    before = words(_NOT_SO.sub("", old))
    if match := _NOT_SO.search(new):
        denied, rest = set(words(match["what"])), set(words(new[: match.start()] + new[match.end() :]))
        kept, rest = set(before) - denied, rest - _SMALL
        if denied and denied <= set(before) and kept <= rest and (kept or not rest):
            return True
    now = tuple(word for word in words(new) if not _NOW.fullmatch(word))
    if len(now) != len(before) or len(now) < 2 or now[:-1] != before[:-1] or now[-1] == before[-1]:
        return False
    return bool(_NOW.search(new)) or any(value.match(now[-1]) and value.match(before[-1]) for value in _VALUES)
