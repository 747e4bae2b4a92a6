"""What a text says, clause by clause: which words stand together, with what limits them and in which order.

A clause is a row of phrases: what is said, and each "in CI", "for reads", "if it is cold" by itself. Where a clause
needs another one to be understood ("and 5 for writes", "she", the items under a heading), that one belongs to it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, product
from typing import NamedTuple

from outlive.memory.order import BREAK, INSTEAD, read
from outlive.memory.similar import split
from outlive.memory.tokens import stem

Phrase = tuple[str, tuple[str, ...]]
"""The word that begins it, if it is an "in" or "if", and its words."""
Body = tuple[tuple[Phrase, ...], ...]
LIMITS = frozenset(
    (
        *("not", "never", "no", "none", "neither", "nor", "only", "may", "might", "could", "should", "would", "will"),
        *(
            "must",
            "always",
            "usually",
            "often",
            "sometimes",
            "probably",
            "maybe",
            "perhaps",
            "almost",
            "least",
            "most",
        ),
        *("was", "were", "had", "all", "every", "each", "some", "any", INSTEAD),
    )
)
"""Words that limit what is said, or turn it round; what follows an "and" may be under them too."""
_SUBORDINATE = frozenset(
    ("if", "unless", "until", "when", "while", "because", "whether", "although", "though", "except", "or")
)
"""A sentence with one of these is one thing."""
_BEGINS = _SUBORDINATE - {"or"} | {
    "before",
    "after",
    "since",
    "than",
    "over",
    "without",
    INSTEAD,
    "in",
    "on",
    "at",
    "of",
}
_BEGINS |= {"to", "for", "with", "as", "by", "from", "into", "about", "per", "via", "during", "under", "between"}
_ANYWHERE = frozenset(("at", "on", "during", "before", "after", "if", "unless", "until", "when", "while", "because"))
_ANYWHERE |= {INSTEAD, "since"}
"""What such a word begins says the same at the beginning, whatever else there is."""
_SAYS_NOTHING = frozenset(
    (
        *("a", "an", "the", "is", "are", "am", "be", "been", "being", "do", "does", "we", "i", "you", "user"),
        *("users", "currently", "happen", "happens"),
    )
)
_BE = frozenset(("is", "are", "am", "be", "been", "being", "was", "were", "not", "never"))
_BACK = frozenset(("it", "its", "they", "their", "them", "he", "she", "him", "his", "her", "this", "these", "those"))
_FINITE = re.compile(r"is|are|was|were|has|have|can|[a-z]{2,}(?:[^s]s|ed)")
_COUNTED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_DIGITS = {word: str(number) for number, word in enumerate(_COUNTED, start=2)}
_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d)?|(?:19|20)\d\d")
_CALENDAR = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|[a-z]+(?:ary|ember|ober)")
_MOST = 48
"""Ways to read one run of clauses that are looked at; a sentence of many clauses stays whole."""


class Clause(NamedTuple):
    """Between two commas, or an "and"."""

    ways: tuple[tuple[Phrase, ...], ...]
    """How it may be read, as it stands first."""
    finite: bool
    """It begins with what another one's subject does: "and sits in Berlin"."""
    after_and: bool

    @property
    def stands_alone(self) -> bool:
        begins, words = self.ways[0][0]
        return not begins and len(words) > 1 and not _BACK.intersection(words)


