"""What a sentence says, word by word, and when two sentences say the same.

Strict: code, names, numbers and signs count as they are written, and so does each word but a few that say nothing. In
another order two sentences say the same only where one begins with the "in Makefiles" that the other ends with.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

BREAK = ","
INSTEAD = "≠"
"""Stands for "instead of", "rather than", and the "not" of "this, not that"."""
DENIES = ("not", "never", INSTEAD)
CODE = re.compile(r"(`+[^`]*`+|\"[^\"\n]*\"|“[^”\n]*”)")
"""Code and quotations."""
HELPS = frozenset(
    (
        *("do", "does", "did", "is", "are", "was", "were", "be", "been", "am", "should", "must", "shall", "will"),
        *("would", "can", "could", "may", "might", "has", "have", "had", "need", "i", "we", "you", "they", "he"),
        *("she", "it", "this", "that", "the", "a", "please", "user", "users", "to"),
    )
)
"""A "not" after one of these belongs to a verb."""
LINKS = frozenset(
    (
        *("only", "just", "even", "all", "every", "each", "some", "any", "most", "no", "none", "and", "or", "but"),
        *("nor", "if", "when", "unless", "while", "until", "because", "since", "although", "though", "that", "which"),
        *("who", "where", "whether", "then", "so", "than", "before", "after", "over", "except", "without"),
    )
)
"""With one of these it can matter what stands before it, or to what the rest belongs."""
_PREPOSITIONS = frozenset(
    (
        *("in", "on", "at", "of", "to", "for", "with", "as", "by", "from", "into", "onto", "about", "per", "via"),
        *("during", "inside", "within", "under", "through", "between", "against", "like"),
    )
)
_FRONTS = frozenset(("in", "on", "at", "during", "inside", "within", "under"))
"""What such a word begins may stand first or last."""
_BEFORE_VERB = frozenset(("we", "i", "you", "do", "can", "will", "should", "must", "not", "never", "always"))
_VERBS = frozenset(
    (
        *(
            "use",
            "run",
            "deploy",
            "want",
            "prefer",
            "need",
            "keep",
            "put",
            "write",
            "test",
            "push",
            "merge",
            "release",
        ),
        *("commit", "build", "call", "avoid", "add", "store", "save", "review"),
    )
)
"""Verbs to which an "in Makefiles" at the end of a sentence belongs."""
_STATES = frozenset(("is", "are", "was", "were", "be", "=", "called", "named", "into", "to", "run", "runs", "make"))
"""What follows such a word may be a name or a command: a plural is another one."""
_COMMANDS = ("run", "runs", "make", "call", "called", "named", "=", "to")
_ONE = re.compile(r"the|an?|this|that|these|those|my|our|your|his|her|its|their|one|each|every|no|.*\d.*")
_TELLS = frozenset(("said", "says", "say", "think", "thinks", "note", "noted", "sure", "told", "remember", "means"))
_WISHES = {"prefers": "prefer", "wants": "want", "likes": "like", "needs": "need"}
"""What the user does, as the user says it."""
_BULLET = re.compile(r"^\s*(?:(?:[-*+•–—]|#+|>)\s+)+")
_INSTEAD = re.compile(r"(?i)\b(?:instead of|rather than|as opposed to)(?=\s)")
_NOT = re.compile(r"(?i)(?<=\w)n't\b")
_SHORT = {"can't": "can", "cannot": "can", "won't": "will"}
_SHORTENED = re.compile(rf"(?i)\b(?:{'|'.join(_SHORT)})\b")
_NO_PLURAL = frozenset(("news", "means", "lens", "https", "goods", "customs", "arms", "glasses", "does", "series"))


class SentenceWord(NamedTuple):
    """As it is written, without the signs around it, and with the article that stood before it."""

    text: str
    article: str = ""
    loose: bool = False
    """In the plural it says the same."""

    @property
    def plain(self) -> bool:
        """No name, number, sign or code."""
        return self.text.isalpha() and self.text.islower()


class SentenceReading:
    """A sentence, with the sign at its end."""

    def __init__(self, sentence: str) -> None:
        self.asks = sentence.rstrip().endswith("?")
        self.opens = sentence.rstrip().endswith(":") or sentence.lstrip().startswith("#")
        """It says what follows, or of what."""
        self.marked = tuple(_that_count(list(written(sentence))))
        """The words that count, and breaks between them."""
        self.words = tuple(word.text for word in self.marked if word.text != BREAK)

    @cached_property
    def bag(self) -> tuple[str, ...]:
        """What is sure to be in a sentence that says the same, sorted."""
        return tuple(sorted(map(_singular, self.words)))


@lru_cache(maxsize=1 << 12)
def read(sentence: str) -> SentenceReading:
    return SentenceReading(sentence)


def say_the_same(one: SentenceReading, other: SentenceReading) -> bool:
    """They differ in words that say nothing, in a plural at the end, or in whether a "where" stands first or last."""
    if one.bag != other.bag or one.asks != other.asks:
        return False
    a, b = one.marked, other.marked
    return _equal(a, b) or any(_equal(_fronted(x), y) for x, y in ((a, b), (b, a)))


def written(sentence: str) -> Iterator[SentenceWord]:
    """All words as they stand in a sentence, and breaks."""
    for number, part in enumerate(CODE.split(_BULLET.sub("", sentence.replace("’", "'")))):
        if number % 2:
            yield SentenceWord(f"`{part.strip('`') if part[0] == '`' else part[1:-1]}`")
            continue
        for place, raw in enumerate(spelled_out(part).split()):
            if number and not place and not raw.strip(".!?,;:…)"):  # a sign after code
                yield from [SentenceWord(BREAK)] if raw.strip(".!?") else []
            else:
                yield from _of_raw(raw)


def spelled_out(text: str) -> str:
    """With "not" for "n't", and one sign for all ways to say "instead of"."""
    text = _SHORTENED.sub(lambda match: f"{_SHORT[match[0].casefold()]} not", text)
    return _INSTEAD.sub(INSTEAD, _NOT.sub(" not", text))


def contrasts(before: str, after: str) -> bool:
    """Whether a "not" between two words is that of "this, not that"."""
    return bool(before) and before not in HELPS | LINKS - {"and", "but"} and after not in LINKS


# -- inside


def _of_raw(raw: str) -> Iterator[SentenceWord]:
    if raw in ("—", "–", "…"):
        yield SentenceWord(BREAK)
        return
    opened = raw[0] == "(" and (")" not in raw or raw.rstrip(".,;:!?…").endswith(")"))
    bare = raw[1:] if opened else raw
    ended = bare.rstrip(".!?…") or bare
    stop = ended.rstrip(",;:") or ended
    closed = stop[-1:] == ")" and stop.count(")") > stop.count("(")
    text = stop[:-1] if closed else stop
    if opened:
        yield SentenceWord(BREAK)
    if text:
        yield SentenceWord(text)
    if closed or stop != ended or ended[-1:] in ",;:" or "…" in bare[len(ended) :]:
        yield SentenceWord(BREAK)


def _that_count(words: list[SentenceWord]) -> Iterator[SentenceWord]:
    """Without what says nothing, and with the last one marked if its plural says the same."""
    kept = _contrasted(_begun(_without_breaks_around(words)))
    denied = any(word.text in DENIES or word.text == "no" for word in kept)
    found: list[SentenceWord] = []
    article = ""
    for number, word in enumerate(kept):
        after = kept[number + 1] if number + 1 < len(kept) else SentenceWord("")
        before = kept[number - 1].text if number else ""
        if word.text in ("a", "an", "the") and _is_article(after):
            article = "a" if word.text != "the" else "the"
        elif not _says_nothing(word.text, before, after, denied):
            found.append(SentenceWord(word.text, article))
            article = ""
    if found and found[-1].plain and not any(word.text in _STATES for word in found[:-1]):
        near = [text for word in found[-4:-1] for text in (word.text, word.article) if text]
        single = found[-1].article or any(map(_ONE.fullmatch, near)) or (near and near[-1] in _PREPOSITIONS)
        found[-1] = found[-1]._replace(loose=not single and len(found) > 1)
    yield from found


def _begun(words: list[SentenceWord]) -> list[SentenceWord]:
    """With a small letter at the beginning, and with the user's own words where they are spoken of."""
    words = [SentenceWord("i") if word.text == "I" else word for word in words]
    if words and words[0].text.isalpha() and words[0].text.istitle():
        words[0] = SentenceWord(words[0].text.lower())
    texts = [word.text for word in words[:3]]
    start = 1 if texts[:1] == ["the"] else 0
    if texts[start : start + 1] == ["user"] and (wish := _WISHES.get("".join(texts[start + 1 : start + 2]))):
        return [SentenceWord("i"), SentenceWord(wish), *words[start + 2 :]]
    if texts and texts[0] in _FRONTS:
        return _without_comma(words)
    return words[1:] if texts[:2] == ["we", "use"] else words


