"""Untrusted text made safe to print: it cannot move the cursor, set a title or the clipboard, or reverse characters.

`clean` hides nothing: a neutralised character stays visible, so that a person who is asked sees the whole command.
`clean_output` shows the output of programs: colours are removed, a progress bar shows its last state.
"""

import re
from collections.abc import Sequence

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"  # colours, cursor movement
    r"|\x1b\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"  # titles, links, clipboard
    r"|\x1b[PX^_][^\x1b\n]{0,4096}\x1b\\"  # device control strings
    r"|\x1b[()*+#][0-9A-Za-z]|\x1b[=>78cDEHMNOZ]"
)
_COLOUR = re.compile(r"(\x1b\[(?:[0-2]|3[1-7]|9[1-7])m)")
_CONTROL_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {0x7F: "␡"}
_UNSEEN = re.compile(
    "[\x80-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\U000e0000-\U000e007f\ud800-\udfff]"
)
"""C1 controls, direction marks and overrides, line separators, tags, noncharacters that XML refuses, surrogates."""


def clean(text: str) -> str:
    """Keep line ends and tabs; show other control characters as pictures (`␛`) and direction marks as `�`."""
    return _UNSEEN.sub("\ufffd", text.replace("\r\n", "\n").translate(_CONTROL_PICTURES))


def clean_output(text: str) -> str:
    """Return program output as a terminal would finally show it, without colours."""
    text = _SEQUENCE.sub("", text.replace("\r\n", "\n"))
    return clean("\n".join(line.rpartition("\r")[2] for line in text.split("\n")))


def clean_styled(text: str) -> str:
    """Clean a text but keep the few colours that our own lines use: untrusted text may be coloured, never hidden."""
    return "".join(part if at % 2 else clean(part) for at, part in enumerate(_COLOUR.split(text)))


def one_line(text: str, longest: int | None = None) -> str:
    """Clean a text and put it on one line of at most `longest` characters."""
    if longest is None:
        return " ".join(clean(text).split())
    line = " ".join(clean(text[: longest * 8]).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def visible(text: str) -> str:
    """Put a space in place of each character that shows nothing: controls, line ends, invisible letters and marks."""
    return "".join(character if character.isprintable() else " " for character in text)


def encodable(text: str) -> str:
    """Replace surrogates, which stand for undecodable bytes and cannot be encoded, by `?`."""
    return text.encode("utf-8", "replace").decode()


def some(items: Sequence[object], most: int = 20) -> str:
    """List the first items and the number of the others."""
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(map(str, items[:most])) + more
