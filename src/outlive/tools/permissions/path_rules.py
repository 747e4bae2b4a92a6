"""The path patterns of rules: `*` and `?` do not match `/`, `**` does, and nothing else is special.

Deny rules of an untrusted file count too, so the automaton of ignore.py matches them in linear time.
"""

import re
from functools import lru_cache

from outlive.tools.files.ignore import Automaton, Element, Layout

_WILDCARD = re.compile(r"(\*\*/|\*\*|\*|\?)")


def matches(pattern: str, path: str) -> bool:
    """Whether the pattern matches the whole path."""
    glob = _glob(pattern)
    return glob.verdict(glob.advance(glob.start, map(ord, path)), folder=False) is not None


@lru_cache(200)
def _glob(pattern: str) -> Automaton:
    elements: list[Element] = []
    for part in _WILDCARD.split(pattern):
        last = elements[-1:]
        if not _WILDCARD.fullmatch(part):
            elements += [frozenset((ord(letter),)) for letter in part]
        elif part == "?" or not (last == ["**"] or last == [part] == ["**/"]):  # those add nothing
            elements.append(part)
    layout = Layout()
    layout.add(elements, layout.starts_at_root)
    return Automaton(layout)
