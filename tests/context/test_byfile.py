"""Lines of one file from several results stand together in the digest, unless the file was written in between."""

from outlive import events as ev
from outlive.context.engine import Engine
from outlive.context.policy import Policy
from outlive.messages import ToolCall
from tests.context.story import Story, body

POLICY = Policy(name="x", tail_tokens=600, tail=0.05, lines=0.3)


def listing(first: int, last: int) -> str:
    """Every other line has a name worth keeping."""
    rows = (f"value_{number}_x = 1" if number % 2 else "    pass and go on" for number in range(first, last))
    return "\n".join(f"{number:>5}→{row}" for number, row in enumerate(rows, first))


def digest(*, edited: bool) -> str:
    story, engine = Story(), Engine(40_000, POLICY)
    story.user("Look at it.")
    calls = [("read", listing(100, 120)), ("read", listing(10, 30))]
    calls.insert(1, ("edit", "ok") if edited else ("test", "ok"))
    for number, (tool, text) in enumerate(calls):
        story.add(ev.AssistantSaid, blocks=(ToolCall(f"c{number}", tool, {"path": "src/a.py"}),))
        story.add(ev.ToolFinished, call_id=f"c{number}", text=text)
    for number in range(12):
        story.step(body(number, 60))
    engine.extend(story.events)
    made = engine.compact()
    assert made is not None
    assert engine.problems == ()
    return made.digest


def test_lines_of_a_file_stand_in_the_order_of_the_file() -> None:
    text = digest(edited=False)
    assert 0 < text.index("value_11_x") < text.index("value_101_x")
    assert text.count("→ read src/a.py") == 1
    assert text.count("value_101_x") == 1


def test_lines_from_before_a_write_are_not_mixed_with_those_after_it() -> None:
    text = digest(edited=True)
    assert 0 < text.index("value_101_x") < text.index("value_11_x")
