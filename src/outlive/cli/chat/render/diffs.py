"""File changes as coloured diff lines."""

import re
from collections.abc import Iterable, Iterator

from rich.text import Text

from outlive.printable import clean

_HUNK = re.compile(r"@@ |--- |\+\+\+ ")
_STYLES = {"+": "added", "-": "removed", "@": "quiet"}


def size(lines: Iterable[str]) -> str:
    """`+3 −1`"""
    signs = [line[:1] for line in lines]
    parts = [f"{sign}{count}" for sign, count in (("+", signs.count("+")), ("−", signs.count("-"))) if count]
    return " ".join(parts)


def is_diff(text: str) -> bool:
    lines = text.splitlines()
    marked = sum(line.startswith(("+", "-", "@@")) for line in lines)
    return bool(lines) and (any(line.startswith("@@") for line in lines) or marked * 2 >= len(lines))


def painted(lines: Iterable[str]) -> Iterator[Text]:
    """Colour each line by its sign."""
    for line in lines:
        text = clean(line).expandtabs(4)
        style = "quiet" if _HUNK.match(line) else _STYLES.get(line[:1], "quiet")
        yield Text(text, style, no_wrap=True, overflow="ellipsis")
