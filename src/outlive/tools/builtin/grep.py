"""`grep`: lines that match a pattern, by file. Uses ripgrep if installed, else `grep_worker`."""

import asyncio
import base64
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Annotated, Any, BinaryIO

from msgspec import Meta, Struct

from outlive.printable import encodable
from outlive.secrets import KeyLines, shown
from outlive.tools.builtin import grep_worker
from outlive.tools.files.path_patterns import PathPattern
from outlive.tools.files.workspace import Listing, files_below
from outlive.tools.permissions.fence import HARNESS_PATHS
from outlive.tools.processes.programs import find_program
from outlive.tools.processes.watchdog import WATCHDOG
from outlive.tools.protocol import SHORT_RESULT_CHARS, Tool, ToolContext, ToolError, ToolOutcome

DEFAULT_MATCHES = 100  # a model can ask for more
TIMEOUT_SECONDS = 30.0  # a model waits; a narrower search is the answer to a slow one
MAX_LINE_CHARS = 300  # minified files have lines of megabytes
SECRET_MARGIN_BYTES = 4_096
"""Bytes on both sides of the shown part of a long line that are scanned for secrets crossing its ends."""
MAX_ANSWER_CHARS = 100_000
"""Characters in one answer."""


class GrepInput(Struct, frozen=True, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(description="A regular expression.")]
    path: Annotated[str, Meta(description="The file or folder to search.")] = "."
    glob: Annotated[str, Meta(description="Only these files, such as *.py or src/**/*.ts.")] = ""
    ignore_case: Annotated[bool, Meta(description="Ignore upper and lower case.")] = False
    context: Annotated[int, Meta(ge=0, le=20, description="Lines around each match.")] = 0
    limit: Annotated[int, Meta(ge=1, le=2000, description=f"Matches at most; {DEFAULT_MATCHES} when not given.")] = (
        DEFAULT_MATCHES
    )


class Grep(Tool[GrepInput]):
    name = "grep"
    description = (
        "Search files for a regular expression, line by line. Answers with line numbers. Leaves out what git "
        "ignores, unless path is there."
    )
    input = GrepInput
    about = "pattern"
    longest = SHORT_RESULT_CHARS
    effect = "look"
    parallel = True

    def paths(self, given: GrepInput) -> tuple[str, ...]:
        return (given.path,)

    async def run(self, given: GrepInput, context: ToolContext) -> ToolOutcome:
        if not given.pattern or "\0" in given.pattern or "\n" in given.pattern:
            raise ToolError("the pattern must be one line of text and not empty")
        real = context.fence.inside(given.path)
        if not real.exists():
            raise ToolError(f"there is no file or folder {given.path}")
        if not real.is_dir() and not real.is_file():
            raise ToolError(f"{given.path} is neither a file nor a folder")
        search = _Search(given, real)
        try:
            return await asyncio.to_thread(search.run, context)
        except asyncio.CancelledError:
            search.stop()
            raise


class _Search:
    """One search by one process, which is stopped when it has found enough or takes too long."""

    def __init__(self, given: GrepInput, real: Path) -> None:
        self.given = given
        self.folder, self.only = (real, "") if real.is_dir() else (real.parent, real.name)
        self._process: subprocess.Popen[bytes] | None = None
        self._late = threading.Event()
        self._note = ""

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()

    def run(self, context: ToolContext) -> ToolOutcome:
        program = find_program("rg", (context.fence.root, *context.fence.extra))
        found = _Found(context, self.folder, self.given.limit)
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as errors:
            argv = self._with_ripgrep(program) if program else self._with_worker(asked)
            with (
                subprocess.Popen(  # noqa: S603 - our own arguments; the pattern is one of them, never a command
                    argv,
                    cwd=self.folder,
                    stdin=asked,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,
                ) as process,
                WATCHDOG.watching(process.pid),
            ):
                self._process = process
                late = threading.Timer(TIMEOUT_SECONDS, self._too_late)
                late.daemon = True
                late.start()
                try:
                    for kind, data in _said(process):
                        if not found.take(kind, data):
                            break
                finally:
                    late.cancel()
                    process.kill()
                    found.close()
            errors.seek(0)
            complaints = errors.read(4096).decode("utf-8", "replace").strip()
        return self._outcome(context, found, complaints)

    def _too_late(self) -> None:
        self._late.set()
        self.stop()

    def _with_ripgrep(self, program: str) -> list[str]:
        argv = [program, *"--json --no-config --hidden --no-messages --sort=path --engine=auto --crlf".split()]
        for name in (".git", *(f"/{name}" for name in HARNESS_PATHS)):
            argv += ["--glob", f"!{name}"]
        if self.given.glob:
            argv += ["--glob", self.given.glob]
        if self.given.ignore_case:
            argv.append("--ignore-case")
        if self.given.context:
            argv += ["--context", str(self.given.context)]
        return [*argv, "--regexp", self.given.pattern, "--", self.only or "."]

    def _with_worker(self, asked: IO[bytes]) -> list[str]:
        listing = Listing([self.folder / self.only]) if self.only else files_below(self.folder)
        self._note = listing.note
        wanted = PathPattern(self.given.glob) if self.given.glob else None
        files = []
        for path in sorted(listing.files):
            shown = path.relative_to(self.folder)
            if wanted is None or wanted.matches(shown.parts):
                files.append((str(shown), str(path)))
        given = self.given
        asks = {"pattern": given.pattern, "ignore_case": given.ignore_case, "context": given.context, "files": files}
        asked.write(json.dumps(asks).encode())
        asked.seek(0)
        return [sys.executable, "-I", "-S", grep_worker.__file__]

    def _outcome(self, context: ToolContext, found: "_Found", errors: str) -> ToolOutcome:
        where = context.fence.shown(self.folder / self.only)
        if not found.matches:
            if self._late.is_set():
                raise ToolError(
                    f"the search took longer than {TIMEOUT_SECONDS:g} s; narrow path or glob, or simplify the pattern"
                )
            if errors:
                raise ToolError(f"grep: {errors[:500]}")
            only = f" (files {self.given.glob})" if self.given.glob else ""
            text = f"no match for {self.given.pattern} in {where}{only}"
            return ToolOutcome("\n".join(filter(None, [text, self._note])))
        notes = [self._note] if self._note else []
        if found.full:
            notes.append(f"[the first {found.matches:,} matches; there are more: narrow the search or raise limit]")
        elif self._late.is_set():
            notes.append(f"[stopped after {TIMEOUT_SECONDS:g} s; there may be more]")
        if errors:
            notes.append(f"[not searched: {errors[:300]}]")
        return ToolOutcome("\n".join([*found.rows, *notes]))


