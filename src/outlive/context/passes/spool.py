"""Rung 0: what arrives too large is shown as a preview from the start, so that it never crowds out the rest."""

from collections.abc import Sequence

from outlive.context.log.pieces import Line, Piece
from outlive.context.passes.stubs import GAP, header
from outlive.context.passes.user_words import allowance, shorten
from outlive.context.policy import PREVIEW_HEAD, SMALLEST_PREVIEW


def spool(pieces: Sequence[Piece], room: float, most: float, spare: float = 0.0) -> dict[tuple[int, int], str]:
    """Previews for the largest of `pieces`, so that all of them fit into `room` tokens and most are whole.

    A preview has at most `most` tokens. Previews leave `spare` tokens of the room to others, as long as they are
    worth reading.
    """
    ordered = sorted(pieces, key=lambda piece: piece.tokens)
    whole = _whole([piece.tokens for piece in ordered], room)
    rest = ordered[whole:]
    left = room - sum(piece.tokens for piece in ordered[:whole])
    left = max(left - spare, min(left, SMALLEST_PREVIEW * len(rest)))
    cap = min(allowance([piece.tokens for piece in rest], left), most)
    return {piece.key: preview(piece, cap) for piece in rest if piece.tokens > cap}


def _whole(sizes: Sequence[float], room: float) -> int:
    """How many, smallest first, stay whole while each of the others gets a preview worth reading."""
    if sum(sizes) <= room:
        return len(sizes)
    for count, size in enumerate(sizes):
        room -= size
        if room < SMALLEST_PREVIEW * (len(sizes) - count - 1):
            return count
    return len(sizes)


def preview(piece: Piece, room: float) -> str:
    """Beginning and end of a result, under a header with its handles; of the user's words, the rules as well."""
    if piece.kind == "user":
        return shorten(piece, room - 10 - 2 * len(piece.pages))
    room = max(room - 40 - 2 * len(piece.pages), 40)
    head, used = _fill(piece.lines, room * PREVIEW_HEAD)
    tail, _ = _fill(list(reversed(piece.lines[len(head) :])), room - used)
    middle = [GAP] if len(head) + len(tail) < len(piece.lines) else []
    title = header(piece)[:-1] + " · preview, the rest by handle]"
    return "\n".join([title, *(line.text for line in head), *middle, *(line.text for line in reversed(tail))])


def _fill(lines: Sequence[Line], room: float) -> tuple[list[Line], float]:
    taken: list[Line] = []
    used = 0.0
    for line in lines:
        if used + line.cost > room:
            break
        taken.append(line)
        used += line.cost
    return taken, used
