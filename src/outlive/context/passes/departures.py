"""What left the view in a pass. Nothing of it is stored: the log has the pass, and the rest follows from the past."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from outlive.context.log.pages import handle
from outlive.context.log.pieces import Piece
from outlive.context.log.units import Unit
from outlive.context.projection import Projection, projection_of, shown_tokens
from outlive.context.tokens import estimate
from outlive.events import Compacted

WORDS = 80
"""Characters of a text that tell a reader which it is."""
_KINDS = {"said": "answer: ", "thought": "thinking: ", "call": "call: ", "user": "user: "}


class Departure(Struct, frozen=True):
    """A piece that was shown before a pass and is not shown, or only in part, after it."""

    what: str
    event: int
    before: int
    after: int
    """Tokens that stayed in its place; 0 when it was folded into the digest."""
    handles: tuple[str, ...]


class UnitDeparture(Struct, frozen=True):
    """A unit of which something left."""

    unit: int
    """The event that it begins with."""
    what: str
    how: str
    """`folded` into the digest, or `shrunk` in its place."""
    before: int
    after: int
    handles: tuple[str, ...]


def piece_departures(event: Compacted, before: Projection, units: Iterable[Unit]) -> Iterator[Departure]:
    """Piece by piece. `before` is the projection that was in force until the pass."""
    for _, found in _by_unit(event, before, units):
        for piece, size, after in found:
            yield Departure(_what(piece), piece.event, round(size), round(after), _handles([piece]))


def unit_departures(event: Compacted, before: Projection, units: Iterable[Unit]) -> list[UnitDeparture]:
    """Unit by unit, oldest first."""
    return [
        UnitDeparture(
            unit=unit.event,
            what=_called(unit),
            how="folded" if unit.event <= event.fold_to else "shrunk",
            before=round(sum(size for _, size, _ in found)),
            after=round(sum(after for _, _, after in found)),
            handles=_handles(piece for piece, _, _ in found),
        )
        for unit, found in _by_unit(event, before, units)
    ]


_Found = list[tuple[Piece, float, float]]
"""Pieces with their tokens before and after."""


def _by_unit(event: Compacted, before: Projection, units: Iterable[Unit]) -> Iterator[tuple[Unit, _Found]]:
    after = projection_of(event, before)
    edits, digest = after.edits, after.digest
    for unit in units:
        if not before.fold_to < unit.event < event.id:
            continue
        found: _Found = []
        for piece in unit.pieces:
            text = edits.get(piece.key)
            if unit.event <= event.fold_to:
                if piece.kind != "user" or not (piece.text == event.request or piece.text in digest):
                    found.append((piece, shown_tokens(piece, before), 0.0))
            elif text is not None and text != before.edits.get(piece.key):
                found.append((piece, shown_tokens(piece, before), estimate(text)))
        if found:
            yield unit, found


def _called(unit: Unit) -> str:
    """A unit in a line: its calls, else its first words."""
    calls = [piece.label for piece in unit.calls.values()]
    if calls:
        return calls[0] + (f" (+{len(calls) - 1} more)" if len(calls) > 1 else "")
    return _what(unit.pieces[0]) if unit.pieces else unit.kind


def _what(piece: Piece) -> str:
    words = " ".join(piece.text[: 5 * WORDS].split())[:WORDS]
    label = f"{piece.label}: {words}" if piece.label and " " not in piece.label else piece.label or words
    return _KINDS.get(piece.kind, "") + label


def _handles(pieces: Iterable[Piece]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(handle(page) for piece in pieces for page in piece.pages))
