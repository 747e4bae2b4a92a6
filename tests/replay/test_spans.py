"""A session as OpenTelemetry spans."""

from pathlib import Path

from msgspec.structs import replace

from outlive.agent import Session
from outlive.events import Compacted, Denial, Event
from outlive.messages import Text, ToolCall
from outlive.replay.spans import TraceSpan, spans
from outlive.stores.logs.files import FileLogStore
from tests.talk import Ticks, talk


def recorded(folder: Path) -> tuple[Event, ...]:
    """Two requests of the user; in the first a failed command, in the second a call that was not allowed."""
    store = FileLogStore(folder, durability="process")
    with Session.start(store, id="s", clock=Ticks(), model="anthropic:claude-sonnet-5-5") as session:
        session.user_said("Run the tests.")
        call = ToolCall("c1", "bash", {"command": "pytest"})
        usage = {"input": 10, "cache_read": 90, "cache_write": 5, "output": 7, "cost": 0.25}
        session.assistant_said((Text("I run them."), call), model="anthropic:claude-sonnet-5-5", usage=usage)
        session.tool_finished("c1", "1 failed", is_error=True, exit_code=1, seconds=0.5)
        session.assistant_said((Text("One fails."),), stop_reason="end_turn")
        session.user_said("Delete it.")
        session.assistant_said((ToolCall("c2", "bash", {"command": "rm test.py"}),))
        session.tool_finished("c2", "[not allowed]", is_error=True, denied=Denial("user"))
    return store.read("s").events


def named(found: list[TraceSpan], name: str) -> list[TraceSpan]:
    return [span for span in found if span.name == name]


def test_each_request_of_the_user_is_a_trace_with_the_run_at_its_root(tmp_path: Path) -> None:
    found = list(spans("s", recorded(tmp_path)))
    first, second = named(found, "invoke_agent outlive")
    assert first.trace != second.trace
    assert not first.parent
    children = [span.name for span in found if span.parent == first.id]
    assert children == ["chat claude-sonnet-5-5", "execute_tool bash", "chat claude-sonnet-5-5"]
    assert all(first.begin <= span.begin <= span.end <= first.end for span in found if span.trace == first.trace)
    assert all(span.attributes["gen_ai.conversation.id"] == "s" for span in found)


def test_a_model_call_carries_the_usage_that_was_reported(tmp_path: Path) -> None:
    first = named(list(spans("s", recorded(tmp_path))), "chat claude-sonnet-5-5")[0]
    assert first.attributes["gen_ai.provider.name"] == "anthropic"
    assert first.attributes["gen_ai.usage.input_tokens"] == 105
    assert first.attributes["gen_ai.usage.cache_read.input_tokens"] == 90
    assert first.attributes["gen_ai.usage.output_tokens"] == 7
    assert first.attributes["outlive.cost_usd"] == 0.25
    assert first.is_request


def test_a_failed_and_a_denied_call_are_told_apart(tmp_path: Path) -> None:
    failed, denied = named(list(spans("s", recorded(tmp_path))), "execute_tool bash")
    assert failed.error == "error"
    assert failed.attributes["process.exit.code"] == 1
    assert failed.end - failed.begin == 0.5
    assert denied.error == "denied"


def test_words_are_left_out_unless_they_are_asked_for(tmp_path: Path) -> None:
    events = recorded(tmp_path)
    assert "Run the tests" not in str(list(spans("s", events)))
    assert "pytest" not in str(list(spans("s", events)))
    told = str(list(spans("s", events, content=True)))
    assert "Run the tests" in told
    assert "1 failed" in told


def test_the_same_log_gives_the_same_ids(tmp_path: Path) -> None:
    events = recorded(tmp_path)
    ids = [(span.trace, span.id) for span in spans("s", events)]
    assert ids == [(span.trace, span.id) for span in spans("s", events)]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & {(span.trace, span.id) for span in spans("other", events)}


def test_a_pass_is_a_span_with_its_receipt(tmp_path: Path) -> None:
    store = FileLogStore(tmp_path, durability="process")
    with Session.start(store, id="p", window=20_000, clock=Ticks()) as session:
        assert talk(session, 20)
    events = store.read("p").events
    receipts = [event.receipt for event in events if isinstance(event, Compacted)]
    passes = named(list(spans("p", events)), "compact")
    assert [span.attributes["outlive.pass.tokens_before"] for span in passes] == [one.before for one in receipts]
    assert all(span.parent for span in passes)


def test_a_log_that_begins_in_the_middle_still_gives_spans(tmp_path: Path) -> None:
    events = recorded(tmp_path)
    found = list(spans("s", events[3:]))
    assert found
    assert list(spans("s", [replace(event, time=0.0) for event in events]))
