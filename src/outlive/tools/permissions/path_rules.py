"""The path patterns of rules: `*` and `?` do not match `/`, `**` does, and nothing else is special.

Deny rules of an untrusted file count too, so a match must never be exponential: the pattern is an NFA whose states
advance together, in at most pattern length times path length. Steps are cached: most letters take one lookup.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

_PARTS = re.compile(r"(\*\*/|\*\*|\*|\?)")
_OPTIONAL = ("**/", "**", "*")
_MOST_PLACES = 20_000
"""Places in the cached steps of one pattern before the cache is cleared."""
Place = tuple[int, bool]
"""A place in the pattern, and whether it is inside `**/`, which must end with a slash."""
Places = frozenset[Place]


def matches(pattern: str, path: str) -> bool:
    """Whether the pattern matches the whole path."""
    return _glob(pattern).matches(path)


class _Glob:
    """A pattern and its cached steps."""

    def __init__(self, pattern: str) -> None:
        self._atoms = [
            atom for part in _PARTS.split(pattern) for atom in ([part] if _PARTS.fullmatch(part) else part)
        ]
        self._start = _reached(self._atoms, [(0, False)])
        self._letters = {*pattern, "/"}
        self._steps: dict[tuple[Places, str], Places] = {}
        self._held = 0

    def matches(self, path: str) -> bool:
        here = self._start
        for letter in path:
            if not here:
                return False
            key = here, letter if letter in self._letters else ""
            step = self._steps.get(key)
            here = self._step(key) if step is None else step
        return (len(self._atoms), False) in here

    def _step(self, key: tuple[Places, str]) -> Places:
        here, letter = key
        if self._held > _MOST_PLACES:
            self._steps.clear()
            self._held = 0
        found = _reached(self._atoms, [place for at in here for place in _after(self._atoms, at, letter)])
        self._steps[key] = found
        self._held += 1 + len(found)
        return found


_glob = lru_cache(200)(_Glob)


def _after(atoms: list[str], place: Place, letter: str) -> list[Place]:
    at, _ = place
    if at == len(atoms):
        return []
    match atoms[at]:
        case "**/":
            return [(at, True), (at + 1, False)] if letter == "/" else [(at, True)]
        case "**":
            return [place]
        case "*":
            return [place] if letter != "/" else []
        case "?":
            return [(at + 1, False)] if letter != "/" else []
        case atom:
            return [(at + 1, False)] if letter == atom else []


def _reached(atoms: list[str], places: Iterable[Place]) -> Places:
    """These places, and those reached by wildcards that match nothing."""
    found: set[Place] = set()
    for at, inside in places:
        while (at, inside) not in found:
            found.add((at, inside))
            if inside or at == len(atoms) or atoms[at] not in _OPTIONAL:
                break
            at += 1
    return frozenset(found)
