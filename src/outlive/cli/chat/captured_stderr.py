"""What libraries print while the terminal is ours (warnings, logs) is shown as notes instead of across the screen."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

from outlive.printable import clean_output


class _Overheard(io.TextIOBase):
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
def overhearing(say: Callable[[str], None]) -> Iterator[None]:
    """Until the block ends."""
    with redirect_stdout(_Overheard(say)), redirect_stderr(_Overheard(say)):
        yield
