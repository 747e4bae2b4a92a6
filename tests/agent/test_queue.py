"""What the user says while the agent works is in the log from the moment it is queued, and is heard once."""

import asyncio
import json
from pathlib import Path

import pytest

from outlive import events as ev
from outlive.agent.log.forking import fork
from outlive.messages import Text, ToolResult, plain_text
from outlive.request import Request
from outlive.stores import open_stores
from outlive.stores.logs.blobs import BLOB_MIN_CHARS
from outlive.testing import ScriptedModel, call, calls, say
from outlive.testing.simulator import Step
from tests.agents import make_agent, run


class Killed(BaseException):
    """The process is gone: nothing of it runs any more."""


def logged(folder: Path) -> list[dict[str, object]]:
    """The log as another process reads it now."""
    return [json.loads(line) for line in (folder / ".transcripts" / "s.jsonl").read_text().splitlines()]


def words_of(request: Request) -> list[str]:
    return [block.text for message in request.messages for block in message.blocks if isinstance(block, Text)]


def killed_with(folder: Path, *queued: str) -> None:
    """A session that dies during its first answer, after words were queued."""

    def die(request: Request) -> Step:
        for words in queued:
            agent.queue(words)
            assert logged(folder)[-1]["text"] == words, "it is shown as queued before it is on disk"
        raise Killed

    agent, _ = make_agent(folder, ScriptedModel([die]))
    with pytest.raises(Killed):
        run(agent.ask("go"))
    agent.session.close()


def test_queued_words_outlive_the_process_and_are_heard_next(tmp_path: Path) -> None:
    killed_with(tmp_path, "use tabs", "and be quick")
    model = ScriptedModel([say("done")])
    agent, _ = make_agent(tmp_path, model, resume=True)
    assert agent.queued == ("use tabs", "and be quick")
    assert agent.unfinished
    run(agent.go_on())
    said = words_of(model.requests[0])
    assert [said.count(words) for words in ("use tabs", "and be quick")] == [1, 1]
    assert not agent.queued
    assert not agent.unfinished
    agent.session.close()
    again, _ = make_agent(tmp_path, model, resume=True)
    assert again.queued == ()


def test_words_said_after_a_resume_come_after_those_that_waited(tmp_path: Path) -> None:
    killed_with(tmp_path, "use tabs")
    model = ScriptedModel([say("done")])
    agent, seen = make_agent(tmp_path, model, resume=True)
    run(agent.ask("now go"))
    said = next(event for event in seen if isinstance(event, ev.UserSaid))
    assert plain_text(said.blocks).split() == ["use", "tabs", "now", "go"]
    assert agent.queued == ()


def test_a_queued_message_is_not_in_the_view_before_its_turn(tmp_path: Path) -> None:
    def queue(request: Request) -> Step:
        before = agent.session.next_request().messages
        agent.queue("use tabs")
        assert agent.session.next_request().messages == before
        return calls(call("echo", text="a"), call("write", text="b"))

    def heard(request: Request) -> Step:
        kinds = [type(block).__name__ for block in request.messages[-1].blocks]
        results = [number for number, kind in enumerate(kinds) if kind == ToolResult.__name__]
        assert results == [0, 1], "words came between a call and its result"
        return say("done")

    model = ScriptedModel([queue, heard])
    agent, _ = make_agent(tmp_path, model)
    run(agent.ask("go"))
    model.verify()


def test_words_that_were_taken_back_stay_taken_back(tmp_path: Path) -> None:
    killed_with(tmp_path, "use tabs")
    agent, _ = make_agent(tmp_path, ScriptedModel([]), resume=True)
    assert agent.unqueue() == ("use tabs",)
    assert agent.unqueue() == ()
    agent.session.close()
    agent, _ = make_agent(tmp_path, ScriptedModel([]), resume=True)
    assert agent.queued == ()


def test_a_fork_does_not_say_what_waits_in_the_session_it_came_from(tmp_path: Path) -> None:
    killed_with(tmp_path, "use tabs")
    store = open_stores(f"files:{tmp_path}/.tasks", durability="process").logs
    forked, _ = make_agent(tmp_path, ScriptedModel([]), session=fork(store, "s"), resume=True)
    assert forked.queued == ()
    assert make_agent(tmp_path, ScriptedModel([]), resume=True)[0].queued == ("use tabs",)


def test_undoing_what_came_after_an_event_takes_back_what_was_queued_after_it(tmp_path: Path) -> None:
    killed_with(tmp_path, "use tabs")
    agent, _ = make_agent(tmp_path, ScriptedModel([]), resume=True)
    queued = next(event.id for event in agent.session.events if isinstance(event, ev.UserQueued))
    agent.session.undo_to(queued - 1)
    assert agent.queued == ()


def test_a_wall_of_text_that_waited_is_said_whole_and_once(tmp_path: Path) -> None:
    wall = "word " * BLOB_MIN_CHARS
    killed_with(tmp_path, wall)
    agent, _ = make_agent(tmp_path, ScriptedModel([say("done")]), resume=True)
    run(agent.go_on())
    agent.session.close()
    agent, _ = make_agent(tmp_path, ScriptedModel([]), resume=True)
    assert agent.queued == ()
    said = [event for event in agent.session.events if isinstance(event, ev.UserSaid)]
    assert plain_text(said[-1].blocks) == wall


def test_secrets_are_masked_in_what_waits(tmp_path: Path) -> None:
    agent, _ = make_agent(tmp_path, ScriptedModel([]), mask=lambda text: text.replace("hunter22", "[PASSWORD]"))
    agent.queue("it is hunter22")
    assert agent.queued == ("it is [PASSWORD]",)
    assert "hunter22" not in (tmp_path / ".transcripts" / "s.jsonl").read_text()


def test_an_answer_is_followed_by_what_was_queued_during_its_last_words(tmp_path: Path) -> None:
    async def work() -> None:
        def last(request: Request) -> Step:
            agent.queue("one more thing")
            return say("done")

        model = ScriptedModel([last, say("that too")])
        agent, _ = make_agent(tmp_path, model)
        assert (await agent.ask("go")).text == "that too"
        await agent.close()

    asyncio.run(work())
