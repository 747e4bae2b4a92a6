"""Why a text was not found in a file: the most similar places, and what differs there.

All of it is linear: lines are compared by shared trigrams, in the first `MAX_COMPARED_CHARS` characters of a file.
"""

import heapq
import io
import re
from collections import Counter
from itertools import islice

from outlive.printable import encodable
from outlive.secrets import KeyLines, mask

MAX_COMPARED_CHARS = 2**20
"""Characters of a file that are compared."""
MAX_LINE_CHARS = 300
"""Characters of a line that are compared and shown."""
MAX_CANDIDATES = 12
"""Places that are compared completely."""
MAX_PLACES_SHOWN = 3  # in an error: a model needs the right one, and pays for the others
MAX_LINES_SHOWN = 12  # of each place
MIN_SIMILARITY = 0.5  # of a line, or its place is not even compared
_NUMBERED = re.compile(r"^[ ]{0,12}\d{1,9}\t", re.MULTILINE)
Grams = Counter[str]


def why_not_found(text: str, wanted: str, replacement: str) -> str:
    """The message for a model whose `wanted` is not in `text`."""
    numbered = all(_NUMBERED.match(line) for line in wanted.split("\n") if line.strip())
    if numbered and _NUMBERED.sub("", wanted) in text:
        return "the line numbers and tabs of read_file are not part of the file; leave them out of old_text"
    searched = wanted.split("\n")
    if places := _whitespace_differs(text, wanted):
        return (
            f"only whitespace differs at {_listed(places, len(searched))} (spaces, tabs, line ends); "
            f"the file has there:\n{_shown(text.split(chr(10)), places[0], len(searched))}"
        )
    if len(replacement) > 8 and replacement in text:
        number = text.count("\n", 0, text.index(replacement)) + 1
        return f"new_text is in the file already, at line {number}: perhaps the change was made before"
    lines = text[:MAX_COMPARED_CHARS].split("\n")
    if closest := _closest(lines, searched):
        blocks = [
            f"line {at + 1}, {round(score * 100)}% alike:\n{_shown(lines, at, len(searched))}"
            for score, at in closest
        ]
        return "the nearest places are\n" + "\n".join(blocks)
    return "nothing in the file comes near; read_file it again"


def _whitespace_differs(text: str, wanted: str) -> list[int]:
    """The lines that differ from `wanted` only in white space."""
    target = _without_spaces(wanted)
    if not target.strip():
        return []
    have, target = f"\n{_without_spaces(text)}\n", f"\n{target}\n"
    places: list[int] = []
    at, line = have.find(target), 0
    counted = 0
    while at >= 0 and len(places) < MAX_PLACES_SHOWN:
        line += have.count("\n", counted, at)
        places.append(line)
        counted = at
        at = have.find(target, at + 1)
    return places


def _without_spaces(text: str) -> str:
    return "\n".join("".join(line.split()) for line in text.split("\n"))


def grams(text: str) -> Grams:
    """All trigrams with their counts."""
    text = f" {text.strip()} "
    return Counter(text[at : at + 3] for at in range(len(text) - 2))


def alike(one: Grams, other: Grams) -> float:
    """The share of trigrams that two texts have in common, from 0 to 1."""
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def _closest(lines: list[str], searched: list[str]) -> list[tuple[float, int]]:
    """Similarity and line of the best places. Candidates are chosen by the longest line of `searched`."""
    anchor = max(range(len(searched)), key=lambda at: len(searched[at].strip()))
    wanted = grams(searched[anchor][:MAX_LINE_CHARS])
    if not searched[anchor].strip():
        return []
    scored = ((_shared(line, wanted), -at) for at, line in enumerate(lines))
    best = heapq.nlargest(MAX_CANDIDATES, (found for found in scored if found[0] > MIN_SIMILARITY))
    whole = grams("\n".join(searched)[: MAX_LINE_CHARS * MAX_LINES_SHOWN])
    places: set[tuple[float, int]] = set()
    for _, below in best:
        at = max(0, -below - anchor)
        candidate = "\n".join(islice(lines, at, at + len(searched)))[: MAX_LINE_CHARS * MAX_LINES_SHOWN]
        places.add((alike(whole, grams(candidate)), at))
    return sorted(places, key=lambda found: (-found[0], found[1]))[:MAX_PLACES_SHOWN]


def _shared(line: str, wanted: Grams) -> float:
    """A cheap estimate of the share of common trigrams."""
    text = f" {line.strip()[:MAX_LINE_CHARS]} "
    hits = sum(text[at : at + 3] in wanted for at in range(len(text) - 2))
    return 2 * hits / (len(text) - 2 + wanted.total()) if hits else 0.0


def _listed(places: list[int], length: int) -> str:
    spans = [f"{at + 1}" if length == 1 else f"{at + 1}-{at + length}" for at in places]
    return f"line{'s' if length > 1 or len(places) > 1 else ''} {', '.join(spans)}"


def _shown(lines: list[str], at: int, length: int) -> str:
    """Lines of the file, numbered as in read_file."""
    keys = KeyLines(io.BytesIO("\n".join(lines).encode("utf-8", "replace")))
    of_keys = {n for n in range(min(length, MAX_LINES_SHOWN)) if at + n + 1 in keys}
    found = mask.lines(lines[at : at + min(length, MAX_LINES_SHOWN)], of_keys, longest=MAX_LINE_CHARS)
    rows = [f"{at + n + 1:>5}\t{line}" for n, line in enumerate(found)]
    return encodable("\n".join(rows).replace("\r", "␍")) + ("\n  …" if length > MAX_LINES_SHOWN else "")
