"""What a session needs again: identifiers that a tool call spells and that were last seen far back."""

import re
from dataclasses import dataclass

from bench.context.sessions import Session, wire_text

FAR = 10_000 * 3.2
"""Characters: more than ten thousand tokens back."""
AROUND = 40
_TOKEN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./\-]{3,}[A-Za-z0-9_]")
_INNER = re.compile(r".[A-Z0-9_./]")


@dataclass(frozen=True, slots=True)
class Reference:
    """One identifier used at `turn`, last seen at `message`, with the characters around it there."""

    turn: int
    name: str
    message: int
    evidence: str


def find_references(session: Session) -> list[Reference]:
    """All far references of a session, in order."""
    text = "\n".join(session.texts)
    starts = [0]
    for part in session.texts:
        starts.append(starts[-1] + len(part) + 1)
    found = []
    for turn, message in enumerate(session.messages):
        if message["role"] != "assistant":
            continue
        names = dict.fromkeys(
            name
            for block in message["content"]
            if block["type"] == "tool_use"
            for name in _TOKEN.findall(wire_text({**block, "name": ""}))
            if _INNER.search(name)
        )
        for name in names:
            at = text.rfind(name, 0, starts[turn])
            if at < 0 or starts[turn] - at <= FAR:
                continue
            where = next(i for i in range(turn, -1, -1) if starts[i] <= at)
            found.append(Reference(turn, name, where, _around(text, at, len(name))))
    return found


def _around(text: str, at: int, size: int) -> str:
    """Up to 40 characters on either side, within the line."""
    before = text[max(0, at - AROUND) : at].rpartition("\n")[2]
    after = text[at + size : at + size + AROUND].partition("\n")[0]
    return before + text[at : at + size] + after
