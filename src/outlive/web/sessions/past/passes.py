"""One pass: its receipt, the view before and after side by side, and what left."""

from bisect import bisect_right
from collections.abc import Sequence

import msgspec
from msgspec.structs import asdict, replace

from outlive.context.passes.departures import unit_departures
from outlive.context.projection import projection_of
from outlive.events import AssistantSaid, Compacted, Event, StateShown
from outlive.printable import one_line
from outlive.web.sessions.past.pairs import RowPair, paired
from outlive.web.sessions.past.replay import ReaderEngine, ReplayedPast, prompt_of, view_rows
from outlive.web.sessions.past.rows import MOST_HANDLES, ViewRow, row_of

LABEL = 200  # characters of what left
STATE = "state"
"""Role of the newest state block."""


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
    rendered = _state_after(log, event.id)
    if rendered is not None:
        states = [at for at, row in enumerate(rows[0]) if row.kind == "state"]
        if states:
            rows[0][states[-1]] = replace(rows[0][states[-1]], role=STATE)
        rows[1].append(rendered)
    return PassComparison(event, list(paired(*rows)), left)


def _state_after(log: Sequence[Event], id: int) -> ViewRow | None:
    """The state block that is rendered again for the first request after a pass."""
    for event in log[bisect_right(log, id, key=lambda event: event.id) :]:
        match event:
            case StateShown():
                return row_of("state", event.id, 0, event.text, label="state block, rendered again", role=STATE)
            case AssistantSaid() | Compacted():
                return None
            case _:
                pass
    return None
