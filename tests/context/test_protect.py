"""What was recalled stays for a while; what open work points at goes last."""

import msgspec
import pytest

from outlive import events as ev
from outlive.context.engine import Engine
from outlive.context.policy import Policy
from outlive.messages import ToolCall, is_recall
from tests.context.story import Story, body, long_story
from tests.context.wire import shown

TIGHT = Policy(name="tight", tail_tokens=600, tail=0.1, lines=0.05, recalled=0.15, recalled_units=12)


def feed(engine: Engine, story: Story) -> None:
    """Take in the new events of a story."""
    for event in story.events:
        engine.append(msgspec.structs.replace(event, id=engine.history.last_id + 1))
    story.events.clear()


def recall(story: Story, number: int, text: str) -> None:
    story.add(ev.AssistantSaid, blocks=(ToolCall(f"recall{number}", "recall", {"handle": f"@h{number}"}),))
    story.add(ev.ToolFinished, call_id=f"recall{number}", text=text)


def work(engine: Engine, steps: int, first: int) -> str:
    """Go on for some steps, make a pass, and look."""
    more = Story(clock=engine.history.last_time + 5)
    for number in range(first, first + steps):
        call = ToolCall(f"w{number}", "read", {"path": f"src/w{number}.py"})
        more.add(ev.AssistantSaid, blocks=(call,))
        more.add(ev.ToolFinished, call_id=call.id, text=body(number, 40))
    feed(engine, more)
    engine.compact()
    return shown(engine.next_request().messages)


def test_a_recalled_result_outlives_the_tail_but_not_for_ever() -> None:
    engine, story = Engine(30_000, TIGHT), long_story(20)
    feed(engine, story)
    engine.compact()
    wanted = engine.recall(engine.history.units[3].pieces[-1].pages[0]).text
    assert wanted not in shown(engine.next_request().messages)
    recall(story, 1, wanted)
    feed(engine, story)
    assert wanted in work(engine, 5, 100)
    assert body(100, 40) not in shown(engine.next_request().messages)
    assert wanted in work(engine, 5, 200)
    assert wanted not in work(engine, 5, 300)


def test_recalled_results_share_a_bounded_room_and_the_newest_come_first() -> None:
    engine, story = Engine(30_000, TIGHT), long_story(20)
    feed(engine, story)
    texts = [body(900 + number, 80) for number in range(6)]
    for number, text in enumerate(texts):
        recall(story, number, text)
    feed(engine, story)
    text = work(engine, 4, 100)
    assert texts[-1] in text
    kept = [recalled in text for recalled in texts]
    assert kept == sorted(kept)
    assert 1 <= sum(kept) < len(texts)


def test_a_failed_recall_is_not_kept() -> None:
    engine, story = Engine(30_000, TIGHT), long_story(20)
    story.add(ev.AssistantSaid, blocks=(ToolCall("r", "recall", {"handle": "@h9999"}),))
    story.add(ev.ToolFinished, call_id="r", text=body(900, 30), is_error=True)
    feed(engine, story)
    assert body(900, 30) not in work(engine, 4, 100)


@pytest.mark.parametrize(
    ("name", "values", "want"),
    [
        ("recall", {"handle": "@h12"}, True),
        ("mcp__outlive__recall", {"handle": "@h12"}, True),
        ("Bash", {"command": "outlive recall @h12 --session s"}, True),
        ("Bash", {"command": ".venv/bin/outlive recall @h12"}, True),
        ("Bash", {"command": "grep -r 'outlive recall' docs"}, False),
        ("read", {"path": "recall.py"}, False),
    ],
)
def test_a_recall_is_known_by_its_tool_or_its_command(name: str, values: dict[str, str], want: bool) -> None:
    assert is_recall(ToolCall("c", name, values)) is want


def lines_kept(mark: str, path: str = "src/other.py", task: str = "") -> int:
    """How many lines of one old result are in the digest, when `path` was edited and `task` is open."""
    engine, story = Engine(30_000, TIGHT), long_story(4)
    edit = ToolCall("edit", "edit", {"path": path, "old": "a", "new": "b"})
    story.add(ev.AssistantSaid, blocks=(edit,))
    story.add(ev.ToolFinished, call_id="edit", text="ok")
    if task:
        story.add(ev.TasksSeen, tasks=(ev.OpenTask(1, task, "in_progress"),))
    for number in range(10):
        call = ToolCall(f"r{number}", "read", {"path": f"src/r{number}.py"})
        story.add(ev.AssistantSaid, blocks=(call,))
        story.add(ev.ToolFinished, call_id=call.id, text=body(800 + number, 40))
    feed(engine, story)
    made = engine.compact()
    assert made is not None
    return made.digest.count(mark)


def test_what_an_open_task_names_goes_last() -> None:
    assert lines_kept("value_803") == 0
    assert lines_kept("value_803", task="make helper_803010 faster") > 10


def test_files_edited_recently_go_last() -> None:
    assert lines_kept("value_805", path="src/r5.py") > lines_kept("value_805") + 10
