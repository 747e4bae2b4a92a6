"""Standard output and error where nothing can be written to them: a full disk, a closed pipe, a closed descriptor.

A failure on standard output ends the command with an exit code of its own, and with the truth about what was done
before. What cannot be said on standard error is left unsaid.
"""

import io
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

EXIT_CODE = 74
"""EX_IOERR of sysexits.h: the command was understood, its output was lost."""
_done: list[str] = []


class OutputFailed(Exception):
    """Standard output took no more. Not an OSError: no handler of file errors may take it for one."""


class _Stdout(io.FileIO):
    terminal = False

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if self.terminal:  # its window was closed, and SIGHUP ends the command
                return memoryview(data).nbytes
            raise OutputFailed(error.strerror or str(error)) from None


class _Stderr(io.FileIO):
    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def guard() -> None:
    """Put the streams of this process under guard. First of all: a closed descriptor would be given to the next file
    that is opened, and printed into."""
    for number, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # takes the lowest number that is free; one can read from 1, not write
    sys.stdin = sys.stdin or open(0, encoding="utf-8")  # noqa: SIM115 - for as long as the process runs
    stdout = _Stdout(1, "w", closefd=False)
    stdout.terminal = stdout.isatty()
    sys.stdout = _text(stdout, sys.stdout)
    sys.stderr = _text(_Stderr(2, "w", closefd=False), sys.stderr)


def done(text: str) -> None:
    """Say, before its output is written, what a command has changed for good: `task 12 was created`."""
    _done.append(text)


def failed(error: OutputFailed) -> int:
    """Tell on standard error what became of the command; its exit code. Whatever still waits to be written goes."""
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
