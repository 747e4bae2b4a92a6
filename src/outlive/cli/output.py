"""Standard output and error that cannot be written to: a full disk, a closed pipe, a closed descriptor.

A failure on standard output ends the command with its own exit code, and standard error says what was done before.
Failures on standard error are ignored.
"""

import io
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

EXIT_CODE = 74
"""EX_IOERR of sysexits.h."""
_done: list[str] = []


class OutputFailed(Exception):
    """Standard output cannot be written. Not an OSError, so that no handler of file errors catches it."""


class _Stream(io.FileIO):
    lenient = False
    """Failures are ignored."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if self.lenient:
                return memoryview(data).nbytes
            raise OutputFailed(error.strerror or str(error)) from None


def guard() -> None:
    """Replace the standard streams of this process. Runs first: a closed descriptor would be reused by the next file
    that is opened, and printed into."""
    for number, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # takes the lowest free number; 1 is read-only, so writing to it fails
    sys.stdin = sys.stdin or open(0, encoding="utf-8")  # noqa: SIM115 - open until the process ends
    stdout, stderr = _Stream(1, "w", closefd=False), _Stream(2, "w", closefd=False)
    stdout.lenient = stdout.isatty()  # its window was closed; SIGHUP ends the command
    stderr.lenient = True
    sys.stdout, sys.stderr = _text(stdout, sys.stdout), _text(stderr, sys.stderr)


def done(text: str) -> None:
    """Record a permanent change before the output is written: `task 12 was created`."""
    _done.append(text)


def failed(error: OutputFailed) -> int:
    """Report on standard error what the command did, discard unwritten output, and return the exit code."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    what = "; ".join(_done) or "nothing was changed"
    sys.stderr.write(f"outlive: {what}; the output could not be written to standard output: {error}\n")
    sys.stderr.flush()
    return EXIT_CODE


def _text(raw: io.FileIO, like: TextIO | None) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(like, "encoding", None) or "utf-8",
        errors=getattr(like, "errors", None) or "backslashreplace",
        line_buffering=raw.isatty() or raw.fileno() == 2,
    )
