"""Standing instructions in what a user says: found by rule, quoted verbatim, missed rather than invented.

What harnesses put into the user's turn (reminders, notifications, hooks, piped text) stands in tags; `tagged` writes
such a block, `own_words` leaves it out.
"""

import re
from bisect import bisect_left
from collections import defaultdict

SHORTEST, LONGEST = 12, 300
WALL = 6_000
"""Characters: a pasted text this long is material, not instructions to this session."""
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?](?!\s|$)[^.!?\n]*)*(?:[.!?]+(?=\s|$)|\n|$)")
_STANDING = re.compile(
    r"(?:^|[,;:(]\s*|\b(?:please|and|but|or|should|must|to|you|will|we|also)\s+)(?:always|never)\b"
    r"|\b(?:from now on|in (?:the )?future|at all times|every time|whenever)\b"
    r"|\b(?:don['’]?t|do not)\s+(?:ever|use|add|write|touch|change|modify|edit|commit|push|run|create|delete|remove|"
    r"mock|skip|include|mention|rely|make|install|ask|do)\b"
    r"|\b(?:must(?: not)?|only (?:use|edit|change|touch|run|write)|prefer|make sure|be sure to|remember to|"
    r"use only|stick to|avoid)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\?\s*$")
_REPORT = re.compile(r"^\s*(?:[>|`<\[{#$]|\w+:\s*error|error|traceback|\d+[:.|])", re.IGNORECASE)
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
    if len(text) > WALL:
        return ()
    found: dict[str, None] = {}
    fenced = False
    for paragraph in text.split("\n"):
        if paragraph.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not _REPORT.match(paragraph):
            found.update(dict.fromkeys(_standing(paragraph)))
    return tuple(found)


def _standing(paragraph: str) -> list[str]:
    sentences = (match[0].strip() for match in _SENTENCE.finditer(paragraph))
    return [
        sentence
        for sentence in sentences
        if SHORTEST <= len(sentence) <= LONGEST and _STANDING.search(sentence) and not _QUESTION.search(sentence)
    ]
