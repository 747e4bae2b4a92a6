"""`read_file`: numbered lines of a text file, or an image."""

import asyncio
import io
import os
from typing import Annotated, BinaryIO

from msgspec import Meta, Struct

from outlive.secrets import KeyLines, Masker
from outlive.tools.files.images import MAX_IMAGE_BYTES, image, media_type, problem
from outlive.tools.files.open_files import (
    MAX_HASHED_BYTES,
    PEEK_BYTES,
    Coding,
    Sum,
    coding,
    kind_of,
    open_file,
    size_text,
    summed,
)
from outlive.tools.protocol import Tool, ToolContext, ToolError, ToolOutcome

DEFAULT_LINES = 2000  # most source files are shown whole
MAX_LINE_CHARS = 2000
"""Characters that are shown of a line."""
MAX_ANSWER_CHARS = 256 * 1024
"""Characters in one answer."""


class ReadFileInput(Struct, frozen=True, forbid_unknown_fields=True):
    path: Annotated[str, Meta(description="From the workspace's root, or absolute.")]
    offset: Annotated[int, Meta(ge=1, description="First line to show, from 1.")] = 1
    limit: Annotated[int, Meta(ge=1, description=f"Lines at most; {DEFAULT_LINES} when not given.")] = DEFAULT_LINES


class ReadFile(Tool[ReadFileInput]):
    name = "read_file"
    description = (
        "Read a file, also a picture: each line with its number and a tab before it, which are not part of the file. "
        "Long files come in parts (offset, limit)."
    )
    input = ReadFileInput
    about = "path"
    effect = "look"
    parallel = True

    async def run(self, given: ReadFileInput, context: ToolContext) -> ToolOutcome:
        return await asyncio.to_thread(_read, given, context)


def _read(given: ReadFileInput, context: ToolContext) -> ToolOutcome:
    real, file = open_file(context, given.path)
    with file:
        state = os.fstat(file.fileno())
        head = file.read(PEEK_BYTES)
        file.seek(0)
        total = summed(file) if state.st_size <= MAX_HASHED_BYTES else None
        file.seek(0)
        if kind := media_type(head):
            outcome = _picture(given.path, file, kind, state.st_size)
        elif (how := coding(head)) is None:
            raise ToolError(
                f"{given.path} is {kind_of(head)}, {size_text(state.st_size)}; it cannot be read as text. "
                "Look at it with bash (file, xxd, strings)"
            )
        elif how.name == "utf-8":
            file.seek(len(how.mark))
            outcome = ToolOutcome(_lines(given, file, total, state.st_size, context.mask))
        else:
            outcome = ToolOutcome(_recoded(given, file, how, state.st_size, context.mask))
    context.read_tracker.note(real, state, "" if total is None else total.digest)
    return outcome


def _recoded(given: ReadFileInput, file: BinaryIO, how: Coding, size: int, mask: Masker) -> str:
    if size > MAX_HASHED_BYTES:
        raise ToolError(f"{given.path} is {how.name}, {size_text(size)}: too large to be converted; use bash (iconv)")
    try:
        source = io.BytesIO(how.decode(file.read()).encode("utf-8", "replace"))
    except UnicodeDecodeError as error:
        raise ToolError(f"{given.path} is not valid {how.name}: {error.reason} at {error.start}") from None
    total = summed(source)
    source.seek(0)
    return f"{_lines(given, source, total, size, mask)}\n[it is written in {how.name}]"


def _picture(path: str, file: BinaryIO, kind: str, size: int) -> ToolOutcome:
    raw = file.read(MAX_IMAGE_BYTES + 1)
    if why := problem(raw, kind):
        raise ToolError(f"{path} ({kind}, {size_text(size)}) {why}; make another one of it with bash first")
    return ToolOutcome(f"[{path}: {kind}, {size_text(size)}]", images=(image(raw, kind),))


def _lines(given: ReadFileInput, file: BinaryIO, total: Sum | None, size: int, mask: Masker) -> str:
    count = None if total is None else total.newlines + total.ends_open
    if count == 0:
        return f"({given.path} is empty)"
    begin = file.tell()
    _skip(file, given.offset - 2)
    before = _line(file)[0] if given.offset > 1 else b""
    lines: list[str] = []
    notes: dict[int, str] = {}
    used = 0
    while len(lines) < given.limit and used < MAX_ANSWER_CHARS:
        raw, cut = _line(file)
        if not raw:
            break
        lines.append(_text(raw))
        if cut or len(lines[-1]) > MAX_LINE_CHARS:
            notes[len(lines)] = f" [… the line is cut: it has {len(raw) + cut:,} bytes]"
        used += min(len(lines[-1]), MAX_LINE_CHARS) + 7
    if not lines:
        has = f"has {count:,} lines" if count is not None else f"({size_text(size)}) has fewer lines"
        raise ToolError(f"{given.path} {has}; there is no line {given.offset:,}")
    note = _note(given, len(lines), count, size, total, file)
    file.seek(begin)
    keys = KeyLines(file)
    of_keys = {number + 1 for number in range(len(lines)) if given.offset + number in keys}
    shown = mask.lines([_text(before), *lines], of_keys, longest=MAX_LINE_CHARS)
    rows = (f"{given.offset + n - 1:>5}\t{text}{notes.get(n, '')}" for n, text in enumerate(shown) if n)
    return "\n".join([*rows, *note])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")


def _note(
    given: ReadFileInput, shown: int, count: int | None, size: int, total: Sum | None, file: BinaryIO
) -> list[str]:
    last = given.offset + shown - 1
    parts = []
    if count is None:
        if file.read(1):
            parts.append(f"the file has {size_text(size)}; go on with offset {last + 1}")
    elif last < count:
        parts.append(f"lines {given.offset}-{last} of {count:,}; go on with offset {last + 1}")
    elif given.offset > 1:
        parts.append(f"lines {given.offset}-{last} of {count:,}, the end")
    if total is not None and total.crlf:
        parts.append("its line ends are CRLF")
    return [f"[{'; '.join(parts)}]"] if parts else []


def _skip(file: BinaryIO, lines: int) -> None:
    """Skip so many lines, or all that there are, block by block."""
    while lines > 0 and (block := file.read(1 << 20)):
        *skipped, rest = block.split(b"\n", lines)
        lines -= len(skipped)
        if not lines:
            file.seek(-len(rest), os.SEEK_CUR)


def _line(file: BinaryIO) -> tuple[bytes, int]:
    """The next line, or the start of a long one and the number of bytes that follow."""
    raw = file.readline(4 * MAX_LINE_CHARS)
    rest = 0
    if raw and not raw.endswith(b"\n"):
        while part := file.readline(1 << 16):
            rest += len(part)
            if part.endswith(b"\n"):
                break
    return raw, rest
