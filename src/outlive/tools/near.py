"""Why a text was not found in a file: the places that come closest, and what differs there."""

import heapq
import io
import re
from difflib import SequenceMatcher

from outlive.secrets import KeyLines, mask
from outlive.tools.diff import printable

LINES = 20_000
"""Lines of a file that are compared; more would take longer than it is worth."""
COMPARED = 300
"""Characters of a line that are compared."""
PLACES = 3
SHOWN = 12
CLOSE = 0.6
_NUMBERED = re.compile(r"^\s*\d+\t", re.MULTILINE)


def why_not_found(text: str, wanted: str, replacement: str) -> str:
    """What to tell a model whose `wanted` is not in `text`."""
    lines, searched = text.split("\n"), wanted.split("\n")
    if _all_numbered(wanted) and _NUMBERED.sub("", wanted) in text:
        return "the line numbers and tabs of read_file are not part of the file; leave them out of old_text"
    if places := _blank_differences(lines, searched):
        return (
            f"only whitespace differs at {_listed(places, len(searched))} (spaces, tabs, line ends); "
            f"the file has there:\n{_shown(lines, places[0], len(searched))}"
        )
    if len(replacement) > 8 and replacement in text:
        number = text.count("\n", 0, text.index(replacement)) + 1
        return f"new_text is in the file already, at line {number}: perhaps the change was made before"
    if near := _near(lines, searched):
        blocks = [
            f"line {at + 1}, {round(score * 100)}% alike:\n{_shown(lines, at, len(searched))}" for score, at in near
        ]
        return "the nearest places are\n" + "\n".join(blocks)
    return "nothing in the file comes near; read_file it again"


def _all_numbered(wanted: str) -> bool:
    return all(_NUMBERED.match(line) for line in wanted.split("\n") if line.strip())


def _blank_differences(lines: list[str], searched: list[str]) -> list[int]:
    """Where the same words stand with other spaces between and around them."""
    target = [_words(line) for line in searched]
    if not any(target):
        return []
    have = [_words(line) for line in lines]
    last = len(have) - len(target)
    return [at for at in range(last + 1) if have[at] == target[0] and have[at : at + len(target)] == target][:PLACES]


def _words(line: str) -> str:
    return "".join(line.split())


def _near(lines: list[str], searched: list[str]) -> list[tuple[float, int]]:
    """Places by how alike they are, best first, found by the longest line that is searched for."""
    anchor = max(range(len(searched)), key=lambda at: len(searched[at].strip()))
    if not searched[anchor].strip():
        return []
    matcher = SequenceMatcher(None, "", searched[anchor].strip()[:COMPARED], autojunk=False)
    best: list[tuple[float, int]] = []
    enough = CLOSE
    for at, line in enumerate(lines[:LINES]):
        matcher.set_seq1(line.strip()[:COMPARED])
        # The first two are upper bounds, and cheap: only what may be among the best is compared in full.
        if matcher.real_quick_ratio() > enough and matcher.quick_ratio() > enough and matcher.ratio() > enough:
            best = heapq.nlargest(4 * PLACES, [*best, (matcher.ratio(), max(0, at - anchor))])
            enough = best[-1][0] if len(best) == 4 * PLACES else CLOSE
    whole = "\n".join(searched)[: 20 * COMPARED]
    again = []
    for _, at in best:
        there = "\n".join(lines[at : at + len(searched)])[: 20 * COMPARED]
        again.append((SequenceMatcher(None, there, whole, autojunk=False).ratio(), at))
    return sorted(set(again), key=lambda found: (-found[0], found[1]))[:PLACES]


def _listed(places: list[int], length: int) -> str:
    spans = [f"{at + 1}" if length == 1 else f"{at + 1}-{at + length}" for at in places]
    return f"line{'s' if length > 1 or len(places) > 1 else ''} {', '.join(spans)}"


def _shown(lines: list[str], at: int, length: int) -> str:
    """Lines of the file exactly as they are, numbered as read_file does."""
    keys = KeyLines(io.BytesIO("\n".join(lines).encode("utf-8", "replace")))
    of_keys = {n for n in range(min(length, SHOWN)) if at + n + 1 in keys}
    found = mask.lines(lines[at : at + min(length, SHOWN)], of_keys, longest=COMPARED)
    rows = [f"{at + n + 1:>5}\t{line}" for n, line in enumerate(found)]
    return printable("\n".join(rows).replace("\r", "␍")) + ("\n  …" if length > SHOWN else "")
