"""In a list of alike lines the one unlike the others matters, also where it holds no name."""

import pytest

from outlive.context.engine import Engine
from outlive.context.log.pieces import Piece, make_piece
from outlive.context.passes.lines.name_index import NameIndex
from outlive.context.passes.lines.select import score
from outlive.context.passes.lines.shapes import shares_of_alike, telling_lines
from outlive.context.policy import TELLING, Policy
from tests.context.story import Story, body

OWNER = "the bay is rented by {}"
OWNERS = [f"{first} {last}" for first in ("Ilse", "Jorun", "Kirsti", "Lovis", "Milo") for last in "uvwxyz"]
CODE = """def parse(text):
    for line in text:
        if line:
            yield line
def other(text):
    for line in text:
        if line:
            return line
    raise ValueError(text)
def last(text):
    while text:
        text = text[1:]
"""


def rows(number: int, count: int = 12) -> list[str]:
    return [f"crate {number}-{row} checked, seal intact, {7 * row} kg" for row in range(count)]


def bay(number: int, owner: str) -> str:
    lines = rows(number)
    lines.insert(5, OWNER.format(owner))
    return "\n".join(lines)


def result(text: str, event: int = 1) -> Piece:
    return make_piece(event, 0, "result", text)


def told(*texts: str) -> list[str]:
    """The telling lines of results, the newest first."""
    pieces = [result(text, event) for event, text in enumerate(texts, 1)]
    return [line.text for line in telling_lines(reversed(pieces))]


def test_after_a_pass_the_newest_results_still_tell_what_was_special_in_them() -> None:
    engine, story = Engine(40_000, Policy(name="x", tail_tokens=300, tail=0.01, price=1.0)), Story()
    story.user("Look at every bay.")
    for number, owner in enumerate(OWNERS):
        story.step(bay(number, owner))
    engine.extend(story.events)
    event = engine.compact()
    assert event is not None
    kept = [OWNER.format(owner) in event.digest for owner in OWNERS[: event.receipt.units_folded - 1]]
    assert kept == [False] * (len(kept) - TELLING) + [True] * TELLING
    assert len(kept) > TELLING


def test_of_several_odd_lines_the_last_one_counts() -> None:
    assert told("\n".join(["Looking at bays:", *rows(1), "12 crates, 2 of them broken"])) == [
        "12 crates, 2 of them broken"
    ]


def test_a_short_result_tells_something_and_a_long_one_of_different_lines_does_not() -> None:
    assert told("nothing to commit, working tree clean") == ["nothing to commit, working tree clean"]
    assert told(CODE) == []


def test_what_looks_like_a_newer_line_tells_nothing() -> None:
    assert told("3 passed in 0.4 seconds", "71 passed in 12 seconds") == ["71 passed in 12 seconds"]
    assert told(rows(1)[0], "\n".join(rows(2))) == [], "a row alone is a row all the same"


@pytest.mark.parametrize("frame", ["Wall time 0.2 seconds", "Process exited with code 0", "{}", "ok", "----------"])
def test_frames_and_crumbs_tell_nothing(frame: str) -> None:
    assert told(frame) == []


def test_what_a_writing_call_answers_tells_nothing() -> None:
    piece = result("The file was changed as you wanted.")
    assert telling_lines([piece])
    piece.writes = True
    assert telling_lines([piece]) == []


def test_rows_of_a_list_are_worth_less_the_more_there_are() -> None:
    few, many = (shares_of_alike(result("\n".join(rows(1, count)))) for count in (5, 50))
    assert 1 > few[0] > many[0] > 0
    assert shares_of_alike(result(bay(1, "Ilse Varga"))).keys() == {*range(13)} - {5}
    assert shares_of_alike(result(body(1, 40))) == {}


def test_a_name_in_a_list_goes_before_the_same_kind_of_name_elsewhere() -> None:
    index = NameIndex()
    listed, others = result("\n".join(f"row {row}: value_{row:03}" for row in range(30))), result(body(1, 30), 2)
    for piece in (listed, others):
        index.add(piece)
    scored = score(index, [*listed.lines, *others.lines], lambda _: 1.0)
    assert {line.piece for _, _, line in scored[:30]} == {others}
    assert {line.piece for _, _, line in scored[30:]} == {listed}
