"""`glob`: files by the pattern of their path, the newest first."""

import asyncio
import os
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from outlive.printable import encodable
from outlive.tools.files.path_patterns import PathPattern, split_fixed
from outlive.tools.files.workspace import files_below
from outlive.tools.protocol import SHORT_RESULT_CHARS, Tool, ToolContext, ToolError, ToolOutcome

MAX_MATCHES = 200  # the newest ones; a model narrows the pattern for others


class GlobInput(Struct, frozen=True, forbid_unknown_fields=True):
    pattern: Annotated[
        str,
        Meta(description="Such as *.py (at any depth) or src/**/test_*.{ts,tsx}."),
    ]
    path: Annotated[str, Meta(description="The folder to look in.")] = "."


class Glob(Tool[GlobInput]):
    name = "glob"
    description = (
        f"Find files by name, newest first, at most {MAX_MATCHES}. Leaves out what git ignores, unless path is such "
        "a folder."
    )
    input = GlobInput
    about = "pattern"
    longest = SHORT_RESULT_CHARS
    effect = "look"
    parallel = True

    def paths(self, given: GlobInput) -> tuple[str, ...]:
        return (str(Path(given.path) / split_fixed(given.pattern)[0]),)

    async def run(self, given: GlobInput, context: ToolContext) -> ToolOutcome:
        return await asyncio.to_thread(_find, given, context)


def _find(given: GlobInput, context: ToolContext) -> ToolOutcome:
    if not given.pattern.strip() or "\0" in given.pattern:
        raise ToolError(f"{given.pattern!r} is not a pattern such as **/*.py")
    fixed, rest = split_fixed(given.pattern)
    folder = context.fence.inside(str(Path(given.path) / fixed))
    if not folder.is_dir():
        raise ToolError(f"{Path(given.path) / fixed} is not a folder of the workspace")
    if not rest:
        raise ToolError(f"{given.pattern!r} names a folder; add what to find in it, such as {given.pattern}*")
    pattern = PathPattern(rest if "/" not in given.pattern else f"./{rest}")
    dated: list[tuple[float, str]] = []
    listing = files_below(folder)
    for path in listing.files:
        if pattern.matches(path.relative_to(folder).parts):
            try:
                dated.append((-os.lstat(path).st_mtime, context.fence.shown(path)))
            except OSError:
                continue
    if not dated:
        text = f"no file matches {given.pattern} in {context.fence.shown(folder)}"
        return ToolOutcome("\n".join(filter(None, [text, listing.note])))
    rows = [encodable(name) for _, name in sorted(dated)[:MAX_MATCHES]]
    more = len(dated) - len(rows)
    if more:
        rows.append(f"[{more:,} more, older; narrow the pattern]")
    return ToolOutcome("\n".join(filter(None, [*rows, listing.note])))
