"""The terminal as prompt_toolkit writes to it, but in one piece: what is erased, printed and drawn again goes out as
one write, so that nothing flickers."""

import errno
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know synchronized output show everything between at once; others ignore them."""


class SteadyOutput(Vt100_Output):
    """Asks no cursor position: the interface is as high as its content, wherever it stands."""

    def __init__(self, *, mono: bool) -> None:
        depth = ColorDepth.DEPTH_1_BIT if mono else ColorDepth.DEPTH_4_BIT
        term = os.environ.get("TERM")
        stdout = sys.stdout  # as it is now: later it may be somebody else's
        super().__init__(
            stdout, lambda: _size(stdout), term=term, default_color_depth=depth, enable_cpr=False, enable_bell=False
        )
        self._held = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nothing goes out until the next drawing."""
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
            self._buffer.clear()  # the window was closed: nobody looks, and the session is to be left in order


def reflows(environment: Mapping[str, str]) -> bool:
    """Whether the terminal wraps lines anew when it gets narrower. Nearly all do; xterm and the console do not."""
    return "XTERM_VERSION" not in environment and environment.get("TERM") != "linux"


def _size(stdout: TextIO) -> Size:
    try:
        found = os.get_terminal_size(stdout.fileno())
    except OSError:
        return Size(rows=24, columns=80)
    return Size(rows=found.lines or 24, columns=found.columns or 80)
