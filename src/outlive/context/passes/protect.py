"""What a pass protects: results that the session preserves or has just recalled, and what open work names.

Preserved and recalled results stay whole, each kind within a share of the window. Lines of files that were edited
recently, or that an open task names, get a higher weight.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from outlive.context import policy
from outlive.context.ledger import Ledger
from outlive.context.log.pages import handle
from outlive.context.log.pieces import Piece
from outlive.context.log.units import Unit
from outlive.context.passes.lines.names import names
from outlive.state import WorkingState

Pinned = dict[tuple[int, int], Piece]


@dataclass(frozen=True, slots=True)
class Guarded:
    """What the state and the ledger ask to protect."""

    refs: frozenset[str] = frozenset()
    """Call ids, handles and files that the session wants preserved."""
    edited: frozenset[str] = frozenset()
    named: tuple[str, ...] = ()
    """Names that open tasks spell."""
    focus: tuple[str, ...] = ()
    """Words of a manual pass."""


def guarded(state: WorkingState, ledger: Ledger, focus: str = "") -> Guarded:
    """Collect what the state and the ledger ask to protect."""
    subjects = [task.subject for task in state.tasks]
    return Guarded(
        refs=frozenset(state.preserved_refs),
        edited=frozenset(islice(reversed(ledger.written), policy.EDITED_FILES)),
        named=tuple(dict.fromkeys(name for subject in subjects for name in names(subject))),
        focus=tuple(word for word in focus.lower().split() if len(word) > 3),
    )


def weigher(guard: Guarded) -> Callable[[Piece], float]:
    """The weight of the lines of a piece: above 1 if it is protected."""

    def weigh(piece: Piece) -> float:
        weight = policy.THOUGHT if piece.kind == "thought" else 1.0
        if piece.file and piece.file in guard.refs:
            weight *= policy.PRESERVED
        if piece.file and piece.file in guard.edited:
            weight *= policy.EDITED
        if guard.named and _spells(piece, guard.named):
            weight *= policy.OPEN_TASK
        if guard.focus and any(word in piece.text.lower() for word in guard.focus):
            weight *= policy.FOCUS
        return weight

    return weigh


def _spells(piece: Piece, wanted: tuple[str, ...]) -> bool:
    """Whether a piece contains one of the names. Cached: open tasks change less often than passes are made."""
    if piece.asked is None or piece.asked[0] != wanted:
        piece.asked = wanted, any(name in piece.text for name in wanted)
    return piece.asked[1]


def preserved(units: Sequence[Unit], guard: Guarded, room: float) -> Pinned:
    """The results of `units` that the session asked to preserve, by call id or handle; the newest first."""
    if not guard.refs:
        return {}
    return _fill((piece for piece in _results(units) if _is_named(piece, guard.refs)), room)


def recalled(units: Sequence[Unit], room: float) -> Pinned:
    """The results of `units` that were recalled: a model that asked for them again still needs them."""
    return _fill((piece for piece in _results(units) if piece.recalled), room)


def _results(units: Sequence[Unit]) -> Iterable[Piece]:
    return (piece for unit in reversed(units) for piece in unit.pieces if piece.kind == "result")


def _is_named(piece: Piece, refs: frozenset[str]) -> bool:
    return piece.call_id in refs or any(handle(page) in refs for page in piece.pages)


def _fill(pieces: Iterable[Piece], room: float) -> Pinned:
    found: Pinned = {}
    for piece in pieces:
        if piece.tokens <= room:
            found[piece.key] = piece
            room -= piece.tokens
    return found
