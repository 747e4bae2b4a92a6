"""Splits an arriving answer into Markdown blocks: complete ones are printed for good, the rest is shown live."""

import re
from collections.abc import Iterator

from msgspec import Struct

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)$")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")


MAX_BLOCK_CHARS = 8_000
"""Characters of a block. The tail is rendered many times a second, and Markdown takes long for long texts."""


MAX_FENCE_CHARS = 80
"""Characters of the line that opens a fence, which is repeated for every part of its code."""


class Block(Struct, frozen=True):
    """A complete piece of Markdown. `tight`: no blank line before it."""

    text: str
    tight: bool = False


class Flow:
    """Takes pieces of text and returns blocks, which end at blank lines outside of fences."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._size = 0
        self._part = ""
        self._fence = ""
        self.tight = False
        """The tail continues the block before it."""

    def feed(self, text: str) -> list[Block]:
        """Add a piece of text; returns the blocks it completed."""
        *whole, self._part = (self._part + text).split("\n")
        if len(self._part) > MAX_BLOCK_CHARS:
            whole, self._part = [*whole, self._part], ""
        return [block for line in whole for piece in _pieces(line) for block in self._bounded(piece)]

    def finish(self) -> list[Block]:
        """End the answer; returns the remaining blocks."""
        last, self._part = self._part, ""
        made = list(self._bounded(last)) if last else []
        made.extend(self._take())
        self._fence, self.tight = "", False
        return made

    @property
    def tail(self) -> str:
        """The text that is not complete yet."""
        return "\n".join([*self._lines, self._part])

    def live(self, rows: int) -> str:
        """Return the last rows of the tail; code keeps its opening fence."""
        if self._fence and len(self._lines) > rows:
            return "\n".join([self._lines[0], *self._lines[-rows + 1 :], self._part])
        return self.tail

    def spill(self, most: int) -> list[Block]:
        """Return blocks of a tail that is longer than `most` lines: code by line, lists by item."""
        return list(self._spilt()) if len(self._lines) > most else []

    def _spilt(self, *, paragraphs: bool = False) -> Iterator[Block]:
        """Yield what can be printed of the tail: lines of code, items of a list, and `paragraphs` if asked for."""
        if self._fence and _FENCE.match(self._lines[0]):
            head, *code = self._lines
            head = head[:MAX_FENCE_CHARS]
            self._keep([head])
            if code:
                yield self._made("\n".join([head, *code, self._fence]), then_tight=True)
            return
        whole = len(self._lines) if paragraphs else 0
        if not self._fence and self._is_list():
            items = [number for number, line in enumerate(self._lines) if _ITEM.match(line)]
            whole = items[-1] or whole
        done, rest = self._lines[:whole], self._lines[whole:]
        if done:
            self._keep(rest)
            yield self._made("\n".join(done), then_tight=True)

    def _bounded(self, line: str) -> Iterator[Block]:
        """One more line; what has become too long is cut."""
        yield from self._line(line)
        self._size += len(line) + 1 if self._lines else 0
        if self._size > MAX_BLOCK_CHARS:
            yield from self._spilt(paragraphs=True)

    def _keep(self, lines: list[str]) -> None:
        self._lines, self._size = lines, sum(map(len, lines))

    def _line(self, line: str) -> Iterator[Block]:
        if self._fence:
            yield from self._in_fence(line)
        elif not line.strip():
            if self._is_list():
                self._lines.append("")  # an indented line after it still belongs to the item
            else:
                yield from self._take()
        else:
            yield from self._in_text(line)

    def _in_fence(self, line: str) -> Iterator[Block]:
        self._lines.append(line)
        if line.strip().startswith(self._fence) and not line.strip().strip(self._fence[0]):
            self._fence = ""
            if not self._is_list():
                yield from self._take()

    def _in_text(self, line: str) -> Iterator[Block]:
        fence = _FENCE.match(line)
        indented = line.startswith((" ", "\t"))
        after_blank = bool(self._lines) and not self._lines[-1]
        if not indented and (after_blank or fence or _HEADING.match(line)):
            yield from self._take()
        self._lines.append(line)
        if fence or (indented and _FENCE.match(line.lstrip())):
            self._fence = line.strip()[:3] if not fence else fence[1]
        elif _HEADING.match(line):
            yield from self._take()

    def _is_list(self) -> bool:
        return bool(self._lines) and bool(_ITEM.match(self._lines[0]))

    def _take(self) -> Iterator[Block]:
        lines = self._lines
        self._keep([])
        text = "\n".join(lines).strip("\n")
        if text.strip() and not (self.tight and _only_marks(lines)):
            yield self._made(text)
        self.tight = False

    def _made(self, text: str, *, then_tight: bool = False) -> Block:
        block = Block(text, self.tight)
        self.tight = then_tight
        return block


def _pieces(line: str) -> Iterator[str]:
    """A line, or the parts of one that is too long."""
    yield line[:MAX_BLOCK_CHARS]
    for at in range(MAX_BLOCK_CHARS, len(line), MAX_BLOCK_CHARS):
        yield line[at : at + MAX_BLOCK_CHARS]


def _only_marks(lines: list[str]) -> bool:
    """Whether these are only the marks of a fence whose code was printed already."""
    mark = _FENCE.match(lines[0])
    return mark is not None and all(line.strip().startswith(mark[1]) for line in lines[1:])
