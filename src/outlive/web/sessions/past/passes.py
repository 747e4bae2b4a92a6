"""One pass: its receipt, the view before and after side by side, and what left."""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
from msgspec.structs import asdict

from outlive.context.passes.departures import unit_departures
from outlive.context.projection import projection_of
from outlive.events import Compacted, Event
from outlive.printable import one_line
from outlive.web.sessions.past.replay import ReaderEngine, ReplayedPast, prompt_of, view_rows
from outlive.web.sessions.past.rows import MOST_HANDLES, SentRow, ViewRow, sent

Change = Literal["same", "shrunk", "left", "new"]
LABEL = 200


class RowPair(msgspec.Struct, frozen=True):
    """A block before and after a pass."""

    change: Change
    before: ViewRow | None
    after: ViewRow | None


class SentPair(msgspec.Struct, frozen=True, omit_defaults=True):
    """A pair as it is sent; of a block that stayed as it was, one side."""

    number: int
    change: Change
    before: SentRow | None = None
    after: SentRow | None = None


class PassComparison(msgspec.Struct, frozen=True):
    """A pass, all of it."""

    event: Compacted
    pairs: list[RowPair]
    left: list[dict[str, object]]


def compare(log: Sequence[Event], past: ReplayedPast, event: Compacted, *, taken_back: bool) -> PassComparison:
    """What a pass changed. `past` has seen the log; a pass that was `taken_back` with its past is replayed."""
    if taken_back:
        engine = ReaderEngine()
        for one in log:
            if one.id >= event.id:
                break
            engine.append(one)
        units, prompt, before = engine.history.units, prompt_of(engine), engine.projection
    else:
        units, prompt, before = (
            past.units_before(event.id),
            past.prompt_before(event.id),
            past.projection_before(event.id),
        )
    after = projection_of(event, before)
    left = [
        asdict(unit) | {"what": one_line(unit.what, LABEL), "handles": unit.handles[:MOST_HANDLES]}
        for unit in unit_departures(event, before, units)
    ]
    rows = [list(view_rows(units, prompt, projection, event.id)) for projection in (before, after)]
    return PassComparison(event, list(_paired(*rows)), left)


def _paired(before: list[ViewRow], after: list[ViewRow]) -> Iterator[RowPair]:
    """Blocks of both views in one order; what is in both is in the same order in both."""
    in_before, in_after = {row.key for row in before}, {row.key for row in after}
    new = iter(after)
    following = next(new, None)
    for row in before:
        while following is not None and following.key not in in_before:
            yield RowPair("new", None, following)
            following = next(new, None)
        if row.key not in in_after:
            yield RowPair("left", row, None)
        elif following is not None:
            yield RowPair("same" if following.text == row.text else "shrunk", row, following)
            following = next(new, None)
    while following is not None:
        yield RowPair("new", None, following)
        following = next(new, None)


def sent_pairs(pairs: Sequence[RowPair], skip: int, limit: int, change: str) -> dict[str, object]:
    """A page of pairs; with `change` only of those that changed so."""
    counts = {name: sum(pair.change == name for pair in pairs) for name in ("same", "shrunk", "left", "new")}
    chosen = [(number, pair) for number, pair in enumerate(pairs) if not change or pair.change == change]
    page = [
        SentPair(
            number,
            pair.change,
            sent(pair.before, number) if pair.before is not None else None,
            sent(pair.after, number) if pair.after is not None and pair.change != "same" else None,
        )
        for number, pair in chosen[skip : skip + limit]
    ]
    return {
        "pairs": page,
        "counts": counts,
        "total": len(chosen),
        "next": skip + limit if skip + limit < len(chosen) else None,
    }
