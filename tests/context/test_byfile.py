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


def digest(*, changed: bool) -> str:
    story, engine = Story(), Engine(40_000, POLICY)
    story.user("Look at it.")
    between = {"command": f"sed -i s/x/y/ {'src' if changed else 'lib'}/{'main_a' if changed else 'other'}.py"}
    seen = {"path": "/repo/src/main_a.py"}
    calls = [("read", seen, listing(100, 120)), ("Bash", between, "ok"), ("read", seen, listing(10, 30))]
    for number, (tool, values, text) in enumerate(calls):
        story.add(ev.AssistantSaid, blocks=(ToolCall(f"c{number}", tool, values),))
        story.add(ev.ToolFinished, call_id=f"c{number}", text=text)
    for number in range(12):
        story.step(body(number, 60))
    engine.extend(story.events)
    made = engine.compact()
    assert made is not None
    assert engine.problems == ()
    return made.digest


def test_lines_of_a_file_stand_in_the_order_of_the_file() -> None:
    text = digest(changed=False)
    assert 0 < text.index("value_11_x") < text.index("value_101_x")
    assert text.count("→ read /repo/src/main_a.py") == 1
    assert text.count("value_101_x") == 1


def test_lines_from_before_a_write_are_not_mixed_with_those_after_it() -> None:
    text = digest(changed=True)
    assert 0 < text.index("value_101_x") < text.index("value_11_x")
