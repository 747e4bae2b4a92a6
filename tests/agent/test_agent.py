"""An agent in its loop: what it does with calls, limits, interruptions, queued words and a model that misbehaves."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from outlive.agent.runtime import Runtime
from outlive.context.errors import FloorError
from outlive.errors import StoreUnavailable
from outlive.events import (
    AssistantSaid,
    Compacted,
    Event,
    Noted,
    SystemChanged,
    ToolFinished,
    ToolStarted,
    UsageReported,
    UserSaid,
)
from outlive.limits import MAX_CUT_ANSWERS, NOTHING_SAID, Money, Repetition, Thrashing, Time, Tokens, Turns
from outlive.messages import Message, Text, ToolResult, plain_text
from outlive.models.errors import ModelNotSetUp, PromptTooLong
from outlive.models.protocol import Price, Reply, Usage
from outlive.request import Request
from outlive.result import RunResult
from outlive.stores import open_stores
from outlive.stream import ModelRetrying, ModelStreamEvent, StreamEvent, SubagentActed, TextDelta, ToolOutput
from outlive.testing import ScriptedModel, call, calls, say
from outlive.testing.scripted import reply_of
from outlive.testing.simulator import Step
from outlive.tools.builtin.read_file import ReadFile
from outlive.tools.instructions import Instructions
from outlive.tools.runner import HookAnswer
from tests.agents import HooksOf, Open, make_agent, run

Seen = list[Event | StreamEvent]


def ask(agent: Runtime, words: str = "go") -> RunResult:
    async def work() -> RunResult:
        try:
            return await agent.ask(words)
        finally:
            await agent.close()

    return run(work())


def results(seen: Seen) -> list[str]:
    return [event.text for event in seen if isinstance(event, ToolFinished)]


def said_last(request: Request) -> str:
    return "\n".join(plain_text(message.blocks) for message in request.messages[-1:])


def answered(messages: tuple[Message, ...]) -> list[ToolResult]:
    return [block for message in messages for block in message.blocks if isinstance(block, ToolResult)]


def test_it_works_until_the_model_stops_calling_tools(tmp_path: Path) -> None:
    model = ScriptedModel([calls(call("echo", text="a")), calls(call("write", text="b")), say("done")])
    agent, seen = make_agent(tmp_path, model)
    ending = ask(agent)
    model.verify()
    assert (ending.stop_reason, ending.text, ending.session, ending.requests) == ("done", "done", "s", 3)
    assert (ending.usage.output, ending.cost, ending.denied) == (30, None, ())
    assert results(seen) == ["heard a", "written"]
    assert (tmp_path / "written.txt").read_text() == "b\n"


def test_it_goes_on_because_of_calls_and_not_because_of_a_stop_reason(tmp_path: Path) -> None:
    sloppy = Reply(reply_of(call("echo", text="a")).blocks, stop="end")
    model = ScriptedModel([sloppy, say("done")])
    agent, _ = make_agent(tmp_path, model)
    assert ask(agent).text == "done"
    model.verify()


def test_safe_calls_run_together_and_their_results_come_back_in_order(tmp_path: Path) -> None:
    together: list[str] = []
    slow, fast = call("echo", text="slow", seconds=0.05), call("echo", text="fast")
    model = ScriptedModel([calls(slow, fast, call("write", text="alone")), say("ok")])
    agent, seen = make_agent(tmp_path, model)
    agent.watch(lambda event: together.append(event.text) if isinstance(event, ToolOutput) else None)
    ask(agent)
    assert together == ["fast", "slow"]
    assert results(seen) == ["heard slow", "heard fast", "written"]
    assert [len(event.calls) for event in seen if isinstance(event, ToolStarted)] == [2, 1]


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (call("ecko", text="x"), "did you mean echo"),
        (call("echo", text=5), "Expected `str`, got `int`"),
        (call("echo", txt="x"), "unknown field `txt`; it takes {text?, seconds?}"),
        (call("crash"), "RuntimeError: boom"),
        (call("echo", __unreadable__='{"text": '), "not a JSON object"),
    ],
)
def test_a_bad_call_gets_an_error_that_says_what_was_wrong(tmp_path: Path, made: Any, says: str) -> None:
    model = ScriptedModel([calls(made), say("ok")])
    agent, seen = make_agent(tmp_path, model)
    assert ask(agent).stop_reason == "done"
    assert says in results(seen)[0]
    assert answered(model.requests[1].messages)[0].is_error


def test_what_the_gate_does_not_allow_does_not_run(tmp_path: Path) -> None:
    model = ScriptedModel([calls(call("write", text="x")), say("ok")])
    agent, seen = make_agent(tmp_path, model, gate=Open("write"))
    ask(agent)
    assert results(seen) == ["the user said no"]
    assert not (tmp_path / "written.txt").exists()


# -- limits


def endless(request: Request) -> Step:
    return calls(call("echo", text=str(len(request.messages))))


def test_time_ends_a_run_in_the_middle_of_a_call(tmp_path: Path) -> None:
    agent, seen = make_agent(
        tmp_path, ScriptedModel([calls(call("echo", text="a", seconds=60))]), limits=lambda spending: [Time(0.2)]
    )
    ending = ask(agent)
    assert (ending.stop_reason, "0.2 s" in ending.detail) == ("limit", True)
    assert "interrupted" in results(seen)[0]


def test_turns_money_and_tokens_end_a_run(tmp_path: Path) -> None:
    for name, limits, reason in (
        ("turns", lambda spending: [Turns(3)], "3 turns"),
        ("money", lambda spending: [Money(0.09, spending)], "$0.09"),
        ("tokens", lambda spending: [Tokens(2000, spending)], "tokens"),
    ):
        model = ScriptedModel([endless] * 100)
        model.price = Price(50.0, 0.0, 0.0, 0.0)
        agent, _ = make_agent(tmp_path, model, session=name, limits=limits)
        ending = ask(agent)
        assert ending.stop_reason == "limit"
        assert reason in ending.detail
        assert 2 < len(model.requests) < 60


def test_the_same_call_over_and_over_is_noticed(tmp_path: Path) -> None:
    model = ScriptedModel([calls(call("echo", text="again"))] * 100)
    agent, _ = make_agent(tmp_path, model, limits=lambda spending: [Repetition(6)])
    ending = ask(agent)
    assert len(model.requests) == 6
    assert "same outcome 6 times" in ending.detail


def test_a_round_of_two_steps_over_and_over_is_noticed_and_the_model_is_told_before(tmp_path: Path) -> None:
    model = ScriptedModel([call("echo", text="a"), call("write", text="b")] * 100)
    agent, seen = make_agent(tmp_path, model, limits=lambda spending: [Repetition(6)])
    ending = ask(agent)
    assert (ending.stop_reason, len(model.requests)) == ("limit", 12)
    assert "the same 2 steps (echo, write)" in ending.detail
    assert [event.text for event in seen if isinstance(event, Noted) and "Try something else" in event.text]
    assert "Try something else" in said_last(model.requests[6])


def test_a_window_that_is_too_small_for_the_work_is_said(tmp_path: Path) -> None:
    long = "\n".join(f"line {number} of something" for number in range(150))

    def next_one(request: Request) -> Step:
        return calls(call("echo", text=f"{len(model.requests)} {long}"))

    model = ScriptedModel([next_one] * 60)
    agent, _ = make_agent(tmp_path, model, window=4_500, limits=lambda spending: [Thrashing(6, 8)])
    ending = ask(agent)
    assert (ending.stop_reason, ending.limit) == ("limit", "window")
    assert "the window is too small" in ending.detail


# -- the model


def test_a_cut_off_answer_is_continued(tmp_path: Path) -> None:
    half = Reply((Text("The answer is"),), stop="length")
    cut = Reply((Text("I will write."),), stop="length", cut_call="write")
    model = ScriptedModel([half, cut, say("42")])
    agent, _ = make_agent(tmp_path, model)
    assert ask(agent).text == "42"
    assert "Go on exactly where it ended" in said_last(model.requests[1])
    assert "while you wrote a call to write" in said_last(model.requests[2])


def test_an_empty_answer_is_asked_again_and_not_for_ever(tmp_path: Path) -> None:
    model = ScriptedModel([Reply(()), Reply(()), Reply(())])
    agent, _ = make_agent(tmp_path, model)
    result = ask(agent)
    assert (result.stop_reason, result.limit) == ("limit", "empty_answers")
    assert "3 empty answers" in result.detail
    assert NOTHING_SAID in said_last(model.requests[1])
    model.verify()


def test_answers_that_are_cut_off_again_and_again_end_the_run(tmp_path: Path) -> None:
    model = ScriptedModel([Reply((Text("and so on"),), stop="length")] * MAX_CUT_ANSWERS)
    agent, _ = make_agent(tmp_path, model)
    result = ask(agent)
    assert (result.stop_reason, result.limit) == ("limit", "answer_length")
    model.verify()


def test_a_refusal_ends_the_run(tmp_path: Path) -> None:
    agent, _ = make_agent(tmp_path, ScriptedModel([Reply((Text("I cannot."),), stop="refusal")]))
    assert ask(agent).stop_reason == "refused"


def test_too_long_makes_the_request_smaller_and_teaches_the_limit(tmp_path: Path) -> None:
    long = "\n".join(f"line {number} of something" for number in range(400))
    steps = [calls(call("echo", text=f"{number} {long}")) for number in range(6)]
    refused = PromptTooLong("prompt is too long: 60000 tokens > 30000 maximum", 60_000, 30_000)
    model = ScriptedModel([*steps, refused, say("made it")])
    agent, seen = make_agent(tmp_path, model)
    assert ask(agent).text == "made it"
    passes = [event for event in seen if isinstance(event, Compacted)]
    assert [event.receipt.reason for event in passes] == ["refused"]
    assert agent.session.engine.window == 30_000
    assert model.requests[-1].tokens <= 30_000


def test_a_floor_that_does_not_fit_is_said_and_not_tried_for_ever(tmp_path: Path) -> None:
    refused = PromptTooLong("prompt is too long: 60000 tokens > 10 maximum", 60_000, 10)
    model = ScriptedModel([refused] * 9)
    agent, _ = make_agent(tmp_path, model)
    with pytest.raises(FloorError, match="current request"):
        ask(agent)
    assert len(model.requests) <= 3


def test_an_error_of_the_model_leaves_a_session_that_can_go_on(tmp_path: Path) -> None:
    agent, _ = make_agent(tmp_path, ScriptedModel([calls(call("echo", text="a")), ModelNotSetUp("no key")]))
    with pytest.raises(ModelNotSetUp):
        ask(agent)
    model = ScriptedModel([say("here I am")])
    agent, _ = make_agent(tmp_path, model, resume=True)
    assert agent.unfinished

    async def work() -> RunResult:
        ending = await agent.go_on()
        assert not agent.unfinished
        await agent.close()
        return ending

    assert run(work()).text == "here I am"
    assert answered(model.requests[0].messages)[0].text == "heard a"


def test_usage_and_cost_are_counted_from_the_reports(tmp_path: Path) -> None:
    usage = Usage(input=100, cache_write=200, cache_read=1000, output=10)
    model = ScriptedModel([Reply((Text("ok"),), usage=usage)])
    model.price = Price(3.0, 3.75, 0.3, 15.0)
    agent, _ = make_agent(tmp_path, model)
    ask(agent)
    assert agent.spending.tokens == 1310
    assert agent.spending.dollars == pytest.approx((300 + 750 + 300 + 150) / 1e6)
    log = open_stores(f"files:{tmp_path}/.tasks").logs.read("s").events
    assert [event.cost for event in log if isinstance(event, UsageReported)] == [pytest.approx(0.0015)]


class Answering(ScriptedModel):
    """Its answer says which model it is from."""

    def __init__(self, answered: str) -> None:
        super().__init__([])
        self.answered = answered

    async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        yield Reply((Text("ok"),), model=self.answered)


@pytest.mark.parametrize(("answered", "logged"), [("model-2026-11", "model-2026-11"), ("", "scripted:model")])
def test_the_log_names_the_model_that_answered(tmp_path: Path, answered: str, logged: str) -> None:
    agent, seen = make_agent(tmp_path, Answering(answered))
    ask(agent)
    assert [event.model for event in seen if isinstance(event, AssistantSaid)] == [logged]


# -- interruptions


class Dripping(ScriptedModel):
    """Says a few words, then waits for ever; a retry before it voids what came first."""

    async def stream(self, request: Request) -> AsyncGenerator[ModelStreamEvent | Reply, None]:
        self.requests.append(request)
        yield TextDelta("void")
        yield ModelRetrying("overloaded", 0.0, 1)
        yield TextDelta("I think ")
        yield TextDelta("that")
        await asyncio.Event().wait()


def interrupted(agent: Runtime, seen: Seen, when: Any) -> RunResult:
    async def work() -> RunResult:
        asked = asyncio.ensure_future(agent.ask("go"))
        while not any(when(event) for event in seen):
            await asyncio.sleep(0.001)
        agent.interrupt()
        ending = await asked
        await agent.close()
        return ending

    return run(work())


def test_an_interrupted_answer_keeps_what_was_said(tmp_path: Path) -> None:
    agent, seen = make_agent(tmp_path, Dripping([]))
    ending = interrupted(agent, seen, lambda event: event == TextDelta("that"))
    assert ending.stop_reason == "interrupted"
    said = [event for event in seen if isinstance(event, AssistantSaid)]
    assert [(plain_text(event.blocks), event.stop_reason) for event in said] == [("I think that", "interrupted")]
    assert agent.session.engine.live_request().messages


def test_interrupted_calls_get_an_honest_result(tmp_path: Path) -> None:
    made = [call("echo", text="quick"), call("write", text="slow", seconds=60), call("write", text="later")]
    agent, seen = make_agent(tmp_path, ScriptedModel([calls(*made)]))
    ending = interrupted(agent, seen, lambda _: (tmp_path / "written.txt").exists())
    assert ending.stop_reason == "interrupted"
    quick, slow, later = results(seen)
    assert quick == "heard quick"
    assert "interrupted by the user" in slow
    assert "not run" in later
    assert (tmp_path / "written.txt").read_text() == "slow\n"
    model = ScriptedModel([say("ok")])
    agent, _ = make_agent(tmp_path, model, resume=True)
    assert ask(agent, "go on").text == "ok"
    assert len(answered(model.requests[0].messages)) == 3


def test_words_said_meanwhile_are_heard_at_the_next_seam(tmp_path: Path) -> None:
    def second(request: Request) -> Step:
        assert "use tabs" in said_last(request)
        agent.queue("and be quick")
        return say("almost")

    def first(request: Request) -> Step:
        agent.queue("use tabs")
        return calls(call("echo", text="a"))

    model = ScriptedModel([first, second, say("done")])
    agent, seen = make_agent(tmp_path, model)
    assert ask(agent).text == "done"
    assert "and be quick" in said_last(model.requests[2])
    assert [plain_text(event.blocks) for event in seen if isinstance(event, UserSaid)] == [
        "go",
        "use tabs",
        "and be quick",
    ]


# -- compaction, hooks, system


def test_no_summary_is_asked_for_where_a_pass_would_save_nothing(tmp_path: Path) -> None:
    model = ScriptedModel([say("hi")])
    agent, _ = make_agent(tmp_path, model)
    ask(agent)
    assert run(agent.compact("everything")) is None
    assert len(model.requests) == 1


def test_a_pass_that_the_model_asks_for_comes_after_its_batch_with_its_own_summary(tmp_path: Path) -> None:
    long = "\n".join(f"line {number} of something" for number in range(300))
    steps = [calls(call("echo", text=f"{number} {long}")) for number in range(12)]
    summary = say("Asked: go.\nDecided: keep the old parser.\nNext: the tests.")
    model = ScriptedModel([*steps, calls(call("compact", text="parser"), call("echo", text="b")), summary, say("ok")])
    agent, seen = make_agent(tmp_path, model, window=60_000)
    assert ask(agent).text == "ok"
    model.verify()
    made = [event for event in seen if isinstance(event, Compacted)][-1]
    assert made.focus == "parser"
    assert "keep the old parser" in made.summary
    assert "heard b" in results(seen)
    assert model.requests[13].messages[: len(model.requests[12].messages) - 1] == model.requests[12].messages[:-1]
    assert "summary of this session" in said_last(model.requests[13])


def test_a_summary_that_does_not_come_costs_nothing_but_a_note(tmp_path: Path) -> None:
    long = "\n".join(f"line {number} of something" for number in range(300))
    steps = [calls(call("echo", text=f"{number} {long}")) for number in range(12)]
    model = ScriptedModel([*steps, calls(call("compact")), ModelNotSetUp("no key"), say("ok")])
    agent, seen = make_agent(tmp_path, model, window=60_000)
    assert ask(agent).text == "ok"
    assert any(isinstance(event, Compacted) for event in seen)
    assert "no key" in next(event.text for event in seen if isinstance(event, Noted) and event.kind == "summary")


def test_a_summary_is_asked_for_whenever_a_pass_is_due_where_the_settings_say_so(tmp_path: Path) -> None:
    long = "\n".join(f"line {number} of something" for number in range(300))

    def play(request: Request) -> Step:
        if "summary of this session" in said_last(request):
            return say("Asked: go.\nDecided: keep the old parser.\nNext: the tests.")
        return calls(call("echo", text=f"{len(model.requests)} {long}")) if len(model.requests) < 24 else say("ok")

    model = ScriptedModel([play] * 40)
    agent, seen = make_agent(tmp_path, model, window=40_000)
    agent.parts.summaries = "always"
    assert ask(agent).text == "ok"
    made = [event for event in seen if isinstance(event, Compacted)]
    assert made
    assert all("keep the old parser" in event.summary for event in made)


def test_what_a_folder_says_comes_with_the_first_look_into_it(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "AGENTS.md").write_text("Only tabs below here.")
    (tmp_path / "sub" / "a.txt").write_text("text")
    look = calls(call("read_file", path="sub/a.txt"))
    model = ScriptedModel([look, look, say("ok")])
    agent, seen = make_agent(tmp_path, model, tools=[ReadFile()])
    agent.context.rules_of = Instructions(tmp_path).nested
    ask(agent)
    assert ["Only tabs" in text for text in results(seen)] == [True, False]


def test_hooks_block_add_and_send_back_to_work(tmp_path: Path) -> None:
    model = ScriptedModel([calls(call("write", text="x")), say("done")] + [say("still done")] * 3)
    hooks = HooksOf(
        UserPromptSubmit=HookAnswer(context="today is Friday"),
        PreToolUse=HookAnswer(blocked="not on Fridays"),
        Stop=HookAnswer(blocked="write the tests first"),
    )
    agent, seen = make_agent(tmp_path, model, hooks=hooks)
    assert ask(agent).stop_reason == "done"
    model.verify()
    assert "today is Friday" in said_last(model.requests[0])
    assert "not on Fridays" in results(seen)[0]
    assert not (tmp_path / "written.txt").exists()
    assert "write the tests first" in said_last(model.requests[2])


def test_a_hook_may_refuse_the_words_of_the_user(tmp_path: Path) -> None:
    model = ScriptedModel([])
    agent, seen = make_agent(tmp_path, model, hooks=HooksOf(UserPromptSubmit=HookAnswer(blocked="no secrets")))
    assert ask(agent) == RunResult("hook", detail="no secrets", session="s", cost=0.0)
    assert not [event for event in seen if isinstance(event, UserSaid)]


def test_instructions_that_changed_are_told_in_the_next_turn_and_the_prompt_stays_in_the_cache(
    tmp_path: Path,
) -> None:
    rules = ["Use tabs."]
    model = ScriptedModel([say("a"), say("b"), say("c")])
    agent, seen = make_agent(tmp_path, model, system=lambda: rules[0])

    async def work() -> None:
        await agent.ask("one")
        await agent.ask("two")
        rules[0] = "Use spaces."
        await agent.ask("three")
        await agent.close()

    run(work())
    assert [request.system for request in model.requests] == ["Use tabs."] * 3
    assert ["+Use spaces." in said_last(request) for request in model.requests] == [False, False, True]
    assert len([event for event in seen if isinstance(event, SystemChanged)]) == 2  # the tools came with the first


# -- sub-agents


def test_sub_agents_work_in_parallel_with_their_own_logs_and_fewer_tools(tmp_path: Path) -> None:
    def play(request: Request) -> Step:
        words = " ".join(plain_text(message.blocks) for message in request.messages)
        if "go" in words:
            return say("all done") if answered(request.messages) else calls(*sent)
        if answered(request.messages):
            return say(f"report on {words}")
        assert "subagent" not in [tool["name"] for tool in request.tools]
        return calls(call("echo", text=words))

    sent = [call("subagent", prompt="look at a", tools=["echo", "rm"]), call("subagent", prompt="look at b")]
    model = ScriptedModel([play] * 6)
    agent, seen = make_agent(tmp_path, model)
    assert ask(agent).text == "all done"
    model.verify()
    first, second = results(seen)
    assert "report on <task>look at a</task>" in first
    assert "report on <task>look at b</task>" in second
    store = open_stores(f"files:{tmp_path}/.tasks").logs
    assert len(store.sessions()) == 3
    assert all(info.id in "".join(results(seen)) for info in store.sessions() if info.id != "s")
    assert len([event for event in seen if isinstance(event, SubagentActed)]) == 2
    assert agent.spending.requests == 6


def test_sub_agents_spend_what_is_left_of_the_same_budget(tmp_path: Path) -> None:
    def play(request: Request) -> Step:
        words = " ".join(plain_text(message.blocks) for message in request.messages)
        if "<task>" in words:
            return calls(call("echo", text=str(len(model.requests))))
        return calls(call("subagent", prompt="look"))

    model = ScriptedModel([play] * 200)
    agent, seen = make_agent(tmp_path, model, limits=lambda spending: [Tokens(6_000, spending)])
    ending = ask(agent)
    assert ending.stop_reason == "limit"
    assert "the limit is 6,000" in results(seen)[0]
    assert agent.spending.tokens < 9_000


@pytest.mark.parametrize("words", ["a", "ab"])
def test_a_log_that_cannot_be_written_ends_the_run_with_its_own_error(tmp_path: Path, words: str) -> None:
    model = ScriptedModel([calls(*(call("echo", text=word) for word in words)), say("done")])
    agent, _ = make_agent(tmp_path, model)

    def full(*_: object, **__: object) -> None:
        raise StoreUnavailable("the disk is full")

    agent.session.tool_finished = full  # type: ignore[method-assign,assignment]
    with pytest.raises(StoreUnavailable, match="the disk is full"):
        ask(agent)
