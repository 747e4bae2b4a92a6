"""Pieces: the log cut into the smallest things that can be shown or left out, each with its lines and names."""

import json
from array import array
from dataclasses import dataclass
from struct import Struct as Packed

from msgspec import Struct

from outlive.context.passes.names import names
from outlive.context.policy import LINE_PART, LONG_LINE
from outlive.context.tokens import CHARS_PER_TOKEN, IMAGE_TOKENS, estimate
from outlive.messages import Image, Opaque, Origin, ToolCall

SHORT_VALUE = 160
"""Characters of a value that stands on the first line of a call."""
SPAN = Packed("=3I")
_BREAKS = " ,;|>}\t"

Kind = str
"""`user`, `said` (assistant text), `thought`, `call`, `result`, or `object` (what is no text)."""
OBJECTS = 1_000_000
"""Handles from here on stand for what is no text: a thousand for each event."""


class Line(Struct, eq=False):
    """A line of a piece (or a part of an overlong one) with the names in it."""

    piece: "Piece"
    number: int
    start: int
    end: int
    names: tuple[str, ...]
    id: int
    value: float = 0.0
    valued_at: int = -1
    """What it was worth when the log had so many pieces (`select`)."""

    @property
    def text(self) -> str:
        return self.piece.text[self.start : self.end]

    @property
    def cost(self) -> float:
        """Tokens, with the line end and a share of the gap mark."""
        return (self.end - self.start + 3) / CHARS_PER_TOKEN


@dataclass(slots=True, eq=False)
class Piece:
    """One block of one event as text."""

    event: int
    block: int
    kind: Kind
    text: str
    tokens: float
    at: float = 0.0
    """Tokens of the log before this piece."""
    origin: Origin = ""
    """Who a text in the user's turn is from."""
    label: str = ""
    tool: str = ""
    call_id: str = ""
    file: str = ""
    writes: bool = False
    recalled: bool = False
    """Asked for again, after it had left the view."""
    is_error: bool = False
    exit_code: int | None = None
    attached: tuple[Image | Opaque, ...] = ()
    """What is no text: pictures, and blocks that only their provider understands."""
    spans: bytes = b""
    """Number, start and end of each line, packed: a session has too many lines for an object each."""
    named: tuple[tuple[str, ...], ...] = ()
    """The names in each line."""
    first_line: int = -1
    """The id of the first line; those of the others follow."""
    line_count: int = 0
    pages: tuple[int, ...] = ()
    asked: tuple[tuple[str, ...], bool] | None = None
    """Cached answer: whether the piece contains one of these names."""
    rules: tuple[int, ...] | None = None
    """Which lines of the user's words are standing instructions, once somebody asked."""
    _lines: list[Line] | None = None

    @property
    def key(self) -> tuple[int, int]:
        return self.event, self.block

    @property
    def objects(self) -> tuple[int, ...]:
        """The handles of what is attached."""
        first = OBJECTS + 1000 * self.event + self.block
        return tuple(range(first, first + len(self.attached)))

    @property
    def lines(self) -> list[Line]:
        """All lines that are not blank, made when they are first asked for."""
        if self._lines is None:
            self._lines = self.some_lines(0, len(self.named))
        return self._lines

    def some_lines(self, start: int, stop: int) -> list[Line]:
        """A part of the lines, counted from 0."""
        if self._lines is not None:
            return self._lines[start:stop]
        spans = SPAN.iter_unpack(self.spans[SPAN.size * start : SPAN.size * stop])
        rows = enumerate(zip(spans, self.named[start:stop], strict=True), start=self.first_line + start)
        return [Line(self, number, begin, end, names, id) for id, ((number, begin, end), names) in rows]

    def line_text(self, at: int) -> str:
        """One line, counted from 0."""
        _, start, end = SPAN.unpack_from(self.spans, SPAN.size * at)
        return self.text[start:end]

    def forget_lines(self) -> None:
        """Let go of lines that are not likely to be asked for again."""
        self._lines = None


def make_piece(event: int, block: int, kind: Kind, text: str) -> Piece:
    """A piece with its lines cut and its names read: the only time its text is looked at."""
    piece = Piece(event, block, kind, text, estimate(text))
    _cut_lines(piece)
    return piece


def object_piece(event: int, block: int, attached: Image | Opaque) -> Piece:
    """A piece that is no text; it has no lines to choose from."""
    tokens = IMAGE_TOKENS if isinstance(attached, Image) else estimate(json.dumps(attached.data))
    return Piece(event, block, "object", describe_object(attached), tokens, attached=(attached,))


def describe_object(found: Image | Opaque) -> str:
    """What it is, in a few words."""
    if isinstance(found, Opaque):
        return f"block of {found.provider}: {found.data.get('type', 'unknown')}"
    size = f"{max(1, len(found.data) * 3 // 4 // 1024)} KB" if found.data else found.url
    return f"picture, {found.media_type}, {size}"


def _cut_lines(piece: Piece) -> None:
    """Find all lines that are not blank; overlong ones in segments."""
    spans: list[int] = []
    named: list[tuple[str, ...]] = []
    number = start = 0
    for line in piece.text.removesuffix("\n").split("\n") if piece.text else ():
        number += 1
        end = start + len(line)
        if end - start > LONG_LINE:
            for first, last in _segments(piece.text, start, end):
                spans += (number, first, last)
                named.append(names(piece.text[first:last]))
        elif line and not line.isspace():
            spans += (number, start, end)
            named.append(names(line))
        start = end + 1
    piece.spans, piece.named, piece.line_count = array("I", spans).tobytes(), tuple(named), number


def _segments(text: str, start: int, end: int) -> list[tuple[int, int]]:
    found = []
    while start < end:
        stop = min(start + LINE_PART, end)
        if stop < end:
            room = text[stop : min(stop + LINE_PART // 2, end)]
            stop += next((i + 1 for i, char in enumerate(room) if char in _BREAKS), len(room))
        if not text[start:stop].isspace():
            found.append((start, stop))
        start = stop
    return found


def call_text(call: ToolCall) -> str:
    """A call as text: short values as JSON on the first line, long or many-lined ones verbatim below."""
    short: dict[str, object] = {}
    long: list[tuple[str, str]] = []
    for key, value in call.input.items():
        if isinstance(value, str) and ("\n" in value or len(value) > SHORT_VALUE):
            long.append((key, value))
        else:
            short[key] = value
    head = f"{call.name} {json.dumps(short, ensure_ascii=False)}"
    return "\n".join([head, *(f"{key}:\n{value}" for key, value in long)])
