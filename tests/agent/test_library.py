"""`Agent` as a program uses it: runs, streams, structured output, cancellation, resume and fork."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from outlive import (
    Agent,
    AgentBusy,
    AgentClosed,
    AssistantSaid,
    ConfigError,
    Event,
    InvalidOutput,
    PermissionAnswer,
    PermissionQuestion,
    RunResult,
    StreamEvent,
    TextDelta,
    ToolFinished,
    UnknownHandle,
    UserSaid,
    tool,
)
from outlive.messages import Text, plain_text
from outlive.models.protocol import Reply
from outlive.request import OutputFormat, Request
from outlive.stream import ModelStreamEvent
from outlive.testing import ScriptedModel, Simulator, call, calls, say
from outlive.testing.simulator import Step
from tests.engines import ROOT


@tool(effect="run")
async def weather(city: str) -> str:
    """What the weather is like in a city."""
    return f"sunny in {city}"


def with_agent(folder: Path, model: ScriptedModel, work: Callable[[Agent], Awaitable[None]], **options: Any) -> None:
    async def main() -> None:
        async with Agent(folder, model=model, **options) as agent:
            await work(agent)

    asyncio.run(main())
    model.verify()


# -- runs


def test_a_run_says_what_it_came_to(tmp_path: Path) -> None:
    async def work(agent: Agent) -> None:
        result = await agent.run("Plan a picnic.")
        assert (result.text, result.stop_reason, result.session) == ("Bring a hat.", "done", agent.session)
        assert (result.requests, result.usage.output, result.cost, result.denied) == (2, 20, None, ())
        assert [event.text for event in agent.events if isinstance(event, ToolFinished)] == ["sunny in Oslo"]

    model = ScriptedModel([call("weather", city="Oslo"), say("Bring a hat.")])
    with_agent(tmp_path, model, work, tools=[weather], allow=["weather"])


def test_a_call_that_nobody_allowed_is_in_the_result_and_in_the_log(tmp_path: Path) -> None:
    async def work(agent: Agent) -> None:
        (denied,) = (await agent.run("go")).denied
        assert (denied.call.name, denied.call.input) == ("weather", {"city": "Oslo"})
        assert (denied.denial.by, denied.denial.mode) == ("unasked", "bypass")
        assert denied.denial.rules == ('weather(={"city":"Oslo"})',)
        (logged,) = [event for event in agent.events if isinstance(event, ToolFinished)]
        assert (logged.denied, logged.is_error, logged.text) == (denied.denial, True, denied.reason)
        assert (await agent.run("again")).denied == ()

    model = ScriptedModel([call("weather", city="Oslo"), say("I may not."), say("ok")])
    with_agent(tmp_path, model, work, tools=[weather], mode="accept-edits")


@tool
def count(text: str) -> int:
    """How long a text is."""
    return len(text)


@pytest.mark.parametrize("mode", ["ask", "accept-edits"])
def test_a_tool_of_the_program_that_declares_no_effect_runs_without_asking(tmp_path: Path, mode: str) -> None:
    async def work(agent: Agent) -> None:
        assert (await agent.run("go")).denied == ()
        assert [event.text for event in agent.events if isinstance(event, ToolFinished)] == ["2"]

    with_agent(tmp_path, ScriptedModel([call("count", text="hi"), say("ok")]), work, tools=[count], mode=mode)


@pytest.mark.parametrize(("by", "options"), [("rule", {"deny": ["count"]}), ("mode", {"mode": "plan"})])
def test_deny_rules_and_plan_mode_stop_it_all_the_same(tmp_path: Path, by: str, options: dict[str, Any]) -> None:
    async def work(agent: Agent) -> None:
        (denied,) = (await agent.run("go")).denied
        assert denied.denial.by == by

    with_agent(tmp_path, ScriptedModel([call("count", text="hi"), say("no")]), work, tools=[count], **options)


def test_what_a_sub_agent_was_denied_is_in_the_result_of_its_parent(tmp_path: Path) -> None:
    async def work(agent: Agent) -> None:
        (denied,) = (await agent.run("go")).denied
        assert (denied.call.name, denied.denial.by) == ("weather", "unasked")

    sent = call("subagent", prompt="look", description="look")
    model = ScriptedModel([sent, call("weather", city="Oslo"), say("I may not."), say("ok")])
    with_agent(tmp_path, model, work, tools=[weather])


def test_secrets_are_masked_in_what_was_denied(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "Ab1" * 30

    async def work(agent: Agent) -> None:
        (denied,) = (await agent.run("go")).denied
        assert key not in str(denied)

    with_agent(tmp_path, ScriptedModel([call("weather", city=key), say("no")]), work, tools=[weather])


def test_the_asker_decides(tmp_path: Path) -> None:
    asked: list[PermissionQuestion] = []

    async def asker(question: PermissionQuestion) -> PermissionAnswer:
        asked.append(question)
        return PermissionAnswer("yes" if "Oslo" in question.subject else "no", "too far")

    async def work(agent: Agent) -> None:
        result = await agent.run("go")
        assert [one.denial.by for one in result.denied] == ["user"]
        assert [question.tool for question in asked] == ["weather", "weather"]
        texts = [event.text for event in agent.events if isinstance(event, ToolFinished)]
        assert texts == ["sunny in Oslo", "weather was not run: the user said no: too far"]

    model = ScriptedModel([calls(call("weather", city="Oslo"), call("weather", city="Perth")), say("done")])
    with_agent(tmp_path, model, work, tools=[weather], asker=asker)


def test_a_stream_yields_what_happens_and_the_result_last(tmp_path: Path) -> None:
    async def work(agent: Agent) -> None:
        seen = [event async for event in agent.stream("hello")]
        assert isinstance(seen[-1], RunResult)
        assert seen[-1].text == "hi"
        assert [type(event) for event in seen if isinstance(event, (UserSaid, TextDelta, AssistantSaid))] == [
            UserSaid,
            TextDelta,
            AssistantSaid,
        ]
        assert agent._runtime._watchers == [], "a stream leaves no watcher behind"
        with pytest.raises(AttributeError):
            seen[-1].text = "other"  # type: ignore[misc]

    with_agent(tmp_path, ScriptedModel([say("hi")]), work)


def test_a_stream_raises_what_the_run_raised(tmp_path: Path) -> None:
    async def work(agent: Agent) -> None:
        with pytest.raises(ConfigError, match="broken"):
            async for _ in agent.stream("hello"):
                pass

    with_agent(tmp_path, ScriptedModel([ConfigError("broken")]), work)


def test_leaving_a_stream_stops_its_run_and_the_next_one_works(tmp_path: Path) -> None:
    async def work(agent: Agent) -> None:
        async for event in agent.stream("one"):
            if isinstance(event, AssistantSaid):
                break
        assert (await agent.run("two")).text == "second"
        said = [plain_text(event.blocks) for event in agent.events if isinstance(event, UserSaid)]
        assert said == ["one", "two"]
        assert [event.is_error for event in agent.events if isinstance(event, ToolFinished)] == [True]

    @tool(effect="look")
    async def endless() -> str:
        """Waits."""
        await asyncio.Event().wait()
        return ""

    with_agent(tmp_path, ScriptedModel([call("endless"), say("second")]), work, tools=[endless])


@pytest.mark.parametrize("during", ["tool", "model"])
def test_a_cancelled_run_leaves_a_session_that_goes_on(tmp_path: Path, during: str) -> None:
    started = asyncio.Event()

    @tool(effect="look")
    async def slow() -> str:
        """Waits."""
        started.set()
        await asyncio.Event().wait()
        return ""

    class Hanging(ScriptedModel):
        hangs = during == "model"

        async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
            if self.hangs:
                self.hangs = False
                yield TextDelta("half an ans")
                started.set()
                await asyncio.Event().wait()
            async for piece in super().stream(request):
                yield piece

    model = Hanging([*([call("slow")] if during == "tool" else []), say("back"), say("resumed")])

    async def main() -> None:
        async with Agent(tmp_path, model=model, tools=[slow]) as agent:
            cancelled = asyncio.create_task(agent.run("one"))
            await started.wait()
            cancelled.cancel()
            with pytest.raises(asyncio.CancelledError):
                await cancelled
            assert (await agent.run("two")).text == "back"
        async with Agent(tmp_path, model=model, resume=agent.session) as again:
            assert (await again.run("three")).text == "resumed"
            assert again.session == agent.session

    asyncio.run(main())
    model.verify()


def test_an_agent_that_is_interrupted_says_so(tmp_path: Path) -> None:
    async def work(agent: Agent) -> None:
        agent.watch(lambda event: agent.interrupt() if isinstance(event, AssistantSaid) else None)
        assert (await agent.run("one")).stop_reason == "interrupted"

    with_agent(tmp_path, ScriptedModel([call("weather", city="Oslo")]), work, tools=[weather], mode="bypass")


def test_a_watcher_that_raises_is_reported_and_the_run_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[Event | StreamEvent] = []

    def broken(event: Event | StreamEvent) -> None:
        raise RuntimeError("boom")

    async def work(agent: Agent) -> None:
        agent.watch(broken)
        unwatch = agent.watch(seen.append)
        assert (await agent.run("one")).text == "hi"
        count = len(seen)
        unwatch()
        assert count > 0
        await agent.run("two")
        assert len(seen) == count

    with caplog.at_level(logging.ERROR, "outlive"):
        with_agent(tmp_path, ScriptedModel([say("hi"), say("ho")]), work)
    assert "a watcher failed" in caplog.text
    assert "boom" in caplog.text


def test_without_a_prompt_it_goes_on_from_where_the_session_ends(tmp_path: Path) -> None:
    async def work(agent: Agent) -> None:
        with pytest.raises(ConfigError):
            await agent.run("one")
        assert (await agent.run()).text == "done"
        assert len([event for event in agent.events if isinstance(event, UserSaid)]) == 1

    with_agent(tmp_path, ScriptedModel([ConfigError("no"), say("done")]), work)


# -- structured output


class Picnic(Struct):
    """A plan."""

    place: str
    people: int


@dataclass
class Weather:
    degrees: float


GOOD = '{"place": "park", "people": 3}'


@pytest.mark.parametrize("text", [GOOD, f"```json\n{GOOD}\n```", f"Here it is:\n{GOOD}\nEnjoy!"])
def test_output_is_of_the_type_that_was_asked_for(tmp_path: Path, text: str) -> None:
    model = ScriptedModel([say(text)])

    async def work(agent: Agent) -> None:
        result = await agent.run("Plan it.", output=Picnic)
        assert result.output == Picnic("park", 3)
        assert (result.stop_reason, result.session) == ("done", agent.session)
        (said,) = [event for event in agent.events if isinstance(event, UserSaid)]
        assert plain_text(said.blocks).startswith("Plan it.")
        assert '"input_schema"' in plain_text(said.blocks)

    with_agent(tmp_path, model, work)


def test_a_wrong_answer_is_repaired_once(tmp_path: Path) -> None:
    def repaired(request: Request) -> Step:
        assert "Expected `float`, got `str`" in plain_text(request.messages[-1].blocks)
        return say('{"degrees": 21.5}')

    async def work(agent: Agent) -> None:
        assert (await agent.run("How warm?", output=Weather)).output == Weather(21.5)

    with_agent(tmp_path, ScriptedModel([say('{"degrees": "warm"}'), repaired]), work)


def test_an_answer_that_is_nested_too_deeply_is_a_wrong_one(tmp_path: Path) -> None:
    deep = '{"degrees": 1.0, "more": ' + "[" * 10_000 + "]" * 10_000 + "}"

    async def work(agent: Agent) -> None:
        assert (await agent.run("How warm?", output=Weather)).output == Weather(21.5)

    with_agent(tmp_path, ScriptedModel([say(deep), say('{"degrees": 21.5}')]), work)


def test_an_answer_that_stays_wrong_is_an_error_with_the_result(tmp_path: Path) -> None:
    async def work(agent: Agent) -> None:
        with pytest.raises(InvalidOutput, match="not a valid Weather") as raised:
            await agent.run("How warm?", output=Weather)
        assert (raised.value.result.text, raised.value.result.requests) == ("warmer", 2)
        assert raised.value.code == "invalid_output"
        assert (await agent.run("And now?")).text == "{}", "the next run asks for no output"

    with_agent(tmp_path, ScriptedModel([say("warm"), say("warmer"), say("{}")]), work)


def test_a_run_that_stops_early_has_no_output(tmp_path: Path) -> None:
    async def work(agent: Agent) -> None:
        with pytest.raises(InvalidOutput, match="limit of 1 turns") as raised:
            await agent.run("How warm?", output=Weather)
        assert raised.value.result.limit == "max_turns"

    with_agent(tmp_path, ScriptedModel([call("glob", pattern="*")]), work, max_turns=1)


def test_a_stream_can_have_an_output_too(tmp_path: Path) -> None:
    async def work(agent: Agent) -> None:
        last = [event async for event in agent.stream("How warm?", output=Weather)][-1]
        assert getattr(last, "output", None) == Weather(3)

    with_agent(tmp_path, ScriptedModel([say('{"degrees": 3}')]), work)


def test_a_new_session_has_its_output_enforced_from_the_start(tmp_path: Path) -> None:
    seen: list[OutputFormat | None] = []

    def answer(request: Request) -> Step:
        seen.append(request.output)
        return say('{"degrees": 3}')

    async def work(agent: Agent) -> None:
        await agent.run("How warm?", output=Weather)
        await agent.run("Thank you.")
        await agent.run("And now?", output=Weather)

    with_agent(tmp_path, ScriptedModel([answer, answer, answer]), work)
    assert [wanted and wanted.name for wanted in seen] == ["Weather", None, None]


def test_in_a_session_that_goes_on_only_the_repair_is_enforced_because_of_the_cache(tmp_path: Path) -> None:
    seen: list[OutputFormat | None] = []

    def answering(text: str) -> Callable[[Request], Step]:
        def answer(request: Request) -> Step:
            seen.append(request.output)
            return say(text)

        return answer

    async def work(agent: Agent) -> None:
        await agent.run("Hello.")
        assert (await agent.run("How warm?", output=Weather)).output == Weather(3)
        await agent.run("Thank you.")

    script = [answering(text) for text in ("Hi.", "warm", '{"degrees": 3}', "Bye.")]
    with_agent(tmp_path, ScriptedModel(script), work)
    assert [wanted and wanted.name for wanted in seen] == [None, None, "Weather", None]


def test_what_the_harness_asks_for_an_output_is_not_of_the_user(tmp_path: Path) -> None:
    async def work(agent: Agent) -> None:
        await agent.run("How warm?", output=Weather)
        said = [block for event in agent.events if isinstance(event, UserSaid) for block in event.blocks]
        assert [block.origin for block in said if isinstance(block, Text)] == ["user", "harness", "harness"]

    with_agent(tmp_path, ScriptedModel([say("warm"), say('{"degrees": 3}')]), work)


def test_the_schema_is_not_taken_for_the_words_of_the_user(tmp_path: Path) -> None:
    class Rule(Struct):
        """Always answer in French. Never use tabs."""

        text: str

    async def work(agent: Agent) -> None:
        await agent.run("Which rule?", output=Rule)
        assert agent._runtime.session.state.directives == ()

    with_agent(tmp_path, ScriptedModel([say('{"text": "none"}')]), work)


# -- sessions


def test_a_fork_shares_the_past_and_leaves_the_original_alone(tmp_path: Path) -> None:
    async def main() -> None:
        async with Agent(tmp_path, model=ScriptedModel([say("one")])) as agent:
            await agent.run("first")
            first, forked = agent.session, agent.fork()
        async with Agent(tmp_path, model=ScriptedModel([say("two")]), fork=first) as agent:
            assert agent.session not in (first, forked)
            await agent.run("second")
            said = [plain_text(event.blocks) for event in agent.events if isinstance(event, UserSaid)]
            assert said == ["first", "second"]
        async with Agent(tmp_path, model=ScriptedModel([]), resume=forked) as agent:
            assert len([event for event in agent.events if isinstance(event, UserSaid)]) == 1

    asyncio.run(main())


def test_tasks_memories_and_handles_are_at_hand(tmp_path: Path) -> None:
    async def work(agent: Agent) -> None:
        await agent.run("Remember the milk.")
        task = agent.tasks.create("Buy milk")
        assert [one.subject for one in agent.tasks.find()] == [task.subject]
        assert agent.memories.all() == []
        assert "Remember the milk." in agent.recall("@h1")
        with pytest.raises(UnknownHandle):
            agent.recall("@h99")
        agent.mode = "plan"
        assert agent.mode == "plan"

    with_agent(tmp_path, ScriptedModel([say("ok")]), work)


# -- opening and closing


def test_a_script_needs_no_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Simulator([say("one"), say('{"degrees": 2}')]) as sim:
        for name, value in sim.env().items():
            monkeypatch.setenv(name, value)
        with Agent(tmp_path, model="anthropic:claude-sonnet-5-5") as agent:
            assert agent.run_sync("a").text == "one"
            result = agent.run_sync("b", output=Weather)
            assert result.output.degrees == 2
            assert result.cost is not None
        sim.verify()


def test_run_sync_inside_of_an_event_loop_is_refused(tmp_path: Path) -> None:
    async def work(agent: Agent) -> None:
        with pytest.raises(RuntimeError, match="running event loop"):
            agent.run_sync("a")
        assert (await agent.run("b")).text == "b"

    with_agent(tmp_path, ScriptedModel([say("b")]), work)


def test_a_closed_agent_is_closed_for_good(tmp_path: Path) -> None:
    async def main() -> None:
        agent = Agent(tmp_path, model=ScriptedModel([]))
        await agent.close()
        await agent.close()
        with pytest.raises(AgentClosed, match="resume it"):
            await agent.run("one")
        with pytest.raises(AgentClosed):
            agent.queue("one")

    asyncio.run(main())


def test_closing_stops_a_stream_that_nobody_reads(tmp_path: Path) -> None:
    @tool(effect="look")
    async def endless() -> str:
        """Waits."""
        await asyncio.Event().wait()
        return ""

    async def main() -> None:
        async with Agent(tmp_path, model=ScriptedModel([call("endless")]), tools=[endless]) as agent:
            stream = agent.stream("one")
            async for event in stream:
                if isinstance(event, AssistantSaid):
                    break
            with pytest.raises(AgentBusy):
                await agent.run("two")
        rest = [event async for event in stream]
        assert isinstance(rest[-1], RunResult)
        assert rest[-1].stop_reason == "interrupted"

    asyncio.run(main())


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no folder"):
        Agent(tmp_path / "nowhere", model=ScriptedModel([]))
    with pytest.raises(ConfigError, match="give one of them"):
        Agent(tmp_path, model=ScriptedModel([]), resume="a", fork="b")


# -- as a stranger

PROGRAM = '''\
import asyncio
from outlive import Agent, RunResult, tool
from outlive.testing import Simulator, call, say

@tool(effect="look")
def weather(city: str, days: int = 1) -> str:
    """What the weather is like in a city."""
    return f"sunny in {city} for {days} days"

async def main() -> None:
    with Simulator([call("weather", city="Oslo"), say("Bring a hat.")]) as sim:
        import os
        os.environ.update(sim.env())
        async with Agent(".", model="anthropic:claude-sonnet-5-5", tools=[weather], mode="accept-edits") as agent:
            async for event in agent.stream("Plan a picnic."):
                if isinstance(event, RunResult):
                    print(event.text, event.cost is not None, event.denied, weather("Rome"))

asyncio.run(main())
'''


def test_a_stranger_writes_fifteen_lines_that_run_and_type_check(tmp_path: Path) -> None:
    (tmp_path / "picnic.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "picnic.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "Bring a hat. True () sunny in Rome for 1 days\n", done.stderr
    typed = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"), "picnic.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert typed.returncode == 0, typed.stdout
    wrong = PROGRAM.replace('mode="accept-edits"', 'mode="accept_edits"').replace("event.cost", "event.price")
    (tmp_path / "wrong.py").write_text(wrong)
    refused = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"), "wrong.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.stdout.count("error:") == 2, refused.stdout
