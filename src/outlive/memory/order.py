"""What the order of words says: which of two things is meant and which is not, what comes first, who does what.

Two sentences may say the same in another order, but only where the order cannot matter: what says where, when or what
for ("in Makefiles") may stand at the beginning or further on, and nothing else moves.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import zip_longest
from typing import NamedTuple

AROUND = "\"'“”‘’()[]{}`*_,;:!?…"
BULLETS = frozenset(("", "-", "*", "#", "##", "###", "—", "–", "•", "."))
SMALL = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "of", "to", "in", "on", "at", "for", "with", "as"),
        *("and", "is", "are", "be", "been", "it", "its", "i", "me", "my", "we", "our", "user"),
        *("users", "please", "also", "just", "very", "really"),
    )
)
"""Words without which a sentence says the same. No "not", no "never", no "only", no "was"."""
INSTEAD = "≠"
"""Stands for "instead of", "rather than", and the "not" of "this, not that"."""
BREAK = ","
DENIES = ("not", "never", INSTEAD)
_WAYS = ("not", "instead", "rather", "than", "opposed", INSTEAD)
"""What stands in one way to say "instead of", and not in another."""
_CODE = re.compile(r"(`+[^`]*`+|\"[^\"\n]*\"|“[^”\n]*”)")
_INSTEAD = re.compile(r"(?i)\b(?:instead of|rather than|as opposed to)(?=\s)")
_NOT = re.compile(r"(?i)(?<=\w)n't\b")
_SHORT = {"can't": "can", "cannot": "can", "won't": "will"}
_SHORTENED = re.compile(rf"(?i)\b(?:{'|'.join(_SHORT)})\b")
WHERE = frozenset(("in", "on", "at", "for", "with", "during", "inside", "within", "under"))
"""What such a word begins may stand first or last."""
_PLACES = frozenset(("in", "inside", "under", "on", "at", "from"))
HELPS = frozenset(
    (
        *("do", "does", "did", "is", "are", "was", "were", "be", "been", "am", "should", "must", "shall", "will"),
        *("would", "can", "could", "may", "might", "has", "have", "had", "need", "i", "we", "you", "they", "he"),
        *("she", "it", "this", "that", "the", "a", "please", "user", "users", "to"),
    )
)
"""A "not" after one of these belongs to a verb."""
_NAMES = frozenset(("is", "are", "was", "were", "be", "=", "called", "named", "into", "to", "run", "runs", "make"))
"""What follows such a word may be a name or a command, and is taken as it is written."""
_FIXED = frozenset(
    (
        *("only", "just", "even", "all", "every", "each", "some", "any", "most", "no", "none", "and", "or", "but"),
        *("nor", "if", "when", "unless", "while", "until", "because", "since", "although", "though", "that", "which"),
        *("who", "where", "whether", "then", "so", "than", "before", "after", "over", "except", "without"),
    )
)
"""With one of these it can matter what stands before it, or to what the rest belongs."""
_NO_PLURAL = frozenset(
    (
        *("news", "means", "lens", "https", "goods", "customs", "arms", "glasses", "does", "sometimes", "besides"),
        *("windows", "series", "species", "always", "perhaps", "across", "towards", "canvas", "rails"),
    )
)
_ES = ("che", "she", "xe", "ze", "sse")


class Word(NamedTuple):
    """As it stands in a sentence, without the signs around it; `exact` if with another ending it is another thing."""

    text: str
    exact: bool = False


class Reading:
    """A sentence, taken apart as far as somebody asks."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence
        self.words = tokens_that_matter(sentence)
        """Those that matter, as they are."""

    @cached_property
    def bag(self) -> tuple[str, ...]:
        """What is sure to be in a sentence that says the same, sorted."""
        return tuple(
            sorted(_singular(_SHORT.get(word, word.removesuffix("n't"))) for word in self.words if word not in _WAYS)
        )

    @cached_property
    def marked(self) -> tuple[Word, ...]:
        """All words, and breaks between them."""
        return tuple(_marked(self._sentence))

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """The words that matter without plurals, and with one sign for all ways to say "instead of"."""
        kept = [word for word in self.marked if word.text != BREAK]
        return tuple(map(_plain, [word for word in kept if word.text not in SMALL] or kept))


@lru_cache(maxsize=1 << 12)
def read(sentence: str) -> Reading:
    return Reading(sentence)


def say_the_same(one: Reading, other: Reading) -> bool:
    """They differ in small words, case, signs and plurals at most, or in where a "where" or "when" stands."""
    if one.bag != other.bag:
        return False
    if one.words == other.words or one.plain == other.plain:
        return True
    return any(_with_where(b) in _fronted(a) for a, b in ((one, other), (other, one)))


