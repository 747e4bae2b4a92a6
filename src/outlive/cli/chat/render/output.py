"""Terminal output of prompt_toolkit that erases, prints and redraws in one write, so that nothing flickers; what
libraries print meanwhile (warnings, logs) is captured instead of going across the screen."""

import errno
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from outlive.cli.chat.preferences import Theme
from outlive.printable import clean_output

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"
"""Synchronized output: terminals that know it show everything between the two at once; others ignore them."""

_DEPTHS: dict[Theme, ColorDepth] = {
    "terminal": ColorDepth.DEPTH_4_BIT,
    "dark": ColorDepth.DEPTH_8_BIT,
    "light": ColorDepth.DEPTH_8_BIT,
    "none": ColorDepth.DEPTH_1_BIT,
}


class SteadyOutput(Vt100_Output):
    """Never asks for the cursor position."""

    def __init__(self, theme: Theme) -> None:
        term = os.environ.get("TERM")
        stdout = sys.stdout  # it is redirected later
        super().__init__(
            stdout,
            lambda: _size(stdout),
            term=term,
            default_color_depth=_DEPTHS[theme],
            enable_cpr=False,
            enable_bell=False,
        )
        self._held = False

    def use(self, theme: Theme) -> None:
        self.default_color_depth = _DEPTHS[theme]

    @contextmanager
    def held(self) -> Iterator[None]:
        """Write nothing within the block; the next drawing writes it all."""
        self._held = True
        try:
            yield
        finally:
            self._held = False

    def flush(self) -> None:
        if self._held or not self._buffer:
            return
        self._buffer = [BEGIN, *self._buffer, END]
        try:
            super().flush()
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            self._buffer.clear()  # the window was closed; the session still has to be closed in order


def reflows(environment: Mapping[str, str]) -> bool:
    """Whether the terminal rewraps lines when it gets narrower. Nearly all do; xterm and the console do not."""
    return "XTERM_VERSION" not in environment and environment.get("TERM") != "linux"


def _size(stdout: TextIO) -> Size:
    try:
        found = os.get_terminal_size(stdout.fileno())
    except OSError:
        return Size(rows=24, columns=80)
    return Size(rows=found.lines or 24, columns=found.columns or 80)


class _Captured(io.TextIOBase):
    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._part = ""

    def write(self, text: str, /) -> int:
        *lines, self._part = (self._part + text).split("\n")
        for line in lines:
            if line.strip():
                self._say(clean_output(line))
        return len(text)

    def writable(self) -> bool:
        return True


@contextmanager
def captured(say: Callable[[str], None]) -> Iterator[None]:
    """Pass each line printed within the block to `say`."""
    with redirect_stdout(_Captured(say)), redirect_stderr(_Captured(say)):
        yield
