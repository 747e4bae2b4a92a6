"""Events survive the log, and what a newer version wrote is carried along untouched."""

import msgspec
import pytest

from outlive import events as ev
from outlive.messages import Text, ToolCall

EXAMPLES: list[ev.Event] = [
    ev.SystemChanged(id=30, time=1.0, parent=29, system="new rules", tools=({"name": "bash"},)),
    ev.ToolStarted(id=31, time=1.0, parent=30, calls=("a", "b")),
    ev.SessionStarted(id=1, time=1.5, session="s", system="be good", tools=({"name": "read"},)),
    ev.UserSaid(id=2, time=2, parent=1, blocks=(Text("go"),)),
    ev.UserQueued(id=32, time=2, parent=31, text="and the docs"),
    ev.Unqueued(id=33, time=2, parent=32, events=(32,)),
    ev.AssistantSaid(id=3, time=3, parent=2, blocks=(Text("ok"), ToolCall("c", "read", {"p": [1, None]}))),
    ev.ToolFinished(id=4, time=4, parent=3, call_id="c", text="漢\ud7ff\n", exit_code=0),
    ev.GoalSet(id=5, time=5, goal="g", criteria=("c",)),
    ev.PlanChanged(id=6, time=6, steps=(ev.PlanStep("a", done=True),), current_step=1),
    ev.StateChanged(id=7, time=7, scratchpad="", preserved_refs=("@h1",)),
    ev.DirectiveGiven(id=8, time=8, text="never x", source=2, pinned=True),
    ev.DirectiveDropped(id=9, time=9, text="never x", reason="window"),
    ev.TasksSeen(id=10, time=10, tasks=(ev.OpenTask(1, "s", "in_progress"),)),
    ev.ModeChanged(id=11, time=11, mode="plan", by="ada at the terminal"),
    ev.Compacted(
        id=12,
        time=12,
        fold_to=4,
        digest="d",
        edits=(ev.ViewEdit(4, 0, "t"),),
        receipt=ev.Receipt(("micro",), "pressure", 10, 5, {"results": 3}),
    ),
    ev.Undone(id=13, time=13, target=12),
    ev.UsageReported(id=14, time=14, of=3, input=10, cache_read=5),
    ev.Checkpointed(id=15, time=15, label="l", data={"head": "abc"}),
    ev.Noted(id=16, time=16, text="n"),
    ev.Renewed(id=17, time=17, handoff="h"),
    ev.Forked(id=18, time=18, session="o", at=3),
    ev.StateShown(id=19, time=19, text="<state>\nGoal: g\n</state>", sections={"goal": "Goal: g"}),
    ev.PermissionAsked(id=20, time=20, call_id="c", tool="bash"),
    ev.FilesChanged(id=21, time=21, call_id="c", files=(ev.ChangedFile("a.py", "1f", "2e", 0o644),), more=1),
    ev.PermissionAnswered(id=20, time=20, call_id="c", tool="bash", choice="always", by="a", rules=("bash(ls)",)),
]


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda e: type(e).__name__)
def test_event_survives_the_log(event: ev.Event) -> None:
    line = ev.encode(event)
    assert b"\n" not in line
    assert ev.decode(line) == event


def test_every_known_event_has_an_example() -> None:
    assert {type(e) for e in EXAMPLES} == set(ev.KnownEvent.__args__)


def test_an_event_of_the_future_is_carried_unchanged() -> None:
    line = b'{"type":"telepathy","id":7,"time":1.0,"parent":6,"wave":[1,2]}'
    event = ev.decode(line)
    assert isinstance(event, ev.Unknown)
    assert (event.id, event.parent) == (7, 6)
    assert ev.encode(event) == line


def test_a_known_event_with_a_layout_of_the_future_is_carried_unchanged() -> None:
    line = b'{"type":"undone","id":7,"time":1.0,"target":{"range":[1,2]}}'
    event = ev.decode(line)
    assert isinstance(event, ev.Unknown)
    assert ev.encode(event) == line


@pytest.mark.parametrize("line", [b"", b"{", b"[1]", b'{"type":"undone"}', b'{"id":1,"time":2}'])
def test_what_is_no_event_is_refused(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        ev.decode(line)


@pytest.mark.parametrize("kind", ["assistant_said", "of_a_newer_version"])
def test_a_line_that_is_nested_without_end_is_no_event(kind: str) -> None:
    line = f'{{"type":"{kind}","id":1,"time":1,"parent":0,"blocks":{"[" * 10_000}{"]" * 10_000}}}'
    with pytest.raises(msgspec.DecodeError):
        ev.decode(line.encode())
