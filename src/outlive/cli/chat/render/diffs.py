"""File changes as coloured diff lines."""

import re
from collections.abc import Iterable, Iterator

from rich.text import Text

from outlive.messages import ToolCall
from outlive.printable import clean
from outlive.tools.files.diff import changed_lines

CONTEXT = 2
_OLD = ("old_text", "old_string", "old_str")
_NEW = ("new_text", "new_string", "new_str")
_HUNK = re.compile(r"@@ |--- |\+\+\+ ")
_STYLES = {"+": "added", "-": "removed", "@": "quiet"}


def changes(call: ToolCall) -> list[str]:
    """Return the diff lines of an edit, as far as the call itself shows them."""
    old, new = _given(call, _OLD), _given(call, _NEW)
    if old is not None and new is not None:
        return [line for line in changed_lines(old, new, CONTEXT) if not _HUNK.match(line)]
    content = call.input.get("content")
    return [f"+{line}" for line in content.splitlines()] if isinstance(content, str) else []


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


def _given(call: ToolCall, keys: Iterable[str]) -> str | None:
    return next((value for key in keys if isinstance(value := call.input.get(key), str)), None)
