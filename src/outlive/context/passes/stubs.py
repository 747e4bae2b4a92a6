"""What a shrunken piece looks like: a header with size and handles, then the lines that were kept, verbatim."""

import re
from collections.abc import Sequence

from outlive.context.pages import handle
from outlive.context.pieces import Line, Piece

GAP = "…"
NUMBER_AND_INDENT = re.compile(r"\s*(?:[0-9]+[→\t:|])?(\s*)")
_DEFINITION = re.compile(
    r"\s*(?:[0-9]+[→:\t|]\s*)?(?:export |pub(?:\([a-z]+\))? |public |private |static |async |default )*"
    r"(?:def|class|func|fn|function|impl|struct|enum|trait|interface|type|module|defmodule|defp?) +(?:\([^)]*\) *)?"
    r"([A-Za-z_][\w.:!?]*)"
)
LOOK_BACK = 60
"""Lines to look back for the definition that a kept line stands in."""


def handles(piece: Piece) -> str:
    """The handles of a piece, as a view writes them."""
    return " ".join(map(handle, (*piece.pages, *piece.objects)))


def attached(piece: Piece) -> str:
    """The handles of what is no text in a piece."""
    return " ".join(map(handle, piece.objects))


def outcome(piece: Piece) -> str:
    """How a result ended, when that is not a plain success."""
    if piece.exit_code:
        return f"exit {piece.exit_code}"
    return "error" if piece.is_error else ""


def header(piece: Piece) -> str:
    """`[read_file src/app.py · 412 lines · @h12 @h13]`."""
    size = f"{piece.line_count} lines" if piece.line_count != 1 else f"{len(piece.text)} characters"
    pictures = f"{len(piece.attached)} pictures" if piece.attached else ""
    parts = (piece.label[:60], outcome(piece), size, pictures, handles(piece))
    return "[" + " · ".join(part for part in parts if part) + "]"


def render_lines(kept: Sequence[Line]) -> list[str]:
    """Kept lines in order, gaps marked, parts of one overlong line on one line."""
    rows: list[str] = []
    previous: Line | None = None
    for line in kept:
        text = line.text
        if previous is not None and line.number == previous.number:
            rows[-1] += text if line.start == previous.end else GAP + text
        else:
            if line.number != (previous.number if previous else 0) + 1:
                rows.append(gap_before(line, previous))
            rows.append(text if _starts_line(line) else GAP + text)
        previous = line
    return rows


def gap_before(line: Line, previous: Line | None) -> str:
    """The mark of a gap, with the name of the definition that the next line stands in, if that is not shown."""
    indent = _indent(line.text)
    if not indent or not line.piece.file:
        return GAP
    piece = line.piece
    at = line.id - piece.first_line
    stop = previous.id - piece.first_line if previous else -1
    for other in range(at - 1, max(at - LOOK_BACK, stop + 1, 0) - 1, -1):
        text = piece.line_text(other)
        found = _DEFINITION.match(text)
        if found and _indent(text) < indent:
            return f"{GAP} {found[1]}"
    return GAP


def _indent(text: str) -> int:
    found = NUMBER_AND_INDENT.match(text)
    return len(found[1].expandtabs(4)) if found else 0


def _starts_line(line: Line) -> bool:
    return line.start == 0 or line.piece.text[line.start - 1] == "\n"


def stub(piece: Piece, kept: Sequence[Line]) -> str:
    """A result in short."""
    return "\n".join([header(piece), *render_lines(kept)])
