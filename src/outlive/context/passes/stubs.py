"""What a shrunken piece looks like: a header with size and handles, then the lines that were kept, verbatim."""

from collections.abc import Sequence

from outlive.context.log.pages import handle
from outlive.context.log.pieces import Line, Piece

GAP = "…"


def handles(piece: Piece) -> str:
    """The handles of a piece, as a view writes them."""
    return " ".join(map(handle, (*piece.pages, *piece.objects)))


def attached(piece: Piece) -> str:
    """The handles of the objects of a piece."""
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
                rows.append(GAP)
            rows.append(text if _starts_line(line) else GAP + text)
        previous = line
    return rows


def _starts_line(line: Line) -> bool:
    return line.start == 0 or line.piece.text[line.start - 1] == "\n"


def stub(piece: Piece, kept: Sequence[Line]) -> str:
    """A result in short."""
    return "\n".join([header(piece), *render_lines(kept)])