def _without_comma(words: list[SentenceWord]) -> list[SentenceWord]:
    """Of a sentence that begins with an "in Makefiles": without the comma after it, and the "we" of "we use"."""
    texts = [word.text for word in words]
    at = texts.index(BREAK) if BREAK in texts else -1
    if at > 0 and texts[at + 1] in _VERBS | _BEFORE_VERB and BREAK not in texts[at + 1 :]:
        words, texts = words[:at] + words[at + 1 :], texts[:at] + texts[at + 1 :]
    use = texts.index("use") if "use" in texts else 0
    return words[: use - 1] + words[use:] if use > 1 and texts[use - 1] == "we" else words


def _contrasted(words: list[SentenceWord]) -> list[SentenceWord]:
    """With one sign for the "not" of "this, not that", and nothing between it and the "this"."""
    found: list[SentenceWord] = []
    for number, word in enumerate(words):
        before = found[-1].text if found else ""
        if before == BREAK and len(found) > 1:
            before = found[-2].text
        after = words[number + 1].text if number + 1 < len(words) else ""
        if word.text == "not" and after and contrasts(before.casefold(), after.casefold()):
            word = SentenceWord(INSTEAD)
        while word.text == INSTEAD and len(found) > 1 and found[-1].text in (BREAK, "and", "but"):
            found.pop()
        if not (word.text == BREAK and found and found[-1].text == BREAK):
            found.append(word)
    if found and found[0].text == INSTEAD and BREAK in (word.text for word in found[:4]):
        found.remove(SentenceWord(BREAK))
    return found


