"""Why a line was kept in a pass: the names of which it was the last mention, and how likely they were to be used.

The log does not say which lines a pass chose. Lines of the digest and of shortened results are found again by their
text in what they were taken from, and scored as the pass scored them: that follows from the log alone.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from outlive.context.engine import Engine
from outlive.context.log.pages import describe, handle
from outlive.context.log.pieces import Line, Piece
from outlive.context.passes.lines.name_index import NameIndex
from outlive.context.passes.lines.reuse_score import line_value, name_score, place_score
from outlive.context.passes.protect import Guarded, guarded, preserved, weigher
from outlive.context.passes.stubs import GAP
from outlive.events import Compacted
from outlive.printable import one_line

MOST = 400
"""Lines that are explained."""
MOST_NAMES = 12  # of a line, highest score first
LONGEST = 400  # characters of a line or name
_HANDLES = re.compile(r"(?:@h\d+ )*(?:· )?(?:@h\d+ )*")
_NOT_LINES = ("→ ", "User: ", "[")


class NameReason(msgspec.Struct, frozen=True):
    """A name on a kept line."""

    name: str
    last: bool
    """Whether this line was its last mention."""
    score: float
    """Its odds of being spelled by a later call, roughly; 0 if the last mention is elsewhere."""
    times: int
    used: int
    """How often a call had spelled it."""
    typed: bool
    """By the user."""


class KeptLine(msgspec.Struct, frozen=True):
    """A kept line and why."""

    text: str
    event: int
    what: str
    handles: tuple[str, ...]
    score: float
    """Odds per token, as lines compete."""
    names: tuple[NameReason, ...]
    why: str


def kept_lines(engine: Engine, event: Compacted) -> dict[str, Any]:
    """The lines that a pass kept. `engine` has seen all before the pass."""
    engine.history.index.catch_up()
    old = engine.projection
    units = engine.history.units
    folded = [piece for unit in units if unit.event <= event.fold_to for piece in unit.pieces if piece.kind != "user"]
    rows = list(_rows(event.digest))
    found = list(_found(rows, folded))
    unknown = len(set(rows) - {line.text for line in found})
    pieces = {piece.key: piece for unit in units for piece in unit.pieces}
    for edit in event.edits:
        piece = pieces.get((edit.event, edit.block))
        if piece is not None and old.edits.get(piece.key) != edit.text:
            found += _found(_rows(edit.text), [piece])
    state, ledger = engine.history.state, engine.history.ledger
    guard = guarded(state, ledger, event.focus)
    pinned = preserved(units, guard, engine.budget.words)
    explain = _Explaining(engine.history.index, guard, frozenset(pinned))
    return {"lines": [explain.line(line) for line in found[:MOST]], "total": len(found), "unexplained": unknown}


def _rows(text: str) -> Iterator[str]:
    """The rows of a digest or a stub that may be kept lines, as they were in their source."""
    for row in text.split("\n"):
        row = _HANDLES.sub("", row, count=1).removeprefix("Assistant: ")
        if row.strip() and row != GAP and not row.startswith(_NOT_LINES):
            yield row


def _found(rows: Iterable[str], pieces: Iterable[Piece]) -> list[Line]:
    """The newest lines with these texts, in the order of the log."""
    wanted = set(rows)
    found: dict[str, Line] = {}
    for piece in pieces:
        for at in range(len(piece.named)):
            text = piece.line_text(at)
            if text in wanted:
                (found[text],) = piece.some_lines(at, at + 1)
    return sorted(found.values(), key=lambda line: line.id)


class _Explaining:
    """The same sums as in a pass, name by name."""

    def __init__(self, index: NameIndex, guard: Guarded, pinned: frozenset[tuple[int, int]]) -> None:
        self._index = index
        self._weigh = weigher(guard)
        self._pinned = pinned

    def line(self, line: Line) -> KeptLine:
        index, piece = self._index, line.piece
        place = place_score(index, piece)
        value = line_value(index, line, place) * self._weigh(piece)
        names = sorted((self._name(line, name, place) for name in line.names), key=lambda one: -one.score)
        return KeptLine(
            text=one_line(line.text, LONGEST),
            event=piece.event,
            what=one_line(describe(piece), LONGEST),
            handles=tuple(map(handle, piece.pages)),
            score=round(value / line.cost, 5),
            names=tuple(names[:MOST_NAMES]),
            why=self._why(piece, sum(one.last for one in names)),
        )

    def _name(self, line: Line, name: str, place: float) -> NameReason:
        seen = self._index.names[name]
        last = seen.line == line.id
        score = round(name_score(self._index, name, seen) * place, 5) if last else 0.0
        return NameReason(one_line(name, LONGEST), last, score, seen.times, seen.used, seen.typed)

    def _why(self, piece: Piece, last: int) -> str:
        if piece.key in self._pinned:
            return "The session asked for this result to be kept whole."
        if piece.recalled:
            return "It had just been recalled, and what is recalled stays whole for a while."
        if last:
            return f"It was the last mention of {last} name{'s' if last > 1 else ''}."
        return (
            "The log does not tell: no name has its last mention here. It may belong to a text that was kept whole."
        )
