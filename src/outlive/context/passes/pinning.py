"""Results that a session keeps whole on request, named by a handle or a call id, and how much room they take.

A kept result stays whole through every pass, so there are few: a bounded number of references, and of the
room that passes leave for it (`protect.preserved`) only a part, because the token count may be corrected later.
"""

from collections.abc import Sequence

from msgspec import Struct

from outlive.context.engine import Engine
from outlive.context.errors import ContextError
from outlive.context.log.pages import HANDLE, handle
from outlive.context.log.pieces import Piece
from outlive.context.log.units import Unit
from outlive.context.passes.protect import Guarded, preserved
from outlive.context.policy import PINNED_SHARE

MOST = 20
"""References: they are listed in every request."""


class KeepRefused(ContextError):
    """Something that cannot be kept whole, or let go; nothing was changed."""


class Kept(Struct, frozen=True):
    """One result that is kept whole."""

    ref: str
    what: str
    handles: tuple[str, ...]
    tokens: int
    in_view: bool
    """Whether it is whole in the view now; if not, the next pass brings it back."""
    fits: bool
    """False if the window is too small for it now: then only its lines and handles stay, as of any other result."""


def room_to_keep(engine: Engine) -> int:
    """How many tokens may be kept whole in all."""
    return engine.meter.tokens(PINNED_SHARE * engine.budget.words)


def kept(engine: Engine) -> tuple[Kept, ...]:
    """What is kept now, in the order in which it was asked for."""
    units, refs = engine.history.units, engine.history.state.preserved_refs
    whole = preserved(units, Guarded(refs=frozenset(refs)), engine.budget.words)
    found: dict[tuple[int, int], Kept] = {}
    for ref in refs:
        for piece in _named(units, ref):
            found.setdefault(
                piece.key,
                Kept(
                    ref=ref,
                    what=piece.label,
                    handles=tuple(map(handle, piece.pages)),
                    tokens=engine.meter.tokens(piece.tokens),
                    in_view=_in_view(engine, piece),
                    fits=piece.key in whole,
                ),
            )
    return tuple(found.values())


def changed(engine: Engine, keep: Sequence[str], let_go: Sequence[str]) -> tuple[str, ...]:
    """The references to keep from now on: those there are, without `let_go`, and `keep`. Raises KeepRefused."""
    units = engine.history.units
    refs = list(engine.history.state.preserved_refs)
    for text in let_go:
        gone = _let_go(units, refs, text)
        refs = [ref for ref in refs if ref not in gone]
    for text in keep:
        ref = _known(units, text, len(engine.history.pages))
        refs = [*(old for old in refs if old != ref), ref]
    if len(refs) > MOST:
        raise KeepRefused(f"{len(refs)} references would be kept, at most {MOST} can be; let go of some")
    pieces = {piece.key: piece for ref in refs for piece in _named(units, ref)}
    size, room = engine.meter.tokens(sum(piece.tokens for piece in pieces.values())), room_to_keep(engine)
    if size > room and keep:
        raise KeepRefused(
            f"that would keep {size:,} tokens whole, and {room:,} of this window can be; let go of something, or "
            "note the few lines that matter in the scratchpad (update_plan); recall gives back the rest"
        )
    return tuple(refs)


def _in_view(engine: Engine, piece: Piece) -> bool:
    """Whether nothing of it is missing: in its place, or in the digest."""
    in_place = any(piece in unit.pieces for unit in engine.history.units[engine.folded :])
    if in_place:
        return piece.key not in engine.projection.edits
    return piece.text in engine.projection.digest


def _known(units: Sequence[Unit], text: str, pages: int) -> str:
    """A reference as the state has it, or why there is nothing to keep behind it."""
    ref = _normal(units, text)
    if _named(units, ref):
        return ref
    if (found := HANDLE.fullmatch(ref)) is None:
        raise KeepRefused(f"no result has the call id {text[:80]!r}; give a handle such as @h12, or the id of a call")
    if 1 <= int(found[1]) <= pages:
        raise KeepRefused(
            f"{ref} holds no tool result of this conversation; the user's words stay anyway, and of the rest note "
            "what matters in the scratchpad (update_plan)"
        )
    known = f"this session has @h1 to @h{pages}" if pages else "this session has none yet"
    raise KeepRefused(f"no handle {text[:80]!r}: {known}")


def _let_go(units: Sequence[Unit], refs: Sequence[str], text: str) -> set[str]:
    """The references that keep what is meant, whichever of its handles was given."""
    ref = _normal(units, text)
    meant = {piece.key for piece in _named(units, ref)}
    gone = {old for old in refs if old == ref or any(piece.key in meant for piece in _named(units, old))}
    if not gone:
        raise KeepRefused(f"{text[:80]!r} is not kept; kept are: {', '.join(refs) or 'none'}")
    return gone


def _normal(units: Sequence[Unit], text: str) -> str:
    text = text.strip()
    found = HANDLE.fullmatch(text)
    if found and not any(text in unit.results for unit in units):
        return handle(int(found[1]))
    return text


def _named(units: Sequence[Unit], ref: str) -> list[Piece]:
    """The results behind a reference."""
    pieces = (piece for unit in units for piece in unit.pieces if piece.kind == "result")
    return [piece for piece in pieces if piece.call_id == ref or any(handle(page) == ref for page in piece.pages)]
