"""What a session needs again: names that a tool call spells and that were last seen far back.

Written without a look at the engine, so that the bench can see what the engine does not: a quoted string is a name
too, and the evidence of a name is the last line that held it, in a result or in the input of an earlier call.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bench.context.sessions import Session, wire_text

FAR = 10_000 * 3.2
"""Characters: more than ten thousand tokens back."""
LONG, AROUND = 240, 40
"""Characters of a line; of a longer one, so many on either side of the name count."""
_WORD = re.compile(r"[\w./-]{5,}")
_SPECIAL = re.compile(r"(?<=.)[A-Z0-9_./]")
_QUOTED = re.compile(r"\"([^\"\n]{5,80})\"|'([^'\n]{5,80})'|`([^`\n]{5,80})`")


@dataclass(frozen=True, slots=True)
class Reference:
    """One name used at `turn`, last seen at `message`, and the line that it last stood in."""

    turn: int
    name: str
    message: int
    evidence: str


@dataclass(frozen=True, slots=True)
class _Text:
    """All that was said and done up to a point, and where each message begins in it."""

    text: str
    starts: list[int]


def find_references(session: Session) -> list[Reference]:
    """All far references of a session, in order."""
    everything = _joined(session.texts)
    work = _joined(["\n".join(_work(message)) for message in session.messages])
    found = []
    for turn, message in enumerate(session.messages):
        if message["role"] != "assistant":
            continue
        here = everything.starts[turn]
        for name in dict.fromkeys(_names("\n".join(_inputs(message)))):
            at = _last(everything.text, name, here)
            if at < 0 or here - at <= FAR:
                continue
            where = next(i for i in range(turn, -1, -1) if everything.starts[i] <= at)
            in_work = _last(work.text, name, work.starts[turn])
            line = _line(work.text, in_work, name) if in_work >= 0 else _line(everything.text, at, name)
            found.append(Reference(turn, name, where, line))
    return found


def _joined(texts: list[str]) -> _Text:
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text) + 1)
    return _Text("\n".join(texts), starts)


def _inputs(message: dict[str, object]) -> Iterator[str]:
    """What the calls of a message say."""
    for block in message["content"]:  # type: ignore[attr-defined]
        if block["type"] == "tool_use":
            yield wire_text({**block, "name": ""})


def _work(message: dict[str, object]) -> Iterator[str]:
    """Inputs and results of calls."""
    yield from _inputs(message)
    for block in message["content"]:  # type: ignore[attr-defined]
        if block["type"] == "tool_result":
            yield wire_text(block)


def _names(text: str) -> Iterator[str]:
    """Words with something special inside, and quoted strings."""
    for word in _WORD.findall(text):
        name = word.strip("./-")
        if len(name) >= 5 and _SPECIAL.search(name):
            yield name
    for groups in _QUOTED.findall(text):
        quoted = next(filter(None, groups))
        if quoted.strip() == quoted and any(map(str.isalpha, quoted)):
            yield quoted


def _last(text: str, name: str, end: int) -> int:
    """Where a name occurs last before `end`, not as a part of a longer word; -1 if it does not."""
    at = text.rfind(name, 0, end)
    while at >= 0 and (_joins(text[at - 1 : at + 1]) or _joins(text[at + len(name) - 1 : at + len(name) + 1])):
        at = text.rfind(name, 0, at + len(name) - 1)
    return at


def _joins(pair: str) -> bool:
    """Whether two characters belong to one word."""
    return len(pair) == 2 and all(char.isalnum() or char == "_" for char in pair)


def _line(text: str, at: int, name: str) -> str:
    """The line around a name, or what of it is near."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    if end - start > LONG:
        start, end = max(start, at - AROUND), min(end, at + len(name) + AROUND)
    return text[start:end].strip()
