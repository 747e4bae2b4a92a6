"""Show what libraries print (warnings, logs) as notes instead of across the screen."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

from outlive.printable import clean_output


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
