"""When two texts say the same. Careful rather than clever: what differs in a number, a name or a "not" differs."""

import re
import unicodedata

_SENTENCE = re.compile(r"[.!?]+(?=\s|$)|\n+")
_COPULA = re.compile(r"(?i)\s(?:is|are|was|were|=|lives? in|should be)\s|:\s")
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
