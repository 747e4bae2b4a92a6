"""Lines are kept while they are worth their price, not until the room is full."""

from itertools import pairwise

import pytest

from outlive.context.engine import Engine
from outlive.context.log.pieces import Line
from outlive.context.passes.lines.select import take
from outlive.context.policy import RICH, Policy, budget_for
from tests.context.story import long_story


def scored(engine: Engine) -> list[tuple[float, int, Line]]:
    lines = [line for unit in engine.history.units for piece in unit.pieces for line in piece.lines]
    return [(-1.0 / (1 + number), -line.id, line) for number, line in enumerate(lines)]


def test_nothing_below_the_price_is_taken_however_much_room_there_is() -> None:
    engine = Engine(100_000)
    engine.extend(long_story(4).events)
    lines = scored(engine)
    kept = take(lines, 1e9, lambda _: 0.0, 0.05)
    assert kept.count == sum(-density >= 0.05 for density, _, _ in lines)
    assert take(lines, 1e9, lambda _: 0.0).count == len(lines)


def test_a_higher_price_keeps_fewer_lines_in_the_same_room() -> None:
    def kept(price: float) -> int:
        engine = Engine(100_000, Policy(name="x", price=price))
        engine.extend(long_story(60).events)
        made = engine.compact()
        assert made is not None
        return made.receipt.lines_kept

    counts = [kept(price) for price in (0.0, 0.05, 0.2, 1.0)]
    assert all(more >= fewer for more, fewer in pairwise(counts))
    assert counts[0] > counts[-1]


def test_in_a_large_window_lines_are_kept_at_a_lower_price() -> None:
    price = RICH.price
    windows = (20_000, 100_000, 150_000, 200_000, 1_000_000)
    expected = [price, price, price * 5 / 6, price * 2 / 3, price * 2 / 3]
    assert [budget_for(window, RICH).price for window in windows] == pytest.approx(expected)
