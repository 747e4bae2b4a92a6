"""`write_file`: create a file, or replace one that was read."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from outlive.tools.files.atomic_edit import Before, read_before, refuse_unseen, save
from outlive.tools.files.diff import FileChange, counted, unified
from outlive.tools.files.open_files import coding
from outlive.tools.protocol import Tool, ToolContext, ToolOutcome, encoded


class WriteFileInput(Struct, frozen=True, forbid_unknown_fields=True):
    path: Annotated[str, Meta(description="From the workspace's root, or absolute.")]
    content: Annotated[str, Meta(description="All of the file, exactly.")]


class WriteFile(Tool[WriteFileInput]):
    name = "write_file"
    description = (
        "Write a whole file, and missing folders. Replaces a file only if you have read it and nobody changed it "
        "since. Does not append; for a part of a file use edit_file."
    )
    input = WriteFileInput
    about = "path"
    effect = "edit"

    def preview(self, given: WriteFileInput, context: ToolContext) -> str:
        return _diff(_checked(given, context), given.content)

    def change(self, given: WriteFileInput, context: ToolContext) -> FileChange | None:
        before = _checked(given, context)
        if before.exists and coding(before.raw) is None:
            return None
        return FileChange(str(before.real), _old(before) if before.exists else None, given.content)

    async def run(self, given: WriteFileInput, context: ToolContext) -> ToolOutcome:
        before = _checked(given, context)
        raw = encoded(given.content, "the content")
        if before.exists and before.raw == raw:
            return ToolOutcome(f"{given.path} has exactly this content already; nothing was written")
        outcome = await asyncio.to_thread(self._outcome, given, before, raw)
        save(context, before, raw)
        return outcome

    def _outcome(self, given: WriteFileInput, before: Before, raw: bytes) -> ToolOutcome:
        """The result once it is written."""
        lines = given.content.count("\n") + (not given.content.endswith("\n") and bool(given.content))
        shown = _diff(before, given.content)
        changed = f", {counted(_old(before), given.content)}" if before.exists else ""
        what = "replaced" if before.exists else "created"
        return ToolOutcome(f"{what} {given.path}: {lines:,} lines, {len(raw):,} bytes{changed}", shown=shown)


def _checked(given: WriteFileInput, context: ToolContext) -> Before:
    before = read_before(context, given.path)
    if before.exists and before.raw != encoded(given.content, "the content"):
        refuse_unseen(context, before)
    return before


def _old(before: Before) -> str:
    how = coding(before.raw)
    return "" if how is None else how.decode(before.raw)


def _diff(before: Before, content: str) -> str:
    if before.exists and coding(before.raw) is None:
        return f"{before.path}: {len(before.raw):,} bytes of binary data are replaced"
    return unified(_old(before), content, before.path)
