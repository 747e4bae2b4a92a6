"""Whether a text that a model made of memories says what they say: nothing else, and all that counts.

Words are compared, not meanings. So it refuses what may be a good paraphrase, and never takes a number, a name, a
path, a command or a "not" that no source has.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from outlive.memory import guard
from outlive.memory.dates import days_meant, read_date
from outlive.memory.retrieval.analysis import terms
from outlive.memory.sides import turned_round
from outlive.stores.memory_records import Memory

KEPT = 0.6
"""Share of the words of each source that have to stay."""
_SENTENCE = re.compile(r"[.!?;]+(?=\s|$)|\n+")
_SPAN = re.compile(r"`+([^`]+)`+|\"([^\"\n]{2,80})\"|“([^”\n]{2,80})”")
_AROUND = "\"'“”‘’()[]{}<>`*,;:!?…#—–•|&"
_EXACT = re.compile(r"[\d/\\_@=+$%~^]|\w[.:]\w|^[-.]+\w|\w\(")
"""Numbers, paths, addresses, options, names in code: only the same is the same."""
_NAME = re.compile(r"[A-Z]\w")
_FORCE = frozenset(
    (
        *("not", "never", "no", "nor", "none", "neither", "without", "only", "always", "must", "should", "except"),
        *("unless", "avoid", "stop", "than", "over"),
    )
)
"""Words that turn a sentence around, compare, or make an instruction of it."""
_SMALL = frozenset(
    (
        *("also", "called", "currently", "has", "have", "please", "user", "users", "i'm", "it's", "that's"),
        *("today", "tonight", "yesterday", "tomorrow", "last", "next", "this", "ago", "now"),
        *("day", "days", "week", "weeks", "month", "months"),
    )
)
_COUNTED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_DIGITS = {word: str(number) for number, word in enumerate(_COUNTED, start=2)}


class _Sentence(NamedTuple):
    words: frozenset[str]
    force: frozenset[str]


def not_borne_out(text: str, sources: Sequence[Memory]) -> str:
    """What of the text no source says, or nothing."""
    known = "\n".join(source.text for source in sources)
    allowed = _words(known) | {word for source in sources for word in _days(source)}
    for span in _code(text):
        if span not in _flat(known):
            return f"{span[:60]!r} stands in none of them"
    if extra := sorted(_words(text) - allowed):
        return f"{extra[0][:60]!r} stands in none of them"
    said = list(_sentences(known))
    for sentence in _sentences(text):
        if sentence.force and not any(_same_force(sentence, other) for other in said):
            return f"none of them says {' '.join(sorted(sentence.force))!r} of that"
    return _out_of_order(text, [f"{source.description}\n{source.body}" for source in sources])


def left_unsaid(text: str, sources: Iterable[Memory]) -> str:
    """What of the sources the text leaves out though it counts, or nothing."""
    words, flat, made = _words(text), _flat(text), list(_sentences(text))
    for source in sources:
        whole = source.body if source.body.strip() else source.description
        if lost := next((span for span in _code(whole) if span not in flat), ""):
            return f"{lost[:60]!r} of {source.slug}"
        theirs = _words(whole)
        if lost := next((word for word in sorted(_facts(whole)) if word not in words), ""):
            return f"{lost[:60]!r} of {source.slug}"
        if len(theirs & words) < KEPT * len(theirs):
            return f"most words of {source.slug}"
        for sentence in _sentences(whole):
            if sentence.force and not any(_same_force(sentence, other) for other in made):
                return f"{' '.join(sorted(sentence.force))!r} of {source.slug}"
    return ""


def newly_instructs(memory: Memory, sources: Sequence[Memory]) -> bool:
    """Whether it tells an agent what to do, and no source does."""
    return guard.instructs(memory) and not any(map(guard.instructs, sources))


def _out_of_order(text: str, known: Sequence[str]) -> str:
    """What the order of the words says that no source says, or nothing. Where there is nothing but the order to say
    who does what, it is that of a source."""
    return turned_round(text, known)


def _same_force(one: _Sentence, other: _Sentence) -> bool:
    return one.force <= other.force and 2 * len(one.words & other.words) >= len(one.words)


def _sentences(text: str) -> Iterator[_Sentence]:
    for part in _SENTENCE.split(text):
        if part.strip():
            folded = _folded(part).split()
            yield _Sentence(
                _words(part), frozenset(_FORCE.intersection(word.strip(_AROUND + ".") for word in folded))
            )


def _words(text: str) -> frozenset[str]:
    """The words that say something: those in which each sign counts as they are, others without their endings."""
    found: set[str] = set()
    for raw in _folded(text).split():
        word = raw.strip(_AROUND).rstrip(".").strip(_AROUND)
        word = _DIGITS.get(word, word)
        if not any(map(str.isalnum, word)) or word in _SMALL or word in _FORCE:
            continue
        if _EXACT.search(word):
            found.add(word)
        else:
            found.update(terms(word.removesuffix("'s")))
    return frozenset(found)


def _facts(text: str) -> frozenset[str]:
    """Numbers, paths, addresses and the like, and names: words with a capital that do not begin a sentence."""
    found = {word for word in _words(text) if _EXACT.search(word)}
    for part in _SENTENCE.split(text):
        for raw in part.split()[1:]:
            word = raw.strip(_AROUND + ".")
            if _NAME.match(word) and len(word) > 1:
                found |= _words(word)
    return frozenset(found)


def _code(text: str) -> Iterator[str]:
    """What stands in backticks or quotation marks."""
    for match in _SPAN.finditer(text):
        yield _flat(next(filter(None, match.groups())))


def _days(source: Memory) -> Iterator[str]:
    """The words of the days that its relative dates may mean."""
    base = read_date(source.date) or source.created.date()
    for said in days_meant(f"{source.description}\n{source.body}", base):
        yield said
        if day := read_date(said):
            yield from (f"{day:%Y}", f"{day.day}", *terms(f"{day:%B}"), *terms(f"{day:%b}"))


def _flat(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return folded.replace("can't", "can not").replace("cannot", "can not").replace("n't", " not")
