"""Words in the place of marks, for people who listen to the screen."""

import re

from outlive.cli.chat.render.item import Kind

_MARKS = {
    "?": "permission needed:",
    "●": "tool:",
    "·": "note:",
    "⤵": "pass:",
    "⏹": "stopped:",
    "↻": "waiting:",
    "✗": "error:",
    "✓": "done:",
    "▸": "now:",
    "○": "to do:",
}
_FIRST = re.compile(f"([{re.escape(''.join(_MARKS))}]) ")
_RESULT = ((" ✓", " done"), (" ✗ exit", " failed, exit"), (" ✗", ""), (" ⏹", ""))
"""Marks within the headline of a tool call."""


def in_words(kind: Kind, lines: list[str]) -> list[str]:
    """The lines of an item of the harness with words for its marks; what the user or the model wrote stays."""
    return lines if kind in ("user", "answer") else list(map(_worded, lines))


def _worded(line: str) -> str:
    mark = _FIRST.match(line)
    if mark is None:
        return line
    rest = line[mark.end() :]
    if mark[1] == "●":
        for sign, word in _RESULT:
            head, found, tail = rest.rpartition(sign)
            rest = f"{head}{word}{tail}" if found else rest
    return f"{_MARKS[mark[1]]} {rest}"
