"""Splits a text into sentences, and separates the author's words from pasted text."""

import re
from bisect import bisect_left
from collections import defaultdict

_STOP = re.compile(r"[.!?]+[\"')\]*_]*(?=\s|$)|[。！？]|\n")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|ca|approx|resp|incl|dr|mrs?|ms|prof|st|sr|jr|inc|ltd|co)|(?<![\w.])[a-z])\.$",
    re.IGNORECASE,
)
_ITEM = re.compile(r"\s*(?:[-*+•–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+(?:\[[ xX]\]\s+)?")
_MATERIAL = re.compile(
    r"\s*(?:[>|`<\[{$]|#(?!#*\s)|\w+:\s*error\b|(?:error|warning|traceback)\b|\d+[:|]|\S+:\d+:)|"
    r"(?: {4}|\t)\s*(?![-*+•\d(])",
    re.IGNORECASE,
)
"""Beginnings of lines of quotes, tables, code, shells and logs."""
_GOES_ON = re.compile(
    r"\s*(?:in|on|to|of|for|with|without|and|or|but|when|unless|because|that|which|than|the|an?|any|before|after|if|"
    r"by|from|at|as|until|instead|into|not)\b"
)
"""Beginnings of lines that continue the sentence of the line before."""
_OPENING, _CLOSING = re.compile(r"<([A-Za-z][\w:-]*)(?![\w:-])[^<>]*>"), re.compile(r"</([A-Za-z][\w:-]*)>")


def sentence_end(text: str, start: int = 0, *, lines: bool = True) -> int:
    """The end of the sentence that begins at `start`. With `lines`, a line end ends it too."""
    for stop in _STOP.finditer(text, start):
        if stop[0] == "\n":
            if lines:
                return stop.end()
        elif not _ABBREVIATION.search(text[max(start, stop.end() - 12) : stop.end()]):
            return stop.end()
    return len(text)


def sentences(text: str, *, lines: bool = True) -> list[str]:
    """The sentences of a text, stripped."""
    found, start = [], 0
    while start < len(text):
        end = sentence_end(text, start, lines=lines)
        found.append(text[start:end].strip())
        start = end
    return [sentence for sentence in found if sentence]


def outside_tags(text: str) -> str:
    """The text without blocks in tags, which were pasted. Linear time."""
    ends: dict[str, list[int]] = defaultdict(list)
    for closing in _CLOSING.finditer(text):
        ends[closing[1]].append(closing.start())
    kept, done = [], 0
    for opening in _OPENING.finditer(text):
        places = ends.get(opening[1], ())
        at = bisect_left(places, opening.end())
        if at < len(places):
            kept.append(text[done : opening.start()])
            done = max(done, places[at] + len(opening[1]) + len("</>"))
    return "\n".join([*kept, text[done:]])


def own_lines(text: str) -> list[tuple[str, str]]:
    """The lines of a text without list marks, wrapped ones joined; without quotes, tables, code and logs. Each list
    item comes with the line above its list."""
    found: list[tuple[str, str]] = []
    heading, fenced, goes_on = "", False, False
    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced, goes_on = not fenced, False
        elif fenced or not line.strip():
            goes_on = False
        elif goes_on and _is_rest(line, found[-1][0]):
            found[-1] = (f"{found[-1][0]}\n{line}", found[-1][1])
        else:
            item = _ITEM.match(line)
            words = line[item.end() :] if item else line
            heading = heading if item else line.strip()
            goes_on = not _MATERIAL.match(words)
            if goes_on:
                found.append((words, heading if item else ""))
    return found


def _is_rest(line: str, before: str) -> bool:
    """Whether a line continues the sentence before it."""
    ended = before.rstrip().endswith(tuple(".!?:;。！？"))
    return not ended and _GOES_ON.match(line) is not None and not _MATERIAL.match(line.lstrip())