class ClauseSentence:
    """A sentence, with the heading or the sentence before it that it cannot be understood without."""

    def __init__(self, text: str, context: Sequence[str] = (), *, is_source: bool = True) -> None:
        self.text = " ".join(text.split())
        words = [word.text for word in read(text).marked]
        low = [word.casefold() for word in words]
        self.flat = tuple(_meant(words))
        self.limits = LIMITS.intersection(low) | _SUBORDINATE.intersection(low)
        self.speaks_back = bool(_BACK.intersection(low))
        self.context: Body = ((("^", tuple(context)),),) if context else ()
        self.asks = read(text).asks
        clauses = _merged([_clause(part, joined) for part, joined in _parts(words)])
        joined = any(clause.after_and for clause in clauses)
        whole = (
            len(clauses) > _MOST // 4
            or bool(_SUBORDINATE.intersection(low))
            or self.asks
            or (joined and bool(self.limits))
        )
        self.cuts = [] if whole else [i for i in range(1, len(clauses)) if not is_source or _may_part(clauses, i)]
        self.clauses = clauses

    def runs(self) -> Iterator[tuple[int, int]]:
        """From and to which clause it may be taken by itself."""
        ends = [0, *self.cuts, len(self.clauses)]
        yield from ((start, end) for start in ends for end in ends if start < end)

    def bodies(self, start: int, end: int) -> list[Body]:
        ways = product(*(clause.ways for clause in self.clauses[start:end]))
        return [tuple(way) for way in islice(ways, _MOST)]

    def independent(self, start: int, end: int) -> list[Body]:
        """What a run says to somebody who reads nothing else."""
        mark: Body = ((("?", ()),),) if self.asks else ()
        found = [mark + self.context + body for body in self.bodies(start, end)] if not start else []
        if start and not self.context:
            clause = self.clauses[start]
            found += self.bodies(start, end) if clause.stands_alone else []
            if clause.finite:
                found += (_led(lead, body) for lead in self._leads() for body in self.bodies(start, end))
        return found

    def continued(self, start: int, end: int) -> list[tuple[object, ...]]:
        """What a run that does not come first says after how its sentence begins."""
        leads = self._leads() if start else []
        return [(self.context, lead, body) for lead in leads for body in self.bodies(start, end)]

    def _leads(self) -> list[tuple[str, ...]]:
        heads = {way[0][1][:count] for way in self.clauses[0].ways for count in (1, 2, 3) if not way[0][0]}
        return [head for head in heads if head]


class ClauseSet:
    """All that some statements say."""

    def __init__(self, statements: Sequence[ClauseSentence]) -> None:
        self.alone = {body for one in statements for run in one.runs() for body in one.independent(*run)}
        self.after = {body for one in statements for run in one.runs() for body in one.continued(*run)}

    def has(self, statement: ClauseSentence) -> bool:
        """Whether all parts of a statement are said, each by one clause or several that stand together."""
        ends = [0, *statement.cuts, len(statement.clauses)]
        reached = {0}
        for start in ends[:-1]:
            if start in reached:
                reached |= {end for end in ends if end > start and self._has_run(statement, start, end)}
        return len(statement.clauses) in reached

    def _has_run(self, statement: ClauseSentence, start: int, end: int) -> bool:
        if not self.alone.isdisjoint(statement.independent(start, end)):
            return True
        return not self.after.isdisjoint(statement.continued(start, end))


def statements(text: str, *, is_source: bool = True) -> list[ClauseSentence]:
    """The sentences of a text that say something."""
    found: list[ClauseSentence] = []
    heading: tuple[str, ...] = ()
    for sentence in split(text, semicolons=True):
        reading = read(sentence)
        if not reading.words:
            continue
        plain = ClauseSentence(sentence, heading, is_source=is_source)
        before = found[-1].flat[:3] if found and plain.speaks_back else ()
        found.append(ClauseSentence(sentence, (*heading, "^", *before), is_source=is_source) if before else plain)
        if reading.opens:
            heading = found[-1].flat
    return [statement for statement in found if statement.clauses]


# -- inside


def _parts(words: Sequence[str]) -> Iterator[tuple[list[str], bool]]:
    """Between the commas, and whether an "and" came before it."""
    part: list[str] = []
    joined = False
    for word in (*words, BREAK):
        if word not in (BREAK, "and", "but"):
            part.append(word)
            continue
        if part:
            yield part, joined
            part, joined = [], False
        joined = word == "and" or (joined and word != BREAK)