def _is_article(after: SentenceWord) -> bool:
    return after.plain and len(after.text) > 1 and after.text not in HELPS | _PREPOSITIONS


def _says_nothing(text: str, before: str, after: SentenceWord, denied: bool) -> bool:
    if text == "please":
        return True
    if text == "that":
        return before in _TELLS
    if denied or not after.plain or before in _COMMANDS:
        return False
    if text == "just":
        return before in ("", "i", "we")
    return text in ("also", "really", "very") and after.text not in LINKS


def _without_breaks_around(words: list[SentenceWord]) -> list[SentenceWord]:
    while words and words[0].text == BREAK:
        words = words[1:]
    while words and words[-1].text == BREAK:
        words = words[:-1]
    return words


def _equal(one: Sequence[SentenceWord], other: Sequence[SentenceWord]) -> bool:
    return len(one) == len(other) > 0 and all(map(_alike, one, other))


def _alike(one: SentenceWord, other: SentenceWord) -> bool:
    if one.article and other.article and one.article != other.article:
        return False
    return one.text == other.text or (one.loose and other.loose and _singular(one.text) == _singular(other.text))


def _fronted(words: tuple[SentenceWord, ...]) -> tuple[SentenceWord, ...]:
    """With the "in Makefiles" or "instead of npm" at its end put first, or nothing where it may belong to a noun."""
    texts = [word.text for word in words]
    at = next((i for i, text in enumerate(texts) if text in _PREPOSITIONS or text == INSTEAD), 0)
    verb = next((i for i, text in enumerate(texts) if text not in _BEFORE_VERB), 0)
    if texts[at] not in (*_FRONTS, INSTEAD) or verb >= at or texts[verb] not in _VERBS or at - verb > 4:
        return ()
    part, thing = texts[at + 1 :], texts[verb + 1 : at]
    if not part or any(text in LINKS or text in (BREAK, *DENIES) for text in thing):
        return ()
    if any(text in LINKS - {"and", "or"} | _PREPOSITIONS or text in (BREAK, *DENIES) for text in part):
        return ()
    if texts[at] == INSTEAD and any(text in DENIES for text in texts[:verb]):
        return ()
    return (*words[at:], *words[:at])


def _singular(text: str) -> str:
    """Without the ending of a plural, and no other: what was done and what is done are two things."""
    if len(text) < 4 or not text.isascii() or not text.isalpha() or text in _NO_PLURAL:
        return text
    if text.endswith("ies") and len(text) > 4:
        return f"{text[:-3]}y"
    return text[:-1] if text.endswith("s") and not text.endswith(("ss", "us", "is")) else text
