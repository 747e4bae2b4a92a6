"""Standing instructions in what a user says: found by rule, quoted verbatim, missed rather than invented."""

import re

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
