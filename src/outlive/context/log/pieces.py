"""Pieces: the log cut into the smallest things that can be shown or left out, each with its lines and names."""

import json
from array import array
from struct import Struct as Packed
from typing import NamedTuple

from msgspec import Struct

from outlive.context.passes.lines.names import names
from outlive.context.policy import LINE_PART, LONG_LINE
from outlive.context.tokens import CHARS_PER_TOKEN, IMAGE_TOKENS, estimate
from outlive.messages import Image, Opaque, Origin, ToolCall

SHORT_VALUE = 160
"""Characters of a value that stands on the first line of a call."""
SPAN = Packed("=3I")
_BREAKS = " ,;|>}\t"

Kind = str
"""`user`, `said` (assistant text), `thought`, `call`, `result`, or `object` (a picture, or a block that only its
provider understands)."""
OBJECTS = 1_000_000
"""The first handle of an object; each event has a thousand."""


class Line(Struct, eq=False, gc=False):
    """A line of a piece (or a part of an overlong one) with the names in it."""

    piece: "Piece"
    number: int
    start: int
    end: int
    names: tuple[str, ...]
    id: int
    cost: float
    """Tokens, with the line end and a share of the gap mark."""
    value: float = 0.0
    valued_at: int = -1
    """What it was worth when the log had so many pieces (`select`)."""
    worth: float = 0.0
    """The score of the names of which it is the last mention (`reuse_score`)."""
    live: int = 0
    """How many these are."""
    used: bool = False
    """Whether a call spelled any of its names."""
    until: float = 0.0
    """When the log has so many tokens, the use of a name is no longer recent."""

    @property
    def text(self) -> str:
        return self.piece.text[self.start : self.end]

    @property
    def at(self) -> int:
        """Which line of its piece it is, counted from 0."""
        return self.id - self.piece.first_line


class Shapes(NamedTuple):
    """What the lines of a result look like (`passes.lines.shapes`). Lines are counted from 0."""

    shares: dict[int, float]
    """What the lines of a list are worth, as a factor."""
    odd: dict[int, str]
    """The shapes of the lines that are unlike all others."""
    known: frozenset[str]
    """All shapes of a result in which an odd line would tell something."""


class Piece(Struct, eq=False, gc=False):
    """One block of one event as text. It points at nothing that could point back, so it is not tracked for cycles."""

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
    """Pictures, and blocks that only their provider understands."""
    unit: int = 0
    """The number of its unit in the session, counted from 0."""
    first_line: int = -1
    """The id of the first line, once the index has read the piece; those of the others follow."""
    pages: tuple[int, ...] = ()
    asked: tuple[tuple[str, ...], bool] | None = None
    """Cached answer: whether the piece contains one of these names."""
    rules: tuple[int, ...] = ()
    """Which lines of the user's words are standing instructions, of those that were looked at (`read_rules`)."""
    read_for_rules: int = 0
    shortened: tuple[float, tuple[int, ...], str] | None = None
    """Room, kept lines and outcome of the last `shorten`; passes often ask for the same again."""
    opening: float = -1.0
    """Cached: tokens of its label in a digest (`digest.opening_cost`); -1 before the first use."""
    shapes: Shapes | None = None
    """Cached: of the lines of a result."""
    _cut: tuple[bytes, tuple[tuple[str, ...], ...]] | None = None
    """Cached: `spans` and `named`."""

    @property
    def key(self) -> tuple[int, int]:
        return self.event, self.block

    @property
    def objects(self) -> tuple[int, ...]:
        """The handles of what is attached."""
        first = OBJECTS + 1000 * self.event + self.block
        return tuple(range(first, first + len(self.attached)))

    @property
    def spans(self) -> bytes:
        """Number, start and end of each line, packed: a session has too many lines for an object each."""
        if self._cut is None:
            self._cut = cut_lines(self.text)
        return self._cut[0]

    @property
    def named(self) -> tuple[tuple[str, ...], ...]:
        """The names in each line."""
        if self._cut is None:
            self._cut = cut_lines(self.text)
        return self._cut[1]

    @property
    def costs(self) -> list[float]:
        """Tokens of each line."""
        return [(end - begin + 3) / CHARS_PER_TOKEN for _, begin, end in SPAN.iter_unpack(self.spans)]

    @property
    def line_count(self) -> int:
        """Lines of the text, blank ones included."""
        return self.text.count("\n", 0, -1) + 1 if self.text else 0

    @property
    def lines(self) -> list[Line]:
        """All lines that are not blank."""
        return self.some_lines(0, len(self.named))

    def some_lines(self, start: int, stop: int) -> list[Line]:
        """A part of the lines, counted from 0. They are made each time: very many are looked at once."""
        spans = SPAN.iter_unpack(self.spans[SPAN.size * start : SPAN.size * stop])
        rows = enumerate(zip(spans, self.named[start:stop], strict=True), start=self.first_line + start)
        return [
            Line(self, number, begin, end, names, id, (end - begin + 3) / CHARS_PER_TOKEN)
            for id, ((number, begin, end), names) in rows
        ]

    def line_text(self, at: int) -> str:
        """One line, counted from 0."""
        _, start, end = SPAN.unpack_from(self.spans, SPAN.size * at)
        return self.text[start:end]


def make_piece(event: int, block: int, kind: Kind, text: str) -> Piece:
    """A piece of text; its lines are cut when somebody asks for them."""
    return Piece(event, block, kind, text, estimate(text))


def object_piece(event: int, block: int, attached: Image | Opaque) -> Piece:
    """A piece that is no text; it has no lines to choose from."""
    tokens = IMAGE_TOKENS if isinstance(attached, Image) else estimate(json.dumps(attached.data))
    return Piece(event, block, "object", describe_object(attached), tokens, attached=(attached,), _cut=(b"", ()))


def describe_object(found: Image | Opaque) -> str:
    """What it is, in a few words."""
    if isinstance(found, Opaque):
        return f"block of {found.provider}: {found.data.get('type', 'unknown')}"
    size = f"{max(1, len(found.data) * 3 // 4 // 1024)} KB" if found.data else found.url
    return f"picture, {found.media_type}, {size}"


def cut_lines(text: str) -> tuple[bytes, tuple[tuple[str, ...], ...]]:
    """Spans and names of all lines that are not blank; overlong ones in segments."""
    spans: list[int] = []
    named: list[tuple[str, ...]] = []
    start = 0
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), start=1):
        end = start + len(line)
        if end - start > LONG_LINE:
            for first, last in _segments(text, start, end):
                spans += (number, first, last)
                named.append(names(text[first:last]))
        elif line and not line.isspace():
            spans += (number, start, end)
            named.append(names(line))
        start = end + 1
    return array("I", spans).tobytes(), tuple(named)


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
