"""The path patterns of rules: `*` and `?` stay in a folder, `**` does not, and nothing else is special.

All places in the pattern at once, character by character: rules of a stranger's file count too where they deny, and
no pattern may take longer than its length times that of the path.
"""

import re
from collections.abc import Iterable

_PARTS = re.compile(r"(\*\*/|\*\*|\*|\?)")
_OPTIONAL = ("**/", "**", "*")
Place = tuple[int, bool]
"""A place in the pattern, and whether it is inside of `**/`, which ends with a slash or never began."""


def matches(pattern: str, path: str) -> bool:
    """Whether the pattern describes the whole path."""
    atoms = [atom for part in _PARTS.split(pattern) for atom in ([part] if _PARTS.fullmatch(part) else part)]
    here = _reached(atoms, [(0, False)])
    for letter in path:
        if not here:
            return False
        here = _reached(atoms, [place for at in here for place in _after(atoms, at, letter)])
    return (len(atoms), False) in here


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


def _reached(atoms: list[str], places: Iterable[Place]) -> set[Place]:
    """These places, and those behind what may stand for nothing."""
    found: set[Place] = set()
    for at, inside in places:
        while (at, inside) not in found:
            found.add((at, inside))
            if inside or at == len(atoms) or atoms[at] not in _OPTIONAL:
                break
            at += 1
    return found