def stem(token: str) -> str:
    """Without its ending, so that "deploys" is what "deploy" is. A name or number is left as it is."""
    if not token.isalpha() or len(token) < 5:
        return token[:-1] if token.isalpha() and len(token) == 4 and token[-1] == "s" and token[-2] != "s" else token
    for ending in ("ings", "ing", "ied", "ies", "ed", "es", "s"):
        if token.endswith(ending) and len(token) - len(ending) >= 3 and not token.endswith("ss"):
            token = token[: -len(ending)]
            break
    return token.rstrip("ey") if len(token) > 4 else token


def tokens(text: str) -> tuple[str, ...]:
    """All words, without the signs around them."""
    bare = (word.strip(AROUND).rstrip(".").strip(AROUND) for word in folded(text).split())
    return tuple(word for word in bare if word not in BULLETS)


def tokens_that_matter(text: str) -> tuple[str, ...]:
    """Those that are not small, or all if none is left."""
    found = tokens(text)
    return tuple(word for word in found if word not in SMALL) or found


def folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


# -- inside


def _marked(sentence: str) -> Iterator[Word]:
    """Its words. Code and quotations, names, numbers, what follows an "is", and what may be a place are exact."""
    named, place, before = False, False, ""
    for number, part in enumerate(_CODE.split(unicodedata.normalize("NFKC", sentence).replace("’", "'"))):
        code = number % 2 == 1
        raws = (part if code else _spelled_out(part)).split()
        for raw, after in zip_longest(raws, raws[1:], fillvalue=""):
            bare = raw.strip(AROUND).rstrip(".").strip(AROUND)
            if bare in BULLETS:
                yield Word(BREAK)
                continue
            text = bare.casefold()
            if raw[0] in "([{":
                yield Word(BREAK)
            if text == "not" and not code and _contrasts(before, after.casefold()):
                text = INSTEAD
            yield Word(text, code or named or place or not bare.islower() or not bare.isalpha())
            named, before = named or text in _NAMES, text
            place = text in _PLACES or (place and text in SMALL)
            if not code and raw[-1] in ",;:)]}…":
                named = named or raw[-1] == ":"
                yield Word(BREAK)


def _contrasts(before: str, after: str) -> bool:
    """Whether a "not" between two words is that of "this, not that"."""
    return bool(before) and before not in HELPS | _FIXED - {"and", "but"} and after not in _FIXED


def _spelled_out(text: str) -> str:
    text = _SHORTENED.sub(lambda match: f"{_SHORT[match[0].casefold()]} not", text)
    return _INSTEAD.sub(INSTEAD, _NOT.sub(" not", text))


def _plain(word: Word) -> str:
    return word.text if word.exact else _singular(word.text)


def _singular(text: str) -> str:
    """Without the ending of a plural, and no other: what was done and what is done are two things."""
    if len(text) < 4 or not text.isascii() or not text.isalpha() or text in _NO_PLURAL:
        return text
    if text.endswith("ies") and len(text) > 4:
        return f"{text[:-3]}y"
    if text.endswith("s") and not text.endswith(("ss", "us", "is")):
        text = text[:-1]
    return text[:-1] if text.endswith(_ES) and len(text) > 3 else text


def _with_where(reading: Reading) -> tuple[str, ...]:
    return tuple(_plain(word) for word in reading.marked if _stands(word))


def _stands(word: Word) -> bool:
    return word.text != BREAK and (word.text not in SMALL or word.text in WHERE)


def _fronted(reading: Reading) -> Iterator[tuple[str, ...]]:
    """The orders of a sentence in which one part that says where, when, what for or instead of what comes first."""
    words = reading.marked
    starts = [i for i, word in enumerate(words) if word.text in WHERE or word.text == INSTEAD]
    for start in starts:
        end = next((i for i in starts if i > start + 1), len(words))
        before, part, after = words[:start], words[start:end], words[end:]
        if _may_move(before, part, after):
            yield tuple(_plain(word) for word in (*part, *before, *after) if _stands(word))


def _may_move(before: tuple[Word, ...], part: tuple[Word, ...], after: tuple[Word, ...]) -> bool:
    """Not where it belongs to the word before it, or where what is before or after it is more than one statement."""
    head = _without_break_at_end(before)
    rest = (*head, *after)
    if not any(_matters(word) for word in head) or not any(_matters(word) for word in part[1:]):
        return False
    if any(word.text in _FIXED or word.text == BREAK for word in rest):
        return False
    if any(word.text == BREAK for word in _without_break_at_end(part)) or head[-1].text in WHERE:
        return False
    if any(word.text in _FIXED - {"and", "or"} for word in part):
        return False
    denied = [i for i, word in enumerate(rest) if word.text in DENIES]
    return not denied or (denied[-1] < len(head) - 1 and all(word.text in HELPS for word in head[: denied[-1]]))


def _matters(word: Word) -> bool:
    return word.text not in SMALL and word.text not in (BREAK, *DENIES)


def _without_break_at_end(words: tuple[Word, ...]) -> tuple[Word, ...]:
    return words[:-1] if words and words[-1].text == BREAK else words
