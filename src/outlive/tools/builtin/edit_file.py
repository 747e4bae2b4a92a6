"""`edit_file`: replace one exact occurrence of a text, or all; other bytes stay as they are."""

import asyncio
from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from msgspec import Meta, Struct

from outlive.tools.files.atomic_edit import Before, read_before, refuse_unseen, save
from outlive.tools.files.closest_match import why_not_found
from outlive.tools.files.diff import FileChange, counted, unified
from outlive.tools.files.open_files import Coding, coding, kind_of, missing
from outlive.tools.protocol import Tool, ToolContext, ToolError, ToolOutcome, encoded

MAX_LISTED = 12  # line numbers in an error; the rest is counted
MAX_COUNTED = 50
"""Occurrences that are counted exactly."""


class EditFileInput(Struct, frozen=True, forbid_unknown_fields=True):
    path: Annotated[str, Meta(description="From the workspace's root, or absolute.")]
    old_text: Annotated[str, Meta(description="Exactly as in the file, with enough around it to be unique.")]
    new_text: Annotated[str, Meta(description="What takes its place; may be empty.")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence.")] = False


class EditFile(Tool[EditFileInput]):
    name = "edit_file"
    description = (
        "Replace text in a file that you have read. old_text must occur exactly once (or give replace_all), letter "
        "for letter, without the line numbers of read_file. Does not take patterns and does not create files."
    )
    input = EditFileInput
    about = "path"
    effect = "edit"

    def change(self, given: EditFileInput, context: ToolContext) -> FileChange:
        edit = _edit(given, context)
        return FileChange(str(edit.before.real), edit.text, edit.changed)

    async def run(self, given: EditFileInput, context: ToolContext) -> ToolOutcome:
        edit, outcome = await asyncio.to_thread(_planned, given, context)
        save(context, edit.before, edit.coding.encode(edit.changed))
        return outcome


class _Edit(Struct, frozen=True):
    """A valid change."""

    before: Before
    coding: Coding
    text: str
    changed: str
    count: int
    lines: tuple[int, ...]


def _planned(given: EditFileInput, context: ToolContext) -> tuple[_Edit, ToolOutcome]:
    """The change, and the result once it is made."""
    edit = _edit(given, context)
    places = f"{edit.count:,} places" if edit.count > 1 else "1 place"
    text = f"edited {given.path}: {places}, {_at(edit.lines)}, {counted(edit.text, edit.changed)}"
    return edit, ToolOutcome(text, shown=unified(edit.text, edit.changed, given.path))


def _edit(given: EditFileInput, context: ToolContext) -> _Edit:
    if not given.old_text:
        raise ToolError(
            "old_text is empty. To insert, take a neighbouring line as old_text and repeat it in new_text; "
            "to create or fill a file, use write_file"
        )
    if given.old_text == given.new_text:
        raise ToolError("old_text and new_text are the same: nothing would change")
    encoded(given.old_text, "old_text")
    encoded(given.new_text, "new_text")
    before = read_before(context, given.path)
    if not before.exists:
        missing(context, given.path, before.real)
    how, text = _decoded(before)
    refuse_unseen(context, before)
    old, new = _with_line_ends(text, given.old_text, given.new_text)
    found = list(islice(_places(text, old), MAX_COUNTED))
    if not found:
        raise ToolError(f"old_text is not in {given.path}: {why_not_found(text, given.old_text, given.new_text)}")
    lines = tuple(text.count("\n", 0, at) + 1 for at in found)
    if len(found) > 1 and not given.replace_all:
        times = max(len(found), text.count(old))
        raise ToolError(
            f"old_text is found {times:,} times in {given.path}, {_at(lines)}; "
            "give more of the text around the one you mean, or replace_all"
        )
    return _Edit(before, how, text, text.replace(old, new), text.count(old), lines)


def _decoded(before: Before) -> tuple[Coding, str]:
    how = coding(before.raw)
    if how is None:
        raise ToolError(f"{before.path} is {kind_of(before.raw)}, not text; use bash to change it")
    try:
        text = how.decode(before.raw)
    except UnicodeDecodeError as error:
        raise ToolError(f"{before.path} is not valid {how.name}: {error.reason}; use bash") from None
    return how, text


def _with_line_ends(text: str, old: str, new: str) -> tuple[str, str]:
    """Convert LF to CRLF for a file with CRLF, unless a mixed file contains the text as given."""
    returns = text.count("\r\n")
    if not returns:
        return old, new
    if returns == text.count("\n") or old not in text:
        return _crlf(old), _crlf(new)
    return old, new


def _crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _places(text: str, old: str) -> Iterator[int]:
    """All positions, including overlapping ones."""
    at = text.find(old)
    while at >= 0:
        yield at
        at = text.find(old, at + 1)


def _at(lines: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, lines[:MAX_LISTED])) + (" …" if len(lines) > MAX_LISTED else "")
    return f"at line{'s' if len(lines) > 1 else ''} {shown}"
