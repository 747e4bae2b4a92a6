"""Pieces: the log cut into the smallest things that can be shown or left out, each with its lines and names."""

import json
from dataclasses import dataclass, field

from outlive.context.names import names
from outlive.context.tokens import CHARS_PER_TOKEN, estimate
from outlive.messages import Image, ToolCall

LONG_LINE = 360
SEGMENT = 200
SHORT_VALUE = 160
_BREAKS = " ,;|>}\t"

Kind = str
"""`user`, `said` (assistant text), `thought`, `call`, `result`, or `other`."""


@dataclass(slots=True, eq=False)
class Line:
    """A line of a piece (or a part of an overlong one) with the names in it."""

    piece: "Piece"
    number: int
    start: int
    end: int
    names: tuple[str, ...]
    id: int = -1

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
    label: str = ""
    tool: str = ""
    call_id: str = ""
    file: str = ""
    writes: bool = False
    recalled: bool = False
    """Asked for again, after it had left the view."""
    is_error: bool = False
    exit_code: int | None = None
    images: tuple[Image, ...] = ()
    lines: list[Line] = field(default_factory=list)
    line_count: int = 0
    pages: tuple[int, ...] = ()

    @property
    def key(self) -> tuple[int, int]:
        return self.event, self.block


def make_piece(event: int, block: int, kind: Kind, text: str) -> Piece:
    """A piece with its lines cut and its names read: the only time its text is looked at."""
    piece = Piece(event, block, kind, text, estimate(text))
    piece.lines, piece.line_count = cut_lines(piece)
    return piece


def cut_lines(piece: Piece) -> tuple[list[Line], int]:
    """All lines that are not blank; overlong ones in segments."""
    lines: list[Line] = []
    text = piece.text
    start = number = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        number += 1
        if end - start <= LONG_LINE:
            line = text[start:end]
            if line and not line.isspace():
                lines.append(Line(piece, number, start, end, names(line)))
        else:
            lines.extend(_segments(piece, number, start, end))
        start = end + 1
    return lines, number


def _segments(piece: Piece, number: int, start: int, end: int) -> list[Line]:
    found = []
    text = piece.text
    while start < end:
        stop = min(start + SEGMENT, end)
        if stop < end:
            room = text[stop : min(stop + SEGMENT // 2, end)]
            stop += next((i + 1 for i, char in enumerate(room) if char in _BREAKS), len(room))
        part = text[start:stop]
        if not part.isspace():
            found.append(Line(piece, number, start, stop, names(part)))
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