class _Found:
    """Rows of the answer, as the matches come in."""

    def __init__(self, context: ToolContext, folder: Path, limit: int) -> None:
        self.rows: list[str] = []
        self.matches = 0
        self.full = False
        self._context = context
        self._folder = folder
        self._limit = limit
        self._used = 0
        self._file = ""
        self._last = 0
        self._source: BinaryIO | None = None
        self._keys: KeyLines | None = None

    def take(self, kind: str, data: dict[str, Any]) -> bool:
        """Whether more is wanted."""
        file, number = os.fsdecode(_bytes(data["path"])).removeprefix("./"), data["line_number"]
        new_file, gap = file != self._file, number > self._last + 1
        if kind == "match":
            if self.matches >= self._limit or self._used >= MAX_ANSWER_CHARS:
                self.full = True
                return False
            self.matches += 1
        elif self.matches >= self._limit and (new_file or gap):
            return True  # context before a match beyond the limit
        if new_file:
            self._open_keys(file)
            self._add(encodable(self._context.fence.shown(self._folder / file)))
        elif gap:
            self._add("   --")
        self._file, self._last = file, number
        start = data["submatches"][0]["start"] if data["submatches"] else 0
        self._add(f"{number:>5}{':' if kind == 'match' else '-'}{self._cut(_bytes(data['lines']), start, number)}")
        return True

    def _cut(self, raw: bytes, start: int, number: int) -> str:
        """A line with its secrets masked; of a long line, the part around the match."""
        raw = raw.rstrip(b"\r\n")
        inside = self._keys is not None and number in self._keys
        if len(raw) <= MAX_LINE_CHARS:
            line = raw.decode("utf-8", "replace")
            return shown(line, self._context.mask.find(line, inside=inside))
        first = max(0, min(start - MAX_LINE_CHARS // 3, len(raw) - MAX_LINE_CHARS))
        window = raw[max(0, first - SECRET_MARGIN_BYTES) : first + MAX_LINE_CHARS + SECRET_MARGIN_BYTES].decode(
            "utf-8", "replace"
        )
        skipped = len(raw[max(0, first - SECRET_MARGIN_BYTES) : first].decode("utf-8", "replace"))
        length = len(raw[first : first + MAX_LINE_CHARS].decode("utf-8", "ignore"))
        text = shown(window, self._context.mask.find(window, inside=inside), skipped, skipped + length)
        return f"{'…' if first else ''}{text}{'…' if first + MAX_LINE_CHARS < len(raw) else ''} [{len(raw):,} bytes]"

    def _open_keys(self, file: str) -> None:
        """Find the lines of private keys in the file, which cannot be recognised one by one."""
        self.close()
        try:
            self._source = os.fdopen(os.open(self._folder / file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
        except OSError:
            return
        self._keys = KeyLines(self._source)

    def close(self) -> None:
        if self._source is not None:
            self._source.close()
        self._source = self._keys = None

    def _add(self, row: str) -> None:
        self.rows.append(row)
        self._used += len(row) + 1


def _said(process: "subprocess.Popen[bytes]") -> Iterator[tuple[str, dict[str, Any]]]:
    assert process.stdout is not None  # noqa: S101 - it was started with a pipe
    for line in process.stdout:
        try:
            message = json.loads(line)
        except ValueError:
            return  # cut off, because the process was stopped
        if message["type"] in ("match", "context"):
            yield message["type"], message["data"]


def _bytes(value: dict[str, str]) -> bytes:
    return os.fsencode(value["text"]) if "text" in value else base64.b64decode(value["bytes"])
