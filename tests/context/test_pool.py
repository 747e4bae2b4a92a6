"""The pool of folded lines: each pass logs how it changed, and a reader of the log need not choose again."""

from collections.abc import Callable

import msgspec
import pytest
from msgspec.structs import replace

from outlive import events as ev
from outlive.context.engine import Engine
from outlive.context.log.pieces import Line
from outlive.context.passes.lines.pool import pool_of
from outlive.context.passes.lines.reuse_score import line_value, place_score
from outlive.context.policy import Policy
from tests.context.story import long_story
from tests.context.test_long import busy_story

WINDOW = 40_000
EAGER = Policy(name="eager", engage=0.5, tail_tokens=1500, tail=0.1)


def driven(rounds: int = 160) -> tuple[Engine, list[ev.Event]]:
    """A session with many passes, and its log; there is enough for one more."""
    engine, log = Engine(WINDOW, EAGER), list[ev.Event]()
    events = busy_story(rounds).events
    for number, event in enumerate(events):
        if isinstance(event, ev.AssistantSaid) and number < len(events) - 40:
            log += engine.next_request().new_events
        moved = replace(event, id=engine.history.last_id + 1)
        engine.append(moved)
        log.append(moved)
    return engine, log


def read(log: list[ev.Event]) -> Engine:
    engine = Engine(WINDOW, EAGER)
    engine.extend(ev.decode(ev.encode(event)) for event in log)
    return engine


def ids(engine: Engine) -> list[int]:
    return [line.id for line in engine.pool()]


def passes(log: list[ev.Event]) -> list[ev.Compacted]:
    return [event for event in log if isinstance(event, ev.Compacted)]


def test_a_reader_of_the_log_has_the_pool_that_the_planner_had() -> None:
    live, log = driven()
    changes = [made.pool for made in passes(log) if made.pool is not None]
    assert any(change.after and change.dropped for change in changes), "some are written as changes"
    assert len(ids(live)) > 50
    assert ids(read(log)) == ids(live)


def test_reading_a_log_reads_no_names_until_a_pass_needs_them() -> None:
    live, log = driven()
    fresh = read(log)
    assert msgspec.json.encode(fresh.shown()) == msgspec.json.encode(live.shown())
    assert not fresh.history.index.names
    assert msgspec.json.encode(fresh.compact("value_7")) == msgspec.json.encode(live.compact("value_7"))
    known, found = live.history.index.names, fresh.history.index.names
    assert {name: (seen.line, seen.times, seen.used) for name, seen in found.items()} == {
        name: (seen.line, seen.times, seen.used) for name, seen in known.items()
    }
    assert fresh.history.index.returns == live.history.index.returns


def test_names_that_wait_are_read_little_by_little_as_new_events_come() -> None:
    _, log = driven(60)
    fresh, whole = read(log), read(log)
    whole.history.index.catch_up()
    for event in long_story(20).events:
        fresh.append(replace(event, id=fresh.history.last_id + 1))
    assert fresh.history.index.names.keys() >= whole.history.index.names.keys()


def test_a_pass_that_was_taken_back_gives_back_the_pool_before_it() -> None:
    live, log = driven(64)
    before = ids(live)
    made = live.compact()
    assert made is not None
    assert ids(live) != before
    live.append(ev.Undone(id=made.id + 1, time=made.time, target=made.id))
    assert ids(live) == before
    assert ids(read([*log, made, ev.Undone(id=made.id + 1, time=made.time, target=made.id)])) == before


def without_pools(log: list[ev.Event]) -> list[ev.Event]:
    """As an older version would have written it."""
    return [replace(event, pool=None) if isinstance(event, ev.Compacted) else event for event in log]


def without_one(log: list[ev.Event]) -> list[ev.Event]:
    """The pass before the last was lost with its line; what it folded is folded by the last."""
    lost = passes(log)[-2]
    return [event for event in log if event is not lost]


@pytest.mark.parametrize("changed", [without_pools, without_one])
def test_where_the_log_does_not_tell_the_pool_the_next_pass_chooses_it_and_logs_it_whole(
    changed: Callable[[list[ev.Event]], list[ev.Event]],
) -> None:
    _, log = driven()
    log = changed(log)
    fresh = read(log)
    made = fresh.compact()
    assert made is not None
    assert made.pool is not None
    assert made.pool.after == 0
    assert len(ids(fresh)) > 50
    assert ids(read([*log, made])) == ids(fresh)


@pytest.mark.parametrize(
    "packed", [(2, 0, 1), (2, 0, 1, 0, 10**15), (2, 0, 10**9, 1, 1), (-5, 7, -1), (2,), (10**30,)]
)
def test_a_pool_that_makes_no_sense_is_read_within_bounds(packed: tuple[int, ...]) -> None:
    engine = Engine(WINDOW, EAGER)
    engine.extend(long_story(10).events)
    engine.history.index.catch_up()
    pieces = {piece.key: piece for unit in engine.history.units for piece in unit.pieces}
    found = pool_of([ev.PoolChange(added=packed, dropped=packed), ev.PoolChange(1, dropped=packed)], pieces)
    assert len(found) <= sum(len(piece.named) for piece in pieces.values())


def test_lines_of_the_pool_are_worth_what_a_new_look_at_them_finds() -> None:
    """Values are kept from pass to pass; whatever was mentioned since counts."""
    engine, checked = Engine(WINDOW, EAGER), 0
    for number, event in enumerate(busy_story(160).events):
        if isinstance(event, ev.AssistantSaid):
            engine.next_request()
        engine.append(replace(event, id=engine.history.last_id + 1))
        if number % 9:
            continue
        index = engine.history.index
        for line in engine.pool():
            place = place_score(index, line.piece)
            (again,) = line.piece.some_lines(line.at, line.at + 1)
            kept = Line(*(getattr(line, name) for name in Line.__struct_fields__))
            assert line_value(index, kept, place) == line_value(index, again, place)
            checked += line.valued_at >= index.settled_at
    assert checked > 1000


def test_a_receipt_names_the_handles_that_its_pass_added() -> None:
    engine, log = driven()
    made = [one for one in passes(log) if one.keeps]
    assert made
    for one in made:
        assert set(one.receipt.handles).issubset(map(int, _handles(one)))
    shown = engine.projection.visible
    assert len(made[-1].receipt.handles) < len(shown) / 2


def _handles(made: ev.Compacted) -> list[str]:
    text = "\n".join([made.words, made.digest, *(edit.text for edit in made.edits)])
    return [part.partition(" ")[0].partition("\n")[0].rstrip("].,:") for part in text.split("@h")[1:]]