def _clause(words: Sequence[str], joined: bool) -> Clause:
    phrases = _moved(_phrases(words))
    ways = [phrases, *_in_front(phrases, words)]
    ways += [active for way in tuple(ways) if (active := _active(way))]
    return Clause(tuple(dict.fromkeys(ways)), bool(_FINITE.fullmatch(words[0])), joined)


def _phrases(words: Sequence[str]) -> tuple[Phrase, ...]:
    found: list[tuple[str, list[str]]] = [("", [])]
    for word in _meant(words):
        if word in _BEGINS:
            found.append((word, []))
        elif _DAY.fullmatch(word):
            begins = found.pop()[0] if found[-1][0] in ("on", "in", "around") and not found[-1][1] else ""
            found += [("at", [word]), ("", [])] if begins or not _counts_days(found) else [(begins, [word])]
        else:
            found[-1][1].append(word)
    return tuple((begins, tuple(row)) for begins, row in found if begins or row) or (("", ()),)


def _counts_days(found: Sequence[tuple[str, list[str]]]) -> bool:
    return bool(found) and found[-1][0] in ("since", "until", "before", "after") and not found[-1][1]


def _meant(words: Sequence[str]) -> Iterator[str]:
    """The words that say something: others without their endings than names, numbers and code."""
    be = False
    for before, word in pairwise(("", *words)):
        low = word.casefold()
        if low not in _SAYS_NOTHING and word != BREAK:
            if not word.isalpha() or not (word.islower() or word.istitle()):
                yield word
            elif word.istitle() and before and not _CALENDAR.fullmatch(low):
                yield low
            else:
                history = low.endswith("ed") and not low.endswith("eed") and not be
                yield _DIGITS.get(low) or (low if low in _BEGINS | LIMITS else f"{stem(low)}{'+' * history}")
        be = low in _BE or (be and low.endswith("ly"))


def _moved(phrases: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
    """With an "on Fridays" at the beginning at the end."""
    begins = phrases[0][0]
    others = [phrase for phrase in phrases[1:] if phrase[0]]
    if len(phrases) > 1 and not phrases[1][0] and (begins in _ANYWHERE or (begins and not others)):
        return (*phrases[1:], phrases[0])
    return phrases


def _in_front(phrases: tuple[Phrase, ...], words: Sequence[str]) -> Iterator[tuple[Phrase, ...]]:
    """Of a clause that begins with an "on Fridays": where that may end."""
    begins, row = phrases[0]
    if begins and words[0] == begins:
        for end in range(1, len(row)):
            yield _moved(((begins, row[:end]), ("", row[end:]), *phrases[1:]))


def _active(phrases: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
    """ "The parser is owned by Anna" as "Anna owns the parser"."""
    begins, row = phrases[0]
    by = next((phrase for phrase in phrases if phrase[0] == "by"), None)
    if begins or not row or by is None:
        return ()
    head = (*by[1], *row[-1:], *row[:-1])
    return (("", head), *(phrase for phrase in phrases[1:] if phrase != by))


def _merged(clauses: list[Clause]) -> list[Clause]:
    """With an "if it is cold," at the beginning as a part of what it belongs to."""
    if len(clauses) < 2 or len(clauses[0].ways[0]) != 1 or not clauses[0].ways[0][0][0] or clauses[1].after_and:
        return clauses
    front = clauses[0].ways[0][0]
    ways = tuple(_moved((front, *way)) for way in clauses[1].ways)
    return [clauses[1]._replace(ways=ways, finite=False), *clauses[2:]]


def _may_part(clauses: Sequence[Clause], at: int) -> bool:
    """Not where an "in CI" after the second may be meant for the first too."""
    before, after = (any(begins for begins, _ in clause.ways[0]) for clause in clauses[at - 1 : at + 1])
    return before or not after or not clauses[at].after_and or clauses[at].stands_alone


def _led(lead: tuple[str, ...], body: Body) -> Body:
    begins, row = body[0][0]
    first = (("", (*lead, *row)), *body[0][1:]) if not begins else (("", lead), *body[0])
    return (first, *body[1:])
