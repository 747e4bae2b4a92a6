"""Whose words a text is made of. Found out from the log, never believed: a model that has read a planted text may
hand it on as the user's word.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

from outlive.events import Event
from outlive.memory.said import Utterance, said
from outlive.memory.sides import turned_round
from outlive.memory.tokens import stem, tokens
from outlive.stores.memories.records import Provenance

_COVERED = 0.7
"""Share of a sentence's words that the user has said, from which on it is theirs."""
_READ = 0.6
"""The same for a tool result or a page."""
_SENTENCE = re.compile(r"[.!?]+(?=\s|$)|\n+|;\s")
_CODE = re.compile(r"`([^`\n]+)`")
_EXACT = re.compile(r"\d|[/\\=$|<>@~#&*%^+]|^-+\w|\w[._:]\w")
"""Numbers, paths, addresses, options, names of files: what is said so and not otherwise."""
_DATE = re.compile(r"\d{4}(?:-\d\d){0,2}$")
_RELATIVE = re.compile(
    r"(?i)\b(?:today|tomorrow|yesterday|tonight|week|month|year|ago|next|last|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
)
_NOT = re.compile(r"(?i)\b(?:not|never|no|nor|none|without|avoid|stop|cannot|dont|instead|rather)\b|n['’]t\b")
_FORBIDS = re.compile(r"(?i)\b(?:never|do not|don['’]?t|must not|stop|avoid)\b")
_FILLER = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "of", "to", "in", "on", "at", "for", "with", "as"),
        *("by", "from", "into", "and", "or", "but", "so", "if", "when", "while", "which", "who", "it", "its"),
        *("is", "are", "was", "were", "be", "been", "being", "am", "has", "have", "had", "do", "does", "did"),
        *("will", "would", "can", "could", "should", "must", "may", "i", "me", "my", "mine", "we", "us", "our"),
        *("you", "your", "he", "she", "they", "them", "their", "there", "here", "user", "users", "want", "wants"),
        *("wanted", "prefer", "prefers", "preferred", "like", "likes", "about", "happen", "happens", "please"),
        *("also", "just", "very", "really", "not", "never", "no", "nor", "without", "avoid", "instead", "rather"),
        *("than", "don't"),
    )
)
"""Words that carry nothing by themselves; a "not" is looked at by itself."""


class Words(msgspec.Struct, frozen=True):
    """What somebody said, taken apart once."""

    one: Utterance
    exact: frozenset[str]
    stems: frozenset[str]

    @classmethod
    def of(cls, one: Utterance) -> "Words":
        found = tokens(one.text)
        return cls(one, frozenset(found), frozenset(map(stem, found)))


def whose(text: str, heard: Iterable[Utterance], named: int = 0) -> Utterance | None:
    """What a text is made of: the user's words only if they cover each sentence of it, with its numbers and names as
    they are, and nobody covers it better; else what was read, if that covers it; else nothing. `named` is the event
    that is said to hold it."""
    users, read = [], []
    for one in heard:
        if one.who == "user":
            users.append(Words.of(one))
        elif one.who != "model":
            read.append(one)
    parts = [part for part in _SENTENCE.split(text) if content(part)]
    source = next((words for words in users if words.one.event == named), None) or _best(text, users)
    if source and parts and all(_said_by_user(part, users, read) for part in parts):
        return source.one
    mine = content(text)
    shares = [(len(mine & _stems_in(mine, one.text)) / len(mine), one) for one in read] if mine else []
    best = max(shares, key=lambda pair: (pair[0], pair[1].event), default=None)
    return best[1] if best and best[0] >= _READ else None


def origin(text: str, events: Sequence[Event], *, session: str = "") -> Provenance:
    """Where a text comes from that a model wants to remember by itself."""
    found = whose(text, said(events))
    if found is None:
        return Provenance(who="model", session=session, event=events[-1].id if events else 0)
    return Provenance(who=found.who, session=session, event=found.event)


def _said_by_user(part: str, users: Sequence[Words], read: Sequence[Utterance]) -> bool:
    """Whether one message of the user covers a sentence: else it may be put together from what they said about other
    things."""
    mine = content(part)
    best = max(users, key=lambda words: len(mine & words.stems))
    if not all(token in best.exact or _is_dated(token, users) for token in _exact(part)):
        return False
    covered = len(mine & best.stems) / len(mine)
    if covered < _COVERED or turned_round(part, (words.one.text for words in users)):
        return False
    return _same_sense(part, users) and not _read_better(mine, mine - best.stems, covered, read)


def _same_sense(part: str, users: Sequence[Words]) -> bool:
    """Not what the user forbade as something to do, nor the other way round."""
    mine = content(part)
    sentences = [said for words in users for said in _SENTENCE.split(words.one.text)]
    nearest = max(sentences, key=lambda said: len(mine & content(said)), default="")
    if _NOT.search(part):
        return bool(_NOT.search(nearest)) or any(
            _NOT.search(said) and len(mine & content(said)) * 2 >= len(mine) for said in sentences
        )
    return not any(forbidden <= mine for forbidden in map(_forbidden, sentences) if forbidden)


def _forbidden(sentence: str) -> set[str]:
    """What stands right after a "never": its first two words that matter."""
    match = _FORBIDS.search(sentence)
    after = [token for token in tokens(sentence[match.end() :]) if token not in _FILLER | {"ever"}] if match else []
    return set(map(stem, after[:2]))


def _read_better(mine: set[str], missing: set[str], covered: float, read: Iterable[Utterance]) -> bool:
    """Whether a tool or page says what the user did not, together with some of the rest, or all of it better."""
    if not missing:
        return False
    for one in read:
        if not _stems_in(missing, one.text):
            continue
        if len(_stems_in(mine, one.text)) / len(mine) > covered:
            return True
        if any(_stems_in(missing, line) and len(_stems_in(mine, line)) > 2 for line in one.text.splitlines()):
            return True
    return False


def _best(text: str, users: Sequence[Words]) -> Words | None:
    mine = content(text)
    return max(users, key=lambda words: (len(mine & words.stems), words.one.event), default=None)


def _is_dated(token: str, users: Sequence[Words]) -> bool:
    """A date in the place of "tomorrow"."""
    return bool(_DATE.match(token)) and any(_RELATIVE.search(words.one.text) for words in users)


def _stems_in(mine: set[str], text: str) -> set[str]:
    """Which of these stand in a text. A look for each as it is comes first: most texts are long and have none."""
    folded = text.casefold()
    near = {stem for stem in mine if stem in folded}
    return near & set(map(stem, tokens(text))) if near else near


def content(text: str) -> set[str]:
    """The words that carry it, without their endings."""
    return {stem(token) for token in tokens(text) if token not in _FILLER}


def _exact(text: str) -> set[str]:
    quoted = {token for code in _CODE.findall(text) for token in tokens(code)}
    return quoted | {token for token in tokens(text) if _EXACT.search(token)}
