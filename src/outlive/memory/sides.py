"""Whether a text says of things what is said of them, or turns it round: what stands on which side of a "not", a
"before", a "than".
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from outlive.memory.order import BREAK, DENIES, HELPS, INSTEAD, contrasts, spelled_out
from outlive.memory.tokens import AROUND, BULLETS, folded, stem

_SMALL = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "of", "to", "in", "on", "at", "for", "with", "as"),
        *("and", "is", "are", "be", "been", "it", "its", "i", "me", "my", "we", "our", "user"),
        *("users", "please", "also", "just", "very", "really"),
    )
)
_WHERE = frozenset(("in", "on", "at", "for", "with", "during", "inside", "within", "under"))
_DENY = frozenset((*DENIES, "no", "nor", "neither", "none", "without", "avoid", "avoids", "stop", "stops", "except"))
"""What follows such a word is what is not so, or not wanted."""
_RANKS = {"before": "before", "after": "before", "over": "than", "than": "than", "to": "to", "into": "to"}
"""Words that put one thing before another, or lead from one to another, and what they have in common."""
_LIGHT = frozenset(
    (
        *("use", "uses", "used", "using", "want", "wants", "prefer", "prefers", "like", "likes", "ever", "or", "by"),
        *("there", "their", "your", "us", "them", "from", "so", "then", "if", "when", "which", "who", "but"),
    )
)
"""Words that stand on either side, besides the small ones."""
_SENTENCE = re.compile(r"[.!?]+(?=\s|$)|\n+|;\s")


class Rank(NamedTuple):
    """Two things in an order: what comes first or is more, and what comes after it or is less."""

    kind: str
    first: frozenset[str]
    then: frozenset[str]


class Sides(NamedTuple):
    """What a sentence says of which words, without their endings: that it is so, or not; or one cannot tell."""

    affirmed: frozenset[str]
    denied: frozenset[str]
    about: frozenset[str]
    """Of what it is said that it does not: "comments are not added"."""
    either: frozenset[str]
    ranks: tuple[Rank, ...]


def turned_round(text: str, known: Iterable[str]) -> str:
    """Why a text says the opposite of what is known, though with the same words: one stands on the other side of a
    "not", a "before", a "than". Or nothing."""
    theirs = [sides(part) for one in known for part in _SENTENCE.split(one) if part.strip()]
    for part in _SENTENCE.split(text):
        mine = sides(part)
        if what := _denied_otherwise(mine, theirs) or _ranked_otherwise(mine, theirs):
            return what
    return ""


def sides(sentence: str) -> Sides:
    """What stands on which side."""
    return _sides(tuple(_marked(sentence)))


@lru_cache(maxsize=1 << 12)
def _sides(words: tuple[str, ...]) -> Sides:
    found: dict[str, set[str]] = {"so": set(), "not": set(), "about": set(), "either": set()}
    side, fresh = "so", False
    clause: set[str] = set()
    for number, word in enumerate(words):
        if word == BREAK or word == "but":
            found["so"] |= clause
            side, clause = "so", set()
        elif word in _DENY:
            verb = word in ("not", "never") and number and words[number - 1] in HELPS
            found["about" if verb else "so"] |= clause
            side, fresh, clause = "not", True, set()
        elif side != "so" and not fresh and (word in _WHERE or word == "and"):
            side = "either"
        elif _counts(word):
            (clause if side == "so" else found[side]).add(stem(word))
            if fresh and words[0] == INSTEAD and number < 4:
                side = "either"  # "instead of npm use yarn": where it ends is not said
            fresh = False
    found["so"] |= clause
    so, denied, about, either = map(frozenset, found.values())
    return Sides(so, denied, about, either, tuple(_ranks(words)))


def _marked(sentence: str) -> Iterator[str]:
    """Its words, whatever their case, and breaks between them."""
    before, raws = "", spelled_out(folded(sentence)).split()
    for raw, after in zip_longest(raws, raws[1:], fillvalue=""):
        text = raw.strip(AROUND).rstrip(".").strip(AROUND)
        if text in BULLETS:
            yield BREAK
            continue
        if raw[0] in "([{":
            yield BREAK
        text = INSTEAD if text == "not" and contrasts(before, after) else text
        yield text
        before = text
        if raw[-1] in ",;:)]}…":
            yield BREAK


def _denied_otherwise(mine: Sides, theirs: Sequence[Sides]) -> str:
    denies = mine.denied or mine.about  # "yarn must not be used" denies the yarn
    if not denies:
        return ""
    subjects = [one.about for one in theirs if one.about and one.denied & mine.denied]
    if mine.about and subjects and not any(mine.about & subject for subject in subjects):
        return f"it says of {min(mine.about)[:60]!r} what is not so of something else"
    unclear = frozenset().union(*(one.either | one.about for one in theirs))
    so = unclear.union(*(one.affirmed for one in theirs))
    denied = unclear.union(*(one.denied for one in theirs))
    if wrong := sorted(denies & so - denied):
        return f"it denies {wrong[0][:60]!r}"
    if wrong := sorted(mine.affirmed & denied - so):
        return f"it does not deny {wrong[0][:60]!r}"
    crossed = straight = False
    for one in theirs:
        turned = mine.affirmed & one.denied - one.affirmed and denies & one.affirmed - one.denied
        crossed = crossed or bool(turned)
        straight = straight or bool(not turned and mine.affirmed & one.affirmed and denies & one.denied)
    return "what is so and what is not have changed places" if crossed and not straight else ""


def _ranked_otherwise(mine: Sides, theirs: Sequence[Sides]) -> str:
    for rank in mine.ranks:
        others = [other for one in theirs for other in one.ranks if other.kind == rank.kind]
        turned = [o for o in others if rank.first & o.then - o.first and rank.then & o.first - o.then]
        straight = any(rank.first & o.first and rank.then & o.then for o in others if o not in turned)
        if turned and not straight:
            return f"what stands on which side of {rank.kind!r} has changed places"
    return ""


def _ranks(words: Sequence[str]) -> Iterator[Rank]:
    for number, word in enumerate(words):
        kind = _RANKS.get(word)
        if not kind:
            continue
        before, after = _side(reversed(words[:number])), _side(words[number + 1 :])
        if not before:  # "before merging, run the tests"
            rest = words[number + 1 :]
            end = next((i for i, one in enumerate(rest) if one == BREAK), None)
            if end is None:
                end = next((i + 1 for i, one in enumerate(rest) if _counts(one)), len(rest))
            after, before = _side(rest[:end]), _side(rest[end:])
        pair = (after, before) if word == "after" else (before, after)
        if all(pair):
            yield Rank(kind, *pair)


def _side(words: Iterable[str]) -> frozenset[str]:
    """The words up to where the sentence turns to something else."""
    found: set[str] = set()
    for word in words:
        if word in _RANKS or word == "from" or (found and (word == BREAK or word in _WHERE)):
            break
        if _counts(word):
            found.add(stem(word))
    return frozenset(found)


def _counts(word: str) -> bool:
    return not (word == BREAK or word in _SMALL or word in HELPS or word in _LIGHT | _DENY)
