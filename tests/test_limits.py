"""Limits as policies: which steps they let pass and which they do not."""

from itertools import cycle, islice
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from outlive.events import Compacted, Receipt
from outlive.limits import MAX_ROUND_STEPS, Money, Repetition, Round, Thrashing, Tokens
from outlive.messages import ToolCall
from outlive.request import Request
from outlive.tools.protocol import ToolOutcome

MAX_TURNS = 6


def step(name: str, outcome: str = "same") -> Round:
    return Round((ToolCall(f"id {outcome}", name, {"of": name}),), (ToolOutcome(outcome),))


def names_of(length: int) -> list[str]:
    return [f"tool_{number}" for number in range(length)]


@given(length=st.integers(1, MAX_ROUND_STEPS), before=st.lists(st.sampled_from("abcdefgh"), max_size=12))
def test_a_round_of_any_length_up_to_five_ends_after_so_many_times(length: int, before: list[str]) -> None:
    limit = Repetition(MAX_TURNS)
    for number, name in enumerate(before):
        assert not limit.after(step(name, f"outcome {number}"))
    said = [limit.after(step(name)) for name in islice(cycle(names_of(length)), length * MAX_TURNS)]
    assert said[:-1] == [""] * (length * MAX_TURNS - 1)
    assert f"{MAX_TURNS} times in a row" in said[-1]
    assert all(name in said[-1] for name in names_of(length))


@given(length=st.integers(1, MAX_ROUND_STEPS), rounds=st.integers(1, 4 * MAX_TURNS), at=st.data())
def test_a_round_in_which_one_outcome_differs_each_time_is_progress(
    length: int, rounds: int, at: st.DataObject
) -> None:
    limit = Repetition(MAX_TURNS)
    changing = at.draw(st.integers(0, length - 1))
    for number in range(rounds):
        for place, name in enumerate(names_of(length)):
            assert not limit.after(step(name, f"outcome {number}" if place == changing else "same"))


@given(length=st.integers(1, MAX_ROUND_STEPS))
def test_the_model_is_told_once_halfway(length: int) -> None:
    limit = Repetition(MAX_TURNS)
    hints = []
    for name in islice(cycle(names_of(length)), length * MAX_TURNS - 1):
        limit.after(step(name))
        hints.append(limit.hint())
    assert [number for number, hint in enumerate(hints, 1) if hint] == [length * MAX_TURNS // 2]
    assert "Try something else" in "".join(hints)


def test_a_longer_round_than_five_is_not_taken_for_one() -> None:
    limit = Repetition(MAX_TURNS)
    assert not any(limit.after(step(name)) for name in islice(cycle(names_of(MAX_ROUND_STEPS + 1)), 100))


def test_a_call_is_the_same_in_whatever_order_its_arguments_are() -> None:
    limit = Repetition(2)
    first, second = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    said = [limit.after(Round((ToolCall("", "look", given),), (ToolOutcome("same"),))) for given in (first, second)]
    assert [bool(text) for text in said] == [False, True]


def test_a_limit_too_small_for_a_halfway_gives_no_hint() -> None:
    limit = Repetition(3)
    assert [(limit.after(step("a")), limit.hint()) for _ in range(2)] == [("", ""), ("", "")]
    assert "3 times in a row" in limit.after(step("a"))


def test_money_and_tokens_count_from_the_start_of_the_run_and_end_it_exactly_at_the_limit() -> None:
    spending, request = SimpleNamespace(dollars=5.0, tokens=500), request_after()
    money, tokens = Money(0.5, spending), Tokens(100, spending)
    spending.dollars, spending.tokens = 5.25, 599
    assert (money.before(request), tokens.before(request)) == ("", "")
    spending.dollars, spending.tokens = 5.5, 600
    assert money.before(request) == "$0.50 are spent, the limit is $0.50"
    assert tokens.before(request) == "100 tokens are used, the limit is 100"


def request_after(*rungs: str) -> Request:
    made = Compacted(id=1, time=0.0, fold_to=0, digest="", edits=(), receipt=Receipt(rungs, "pressure", 9, 1))
    return Request("", (), (), "", 0, (made,) if rungs else ())


def test_the_window_is_too_small_at_exactly_so_many_passes_of_the_last_requests() -> None:
    limit = Thrashing(most=3, of=4)
    said = [limit.before(request_after(*rungs)) for rungs in (["micro"], [], ["micro"], ["micro"])]
    assert [bool(text) for text in said] == [False, False, False, True]
    assert said[-1].startswith("3 of the last 4 requests")


def test_passes_far_apart_and_previews_do_not_count_as_a_window_too_small() -> None:
    limit = Thrashing(most=3, of=4)
    for rungs in (["micro"], [], ["micro"], [], ["micro"], ["spool"], ["spool"], ["spool"]):
        assert not limit.before(request_after(*rungs))
