"""Pages: the log once more, cut into numbered parts of at most 3,000 tokens, so that whatever leaves the view can be
had back with one small call. `@h12` is page 12. Pages depend on the log alone; a number never changes its meaning.

A large piece has pages of its own, whose texts put together are exactly the piece. Small neighbours share a page,
each whole and under a line that says what it is.
"""

import re
from dataclasses import dataclass, field

from msgspec import Struct

from outlive.context.errors import UnknownHandle
from outlive.context.pieces import Piece
from outlive.context.tokens import estimate

PAGE_TOKENS = 2900
OWN_PAGE_TOKENS = 900
_HANDLE = re.compile(r"@?h?([0-9]+)")
HANDLE_IN_TEXT = re.compile(r"@h([0-9]+)")


class Part(Struct, gc=False):
    """A span of a piece. There are very many, and none can be part of a cycle."""

    piece: Piece
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.piece.text[self.start : self.end]


@dataclass(slots=True)
class Page:
    """What one handle stands for."""

    number: int
    shared: bool
    parts: list[Part] = field(default_factory=list)
    tokens: float = 0.0

    @property
    def text(self) -> str:
        if not self.shared:
            return "".join(part.text for part in self.parts)
        return "\n".join(f"[{describe(part.piece)}]\n{part.text}" for part in self.parts)


def describe(piece: Piece) -> str:
    """What a piece is, in one line."""
    what = {"user": "user", "said": "assistant", "thought": "thinking"}.get(piece.kind, piece.kind)
    return f"event {piece.event} · {what}" + (f" · {piece.label}" if piece.label else "")


def handle(number: int) -> str:
    """How a view writes a page number."""
    return f"@h{number}"


class Pages:
    """All pages of a session, growing with its log."""

    def __init__(self) -> None:
        self._pages: list[Page] = []
        self._of: dict[tuple[int, int], tuple[int, ...]] = {}

    def add(self, piece: Piece) -> None:
        """Give a new piece its pages."""
        if piece.key not in self._of:
            if piece.tokens > OWN_PAGE_TOKENS:
                numbers = self._own(piece)
            else:
                numbers = (self._share(piece),) if piece.text else ()
            self._of[piece.key] = numbers
        piece.pages = self._of[piece.key]

    def _own(self, piece: Piece) -> tuple[int, ...]:
        numbers = []
        for start, end in _spans(piece.text):
            page = self._new(shared=False)
            page.parts.append(Part(piece, start, end))
            numbers.append(page.number)
        return tuple(numbers)

    def _share(self, piece: Piece) -> int:
        page = self._pages[-1] if self._pages else None
        tokens = piece.tokens + estimate(describe(piece)) + 2
        if page is None or not page.shared or page.tokens + tokens > PAGE_TOKENS:
            page = self._new(shared=True)
        page.parts.append(Part(piece, 0, len(piece.text)))
        page.tokens += tokens
        return page.number

    def _new(self, *, shared: bool) -> Page:
        self._pages.append(Page(len(self._pages) + 1, shared))
        return self._pages[-1]

    def __len__(self) -> int:
        return len(self._pages)

    def get(self, ref: str | int) -> Page:
        """The page behind `@h12`, `h12`, `12`."""
        match = _HANDLE.fullmatch(str(ref).strip())
        number = int(match[1]) if match else 0
        if not 1 <= number <= len(self._pages):
            raise UnknownHandle(f"no page {ref!r}: this session has @h1 to @h{len(self._pages)}")
        return self._pages[number - 1]


def _spans(text: str) -> list[tuple[int, int]]:
    """Cut at line ends where possible, so that no page is too large and none is a crumb."""
    size = max(1, round(len(text) * PAGE_TOKENS / max(estimate(text), 1)))
    count = -(-len(text) // size)
    size = -(-len(text) // count)
    spans = []
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            newline = text.rfind("\n", start + size // 2, end)
            end = newline + 1 if newline >= 0 else end
        while estimate(text[start:end]) > PAGE_TOKENS:  # scripts may be mixed unevenly
            end = start + (end - start) * 3 // 4
        spans.append((start, end))
        start = end
    return spans
