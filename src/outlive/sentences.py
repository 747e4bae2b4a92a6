"""Cuts a text into sentences."""

import re

_STOP = re.compile(r"[.!?]+[\"')\]*_]*(?=\s|$)|[。！？]|\n")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|ca|approx|resp|incl|dr|mrs?|ms|prof|st|sr|jr|inc|ltd|co)|(?<![\w.])[a-z])\.$",
    re.IGNORECASE,
)


def sentence_end(text: str, start: int = 0, *, lines: bool = True) -> int:
    """Where the sentence that begins at `start` ends. With `lines`, the end of a line ends it as well."""
    for stop in _STOP.finditer(text, start):
        if stop[0] == "\n":
            if lines:
                return stop.end()
        elif not _ABBREVIATION.search(text[max(start, stop.end() - 12) : stop.end()]):
            return stop.end()
    return len(text)


def sentences(text: str, *, lines: bool = True) -> list[str]:
    """The sentences of a text, without the white space around them."""
    found, start = [], 0
    while start < len(text):
        end = sentence_end(text, start, lines=lines)
        found.append(text[start:end].strip())
        start = end
    return [sentence for sentence in found if sentence]
