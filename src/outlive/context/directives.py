"""Standing instructions in what a user says: found by rule, quoted verbatim, missed rather than invented.

What harnesses put into the user's turn (reminders, notifications, hooks, piped text) stands in tags; `tagged` writes
such a block, `own_words` leaves it out.
"""

import re
from bisect import bisect_left
from collections import defaultdict

from outlive.context.standing import is_standing

SHORTEST, LONGEST = 8, 300
WALL, DOCUMENT, HEADINGS = 4_000, 1_200, 3
"""Characters: a text this long was pasted and is material, a shorter one with so many headings as well."""
_HEADING = re.compile(r"^#{1,4} \S", re.MULTILINE)
_STOP = re.compile(r"(?:[.!?]+[\"')\]*_]*(?=\s|$)|[。！？])\s*")
_SHORT = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|no|dr|mr|mrs|st)|\b[a-z])\.$", re.IGNORECASE)
"""What ends with a full stop and ends no sentence."""
_ITEM = re.compile(r"\s*(?:[-*+•–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+(?:\[[ xX]\]\s+)?")
_REPORT = re.compile(
    r"\s*(?:[>|`<\[{$]|#(?!#*\s)|\w+:\s*error\b|(?:error|warning|traceback)\b|\d+[:|]|\S+:\d+:)|"
    r"(?: {4}|\t)\s*(?![-*+•\d(])",
    re.IGNORECASE,
)
_WRAPPED = re.compile(
    r"\s*(?:in|on|to|of|for|with|without|and|or|but|nor|when|whenever|unless|because|that|which|than|the|an?|any|before|"
    r"after|if|by|from|at|as|until|instead|into|is|are|it|not)\b"
)
"""How a line goes on with the sentence of the line before it."""
_ENDS = (".", "!", "?", ":", ";", "。", "！", "？")
_KINDS = r"(?:rules?|guidelines|conventions|preferences|(?:standing )?(?:instructions|orders)|standards|principles)"
_RULES = re.compile(
    r"\s*(?:#{1,6}\s*|\*\*)?(?:(?:some|my|our|the|a few|these|general|project|coding|code|repo(?:sitory)?|"
    r"team|commit|"
    rf"house|ground|standing|working|basic|important|global|here are|follow)\s+){{0,4}}{_KINDS}"
    r"(?:\s+(?:for|of|in|to|when)\s+(?:this|the|our|my|all|every|working)?\s*(?:on |in |with )?(?:this |the )?"
    r"(?:repo(?:sitory)?|project|codebase|session|you|follow|work|code|coding|commits|future|team)\b[^.!?]{0,40})?"
    r"\s*:?\**:?\s*|\s*(?:please )?(?:from now on|going forward|in (?:the )?future|always|never|"
    r"in (?:this|our) (?:repo|repository|project|codebase)|when working (?:on|in) (?:this|our) \w+)\s*:\s*",
    re.IGNORECASE,
)
_OPENING = re.compile(r"<([a-z][\w-]*)(?![\w-])[^<>]*>")
_CLOSING = re.compile(r"</([a-z][\w-]*)>")


def tagged(name: str, text: str) -> str:
    """A block for the user's turn that is not the user's words. Nothing in the text can end it: where the text has
    such an end, the tag has another name."""
    tag, number = name, 1
    while f"</{tag}" in text:
        number += 1
        tag = f"{name}-{number}"
    return f"<{tag}>{text}</{tag}>"


def own_words(text: str) -> str:
    """What the user said themselves: without blocks in tags, where they overlap without all of them.

    One look at the text, however it is made.
    """
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


def detect(text: str) -> tuple[str, ...]:
    """The sentences that tell how to work from now on, each exactly as it was written."""
    if len(text) > WALL or (len(text) > DOCUMENT and len(_HEADING.findall(text)) >= HEADINGS):
        return ()
    found: dict[str, None] = {}
    for words, ruled in _paragraphs(text):
        found.update(dict.fromkeys(s for s in _sentences(words) if _fits(s) and is_standing(s, ruled=ruled)))
    return tuple(found)


def _paragraphs(text: str) -> list[tuple[str, bool]]:
    """What the user says line by line, wrapped lines together, without the marks of lists; what is quoted, fenced or
    a report is not in it. With each: whether it is an item under a heading such as `Rules:`."""
    found: list[tuple[str, bool]] = []
    fenced = ruled = goes_on = False
    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced, goes_on = not fenced, False
        elif fenced or not line.strip():
            goes_on = False
        elif goes_on and _goes_on(found[-1][0], line):
            found[-1] = (f"{found[-1][0]}\n{line}", found[-1][1])
        elif _RULES.fullmatch(line):
            ruled, goes_on = True, False
        else:
            item = _ITEM.match(line)
            ruled = ruled and item is not None
            words = line[item.end() :] if item else line
            goes_on = not _REPORT.match(words)
            if goes_on:
                found.append((words, ruled))
    return found


def _goes_on(before: str, line: str) -> bool:
    """Whether a line is the rest of the sentence before it."""
    ended = before.rstrip().endswith(_ENDS)
    return not ended and _WRAPPED.match(line) is not None and not _REPORT.match(line.lstrip())


def _fits(sentence: str) -> bool:
    return SHORTEST <= len(sentence) <= LONGEST


def _sentences(paragraph: str) -> list[str]:
    """The sentences of a line, to the letter."""
    found, start = [], 0
    for stop in _STOP.finditer(paragraph):
        sentence = paragraph[start : stop.end()].strip()
        if not _SHORT.search(sentence):
            found.append(sentence)
            start = stop.end()
    return [*found, rest] if (rest := paragraph[start:].strip()) else found
