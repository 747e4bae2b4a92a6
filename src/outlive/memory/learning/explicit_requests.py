"""Finds what to remember in the user's words by rules: explicit requests and standing corrections. Pure."""

import re
from collections.abc import Sequence

import msgspec

from outlive.instructions import is_standing, standing
from outlive.sentences import sentence_end, sentences
from outlive.stores.memories.records import Kind, Scope

MAX_CORRECTION_CHARS = 600
"""Longest correction that is offered. What the user asked to remember may be longer."""
_MIN_CHARS = 8  # shorter sentences ("OK, do so") say nothing worth keeping
_ITEM = re.compile(r"[ \t]*(?:[-*+•–]|\(?\d{1,3}[.)]|[a-z][.)])[ \t]+\S")
_REMEMBER = re.compile(
    r"(?i)^\W*(?:(?:ok(?:ay)?|and|also|but|so|please|yes|no|hey)[,\s]+)*"
    r"(?P<polite>(?:can|could|would|will) you\s+|I(?:['’]d like| want| need) you to\s+|you should\s+)?(?:please\s+)?"
    r"(?:/remember\s+|(?:note|make a note)(?:\s+(?:that|of)\b|:)\s*|"
    r"(?:remember|keep in mind|don['’]?t forget|bear in mind)\b"
    r"(?:\s+for (?:the future|next time|later))?[\s,:]*(?:that\b[\s,:]*|this\s*(?:[,:]\s*|$))?)(?P<what>\S.*)?$",
    re.DOTALL,
)
FENCE = re.compile(r"(?m)^[ \t]*(```|~~~)")
_OPENS = re.compile(
    r"(?i)^(?:(?:the|these|those|all)\s+(?:of\s+)?)?"
    r"(?:this|that|these|those|following|facts|things|points|rules|notes)?\s*"
    r"(?:following|facts|things|points|rules|notes)?\s*:$"
)
"""Phrases that only announce what follows."""
_ASKS = re.compile(r"(?i)^(?:what|when|where|who|why|how|which|if|whether)\b")
_CORRECTS = re.compile(
    r"(?i)^(?:no[,.]?\s+)?(?:(?:that|this|it)(?:['’]s| is) (?:wrong|not right|incorrect|not how)\b.*[,;:—-]\s*\S"
    r"|actually[,\s]+(?:we|it|the|our|I|they|this|use)\b)"
)
"""Corrections of facts."""
_ABOUT_USER = re.compile(
    r"(?i)\b(?:I am|I['’]m) (?:a|an|the|from|based|new to|not (?:a|an))\b"
    r"|\bmy (?:name|role|job|team|timezone|pronouns)\b|\bcall me\b|\bI (?:work|live)\b"
)
_TASTE = re.compile(
    r"(?i)^(?:that )?I(?:['’]d)? (?:(?:always|really|generally|usually) )?(?:prefer|like|love|hate|dislike)\b"
)
_HERE = re.compile(r"(?i)\b(?:here|this (?:repo\w*|project|code\w*|package|folder|branch|file|module|service|app))\b")


class Statement(msgspec.Struct, frozen=True):
    """Something the user said that is worth remembering, as it would be stored."""

    body: str
    kind: Kind
    scope: Scope
    asked: bool
    """The user asked to remember it."""


def statements(text: str) -> list[Statement]:
    """The statements in one message of the user."""
    found, rest = [], text
    while rest:
        end = sentence_end(rest)
        sentence, after = rest[:end], rest[end:]
        asked = _REMEMBER.match(sentence.strip())
        if asked and (opened := _opened(asked["what"] or "", sentence, after)):
            body, after = opened
            found.append(_statement(body, asked=True))
        elif sentence.strip():
            found += filter(None, [_of_sentence(sentence.strip(), asked)])
        rest = after
    return found


def kind_and_scope(body: str, *, asked: bool) -> tuple[Kind, Scope]:
    """Type and scope of a statement. Facts about the user and preferences apply to all projects, unless the user
    speaks of this one."""
    kind: Kind = "project"
    if _ABOUT_USER.search(body):
        kind = "user"
    elif not asked or standing(body):
        kind = "feedback"
    personal = (kind == "user" or _TASTE.match(body)) and not _HERE.search(body)
    return kind, "user" if personal else "project"


def asks_to_remember(text: str) -> bool:
    """Whether a message begins with a request to remember something."""
    return bool(_REMEMBER.match(text[:200]))


def _of_sentence(sentence: str, asked: re.Match[str] | None) -> Statement | None:
    question = sentence.endswith("?")
    if len(sentence) < _MIN_CHARS or (question and not (asked and asked["polite"])):
        return None
    if not asked:
        kept = len(sentence) <= MAX_CORRECTION_CHARS and (is_standing(sentence) or _CORRECTS.match(sentence))
        return _statement(sentence, asked=False) if kept else None
    body = (asked["what"] or "").strip()
    body = body.rstrip("? ") if question else body
    if (len(body.split()) < 2 and len(body) < _MIN_CHARS) or (_ASKS.match(body) and (question or "," not in body)):
        return None
    if _OPENS.match(body):
        return None
    errand = body.lower().startswith("to ")
    if errand and not is_standing(body.partition(" ")[2]):
        return None  # "don't forget to push" is about now
    return _statement(body, asked=not errand)


def _statement(body: str, *, asked: bool) -> Statement:
    body = body[0].upper() + body[1:]
    kind, scope = kind_and_scope(body, asked=asked)
    return Statement(body, kind, scope, asked)


def asks_for_what_follows(text: str) -> bool:
    """Whether a text ends with a request to remember what follows: "… remember this command:"."""
    last = (sentences(text) or [""])[-1]
    asked = _REMEMBER.match(last)
    return bool(asked and _goes_on(asked["what"] or "", last))


def _goes_on(what: str, sentence: str) -> bool:
    return sentence.endswith(":") or not (sentence.endswith((".", "!", "?")) or what.lower().startswith("to "))


def _opened(what: str, sentence: str, after: str) -> tuple[str, str] | None:
    """What follows a "remember this:" (the list, the code, or the rest of the paragraph), and the text after it."""
    before = sentence.strip()
    lines = after.split("\n")
    code = _code(lines) if sentence.endswith("\n") and _goes_on(what, before) else 0
    if not code:
        this = re.search(r"(?i)\bthis\s*:\s*\S", before)
        if not (before.endswith(":") and sentence.endswith("\n")) and not this:
            return None
    count = code or _paragraph(lines)
    block = "\n".join(line.rstrip() for line in lines[:count]).strip("\n")
    head = "" if not what or what == ":" or _OPENS.match(what.strip()) else what.strip()
    gap = "\n" if sentence.endswith("\n") else " "
    body = f"{head}{gap}{block.lstrip()}".strip() if head and block else head or block.strip()
    return (body, "\n".join(lines[count:])) if body else None


def _paragraph(lines: Sequence[str]) -> int:
    """Number of lines of a paragraph, or of a list with gaps."""
    count = 0
    while count < len(lines) and (lines[count].strip() or (not count and len(lines) > 1)):
        count += 1
    while count + 1 < len(lines) and not lines[count].strip() and _ITEM.match(lines[count + 1]):
        count += 2
    return count


def _code(lines: Sequence[str]) -> int:
    """Number of lines of a fence at the start; 0 if there is none."""
    start = next((number for number, line in enumerate(lines[:2]) if line.strip()), 0)
    opens = FENCE.match(lines[start])
    if not opens:
        return 0
    ends = (number for number in range(start + 1, len(lines)) if lines[number].strip() == opens[1])
    return next(ends, len(lines) - 1) + 1
