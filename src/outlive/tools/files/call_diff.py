"""The change that a tool call makes to a file, as far as the call itself shows it."""

import re
from collections.abc import Iterable

from outlive.messages import ToolCall
from outlive.tools.files.diff import changed_lines

CONTEXT_LINES = 2  # around a change: enough to place it on a small screen
_OLD_TEXT_KEYS = ("old_text", "old_string", "old_str")
_NEW_TEXT_KEYS = ("new_text", "new_string", "new_str")
_HUNK = re.compile(r"@@ |--- |\+\+\+ ")


def call_diff(call: ToolCall) -> list[str]:
    """The diff lines of an edit, or the lines of a new file; empty for a call that shows neither."""
    old, new = _given(call, _OLD_TEXT_KEYS), _given(call, _NEW_TEXT_KEYS)
    if old is not None and new is not None:
        if not old.endswith("\n") and not new.endswith("\n"):  # a part of a line, not the end of the file
            old, new = f"{old}\n", f"{new}\n"
        return [line for line in changed_lines(old, new, CONTEXT_LINES) if not _HUNK.match(line)]
    content = call.input.get("content")
    return [f"+{line}" for line in content.splitlines()] if isinstance(content, str) else []


def _given(call: ToolCall, keys: Iterable[str]) -> str | None:
    return next((value for key in keys if isinstance(value := call.input.get(key), str)), None)
