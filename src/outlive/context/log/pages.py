"""Pages: the log, cut into numbered parts of at most 3,000 tokens, so that `recall` returns what left the view in one
small call. `@h12` is page 12. Pages depend on the log alone; a number never changes its meaning.

A large piece has pages of its own, whose texts put together are exactly the piece. Small neighbours share a page,
each whole and under a line that says what it is. Objects (pictures, blocks that only their
provider understands) have numbers that follow from their place in the log.

Numbers are counted, so what a damaged log has lost would shift all that follow. Each pass therefore logs the numbers
that were given since the one before (`unlogged`), and a reader that counted otherwise goes by those (`settle`).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter

from msgspec import Struct

from outlive.context.errors import UnknownHandle
from outlive.context.log.pieces import Piece, describe_object
from outlive.context.tokens import estimate
from outlive.messages import Image, Opaque

PAGE_TOKENS = 2900
"""`recall` returns a page in one small call. Pages of old logs are numbered by these two: they never change."""
OWN_PAGE_TOKENS = 900
"""Larger pieces have pages of their own."""
HANDLE = re.compile(r"@?h?([0-9]+)")
HANDLE_IN_TEXT = re.compile(r"@h([0-9]+)")


class Part(Struct, gc=False):
    """A span of a piece. There are very many, and none can be part of a cycle."""

    piece: Piece
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.piece.text[self.start : self.end]


class Page(Struct, gc=False):
    """What one handle stands for."""

    number: int
    shared: bool
    parts: tuple[Part, ...] = ()
    tokens: float = 0.0
    block: Image | Opaque | None = None
    """The object that it holds instead of text."""

    @property
    def text(self) -> str:
        if isinstance(self.block, Opaque):
            return json.dumps(self.block.data, ensure_ascii=False)
        if self.block is not None:
            return f"[{describe_object(self.block)}]"
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


def visible_pages(text: str) -> set[int]:
    """The pages whose handles stand in a text."""
    return set(map(int, HANDLE_IN_TEXT.findall(text)))


@lru_cache(maxsize=32)
def pages_of_segment(text: str) -> frozenset[int]:
    """The same for a part of a digest, which several passes ask about."""
    return frozenset(visible_pages(text))


class Pages:
    """All pages of a session, growing with its log."""

    def __init__(self) -> None:
        self._pages: dict[int, Page] = {}
        self._of: dict[tuple[int, int], tuple[int, ...]] = {}
        self._unlogged: dict[tuple[int, int], Piece] = {}
        self._newest = 0
        self._settled = 0
        """The newest page when the last pass was logged."""
        self._lost: dict[int, int] = {}
        """Pages whose event is missing in the log."""

    def add(self, piece: Piece) -> None:
        """Give a new piece its pages."""
        if piece.key not in self._of:
            self._of[piece.key] = self._numbers(piece)
            if self._of[piece.key]:
                self._unlogged[piece.key] = piece
        piece.pages = self._of[piece.key]
        for number, block in zip(piece.objects, piece.attached, strict=True):
            self._pages[number] = Page(number, shared=False, block=block)

    def _numbers(self, piece: Piece) -> tuple[int, ...]:
        if piece.kind == "object" or not piece.text:
            return ()
        return self._own(piece, self._newest + 1) if piece.tokens > OWN_PAGE_TOKENS else (self._share(piece),)

    def _own(self, piece: Piece, first: int) -> tuple[int, ...]:
        numbers = []
        for number, (start, end) in enumerate(_spans(piece.text), start=first):
            self._pages[number] = Page(number, shared=False, parts=(Part(piece, start, end),))
            numbers.append(number)
        self._newest = max(self._newest, *numbers)
        return tuple(numbers)

    def _share(self, piece: Piece, number: int = 0) -> int:
        """Put a small piece on page `number`; without one, on the newest if it has room, else on a new one."""
        page = self._pages.get(number or self._newest)
        tokens = piece.tokens + estimate(describe(piece)) + 2
        if page is None or (not number and (not page.shared or page.tokens + tokens > PAGE_TOKENS)):
            page = Page(number or self._newest + 1, shared=True)
            self._pages[page.number] = page
            self._newest = max(self._newest, page.number)
        page.parts += (Part(piece, 0, len(piece.text)),)
        page.tokens += tokens
        return page.number

    def unlogged(self) -> tuple[int, ...]:
        """The newest page, then event, block and first page of each piece that no pass has logged yet."""
        return (self._newest, *(n for key in self._unlogged for n in (*key, self._of[key][0])))

    def settle(self, logged: Sequence[int]) -> bool:
        """Go by the numbers that a pass has logged; whether any were counted otherwise."""
        if not logged:
            return False
        newest, *rest = logged
        wanted = {(event, block): first for event, block, first in _threes(rest)}
        same = all(self._of.get(key, (0,))[0] == first for key, first in wanted.items())
        if not same:
            self._renumber(wanted)
        self._unlogged = {key: piece for key, piece in self._unlogged.items() if key not in wanted}
        self._newest = self._settled = max(self._newest, newest) if same else newest
        return not same

    def _renumber(self, wanted: Mapping[tuple[int, int], int]) -> None:
        moved = self._unlogged
        for number in range(self._settled + 1, self._newest + 1):
            self._pages.pop(number, None)
        if (page := self._pages.get(self._settled)) is not None:
            page.parts = tuple(part for part in page.parts if part.piece.key not in moved)
        for key, first in wanted.items():
            if (piece := moved.get(key)) is None:
                self._lost[first] = key[0]
                continue
            piece.shortened = None  # it names the pages
            if piece.tokens > OWN_PAGE_TOKENS:
                piece.pages = self._of[key] = self._own(piece, first)
            else:
                piece.pages = self._of[key] = (self._share(piece, first),)

    def __len__(self) -> int:
        """The number of the newest page of text; objects are not counted."""
        return self._newest

    def get(self, ref: str | int) -> Page:
        """The page behind `@h12`, `h12`, `12`."""
        match = HANDLE.fullmatch(str(ref).strip())
        number = int(match[1]) if match else 0
        if number in self._pages:
            return self._pages[number]
        if 0 < number <= self._newest:
            owners = self._lost | {pages[0]: key[0] for key, pages in self._of.items() if pages}
            event = owners[max(first for first in owners if first <= number)]
            raise UnknownHandle(f"page @h{number} is lost: the text of event {event} is missing or damaged")
        raise UnknownHandle(f"no page {ref!r}: this session has @h1 to @h{self._newest}")

    def __iter__(self) -> Iterator[Page]:
        """Pages of text in order, then those of objects."""
        return iter(sorted(self._pages.values(), key=attrgetter("number")))


def _threes(numbers: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Three at a time."""
    return zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)


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
