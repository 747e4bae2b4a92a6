"""Scripts, brains, and what a test can ask about the requests that came."""

from typing import Any

import pytest

from outlive.testing import Simulator, call, calls, say, think
from outlive.testing.simulator import Call, Say, SeenRequest, SeenResult, Step, Think
from outlive.testing.simulator.steps import read_steps
from tests.testing.simulator.talking import (
    FUNCTION,
    TOOL,
    ask_claude,
    ask_gpt,
    assistant,
    claude,
    gpt,
    gpt_calls,
    gpt_result,
    result,
    use,
    user,
)


def test_steps_are_put_together() -> None:
    step = think("hm") + say("I look") + calls([call("bash", command="ls"), call("grep", {"name": "x"}, path=".")])
    assert step.parts == (
        Think("hm"),
        Say("I look"),
        Call("bash", {"command": "ls"}),
        Call("grep", {"name": "x", "path": "."}),
    )
    assert str(say("x" * 99)) == f"say({'x' * 57 + '…'!r})"


def test_steps_are_read_from_json() -> None:
    given = [{"say": "one"}, [{"think": "hm"}, {"call": "bash", "input": {"command": "ls"}}]]
    assert read_steps(given) == [say("one"), think("hm") + call("bash", command="ls")]
    several: list[Any] = [{}, [{"shout": "x"}], ["say"]]
    for wrong in several:
        with pytest.raises(ValueError, match=r"a script is|a part of a step"):
            read_steps(wrong)


def test_a_script_is_played_in_order_and_to_its_end() -> None:
    with Simulator(script=[say("one"), say("two")]) as sim:
        said = [ask_claude(sim, claude()).body["content"][0]["text"] for _ in range(2)]
        assert said == ["one", "two"]
        sim.verify()


def test_steps_that_were_not_played_are_named() -> None:
    with Simulator(script=[say("one"), say("two"), call("bash", command="ls")]) as sim:
        ask_claude(sim, claude())
        with pytest.raises(AssertionError) as caught:
            sim.verify()
    assert "not played: step 2: say('two')" in str(caught.value)
    assert "not played: step 3: call('bash', {'command': 'ls'})" in str(caught.value)


def test_a_request_after_the_last_step_is_refused_and_named() -> None:
    with Simulator(script=[]) as sim:
        heard = ask_gpt(sim, gpt())
        assert heard.status == 400
        assert "came after the last step of the script" in heard.error["message"]
        with pytest.raises(AssertionError, match=r"request 1 \(openai\) came after the last step"):
            sim.verify()


def test_a_script_and_a_brain_are_one_too_many() -> None:
    with pytest.raises(ValueError, match="not both"):
        Simulator(script=[], brain=lambda request: say("x"))


def test_a_brain_that_fails_is_reported_with_its_error() -> None:
    def brain(request: SeenRequest) -> Step:
        raise KeyError("oops")

    with Simulator(brain=brain) as sim:
        assert ask_claude(sim, claude()).status == 500
        with pytest.raises(AssertionError, match="KeyError: 'oops'") as caught:
            sim.verify()
        assert isinstance(caught.value.__cause__, KeyError)


def test_thinking_is_left_out_where_the_request_has_it_off() -> None:
    with Simulator(script=[think("hm") + say("yes"), think("hm") + say("yes")]) as sim:
        content = ask_claude(sim, claude(thinking={"type": "disabled"})).body["content"]
        assert [block["type"] for block in content] == ["text"]
        body = ask_gpt(sim, gpt()).body
        assert body["choices"][0]["message"]["content"] == "yes"
        assert body["usage"]["completion_tokens_details"]["reasoning_tokens"] == 1


def test_calls_get_ids_of_their_own_unless_they_bring_one() -> None:
    step = calls([call("a"), call("b"), call("c", call_id="mine")])
    with Simulator(brain=lambda request: step) as sim:
        ids = [block["id"] for _ in range(3) for block in ask_claude(sim, claude()).body["content"]]
    assert ids.count("mine") == 3
    assert len(set(ids)) == 7
    assert all(one == "mine" or one.startswith("toolu_") for one in ids)


CLAUDE_REQUEST = claude(
    user("first words"),
    assistant("I look", use("t1"), use("t2", name="grep")),
    user(result("t1", "one"), result("t2", [{"type": "text", "text": "two"}], is_error=True), "state: 1"),
    system="be good",
    tools=[TOOL],
)
GPT_REQUEST = gpt(
    {"role": "system", "content": "be good"},
    {"role": "user", "content": [{"type": "text", "text": "first words"}]},
    {**gpt_calls("c1"), "content": "I look"},
    gpt_result("c1"),
    {"role": "user", "content": "state: 1"},
    tools=[FUNCTION],
)


def seen(ask: Any, body: dict[str, Any]) -> SeenRequest:
    with Simulator(brain=lambda request: say("x")) as sim:
        assert ask(sim, body).status == 200
        return sim.requests[0]


def test_a_request_to_anthropic_can_be_asked() -> None:
    request = seen(ask_claude, CLAUDE_REQUEST)
    assert (request.number, request.provider, request.path) == (1, "anthropic", "/v1/messages")
    assert (request.system_text, list(request.tools)) == ("be good", ["bash"])
    assert request.tools["bash"] == TOOL
    assert request.messages == CLAUDE_REQUEST["messages"]
    assert request.user_words() == ("first words", "state: 1")
    assert request.last_results() == request.results()
    assert request.last_results() == (
        SeenResult("t1", "bash", "one", False),
        SeenResult("t2", "grep", "two", True),
    )
    assert next((one.id, one.name, one.input) for one in request.calls()) == ("t1", "bash", {"command": "ls"})
    assert all(
        words in request.text for words in ("be good", "first words", "I look", "ls", "one", "two", "state: 1")
    )


def test_a_request_to_openai_can_be_asked() -> None:
    request = seen(ask_gpt, GPT_REQUEST)
    assert (request.provider, request.system_text, list(request.tools)) == ("openai", "be good", ["bash"])
    assert request.user_words() == ("first words", "state: 1")
    assert request.last_results() == (SeenResult("c1", "bash", "a.txt", False),)
    assert [(one.id, one.name) for one in request.calls()] == [("c1", "bash")]
    assert all(words in request.text for words in ("be good", "first words", "I look", "ls", "a.txt", "state: 1"))


def test_results_of_turns_before_are_not_the_last_ones() -> None:
    request = seen(ask_claude, claude(user("x"), assistant(use("t1")), user(result("t1")), assistant("y"), user("z")))
    assert request.last_results() == ()
    assert len(request.results()) == 1


def test_a_brain_goes_on_where_a_killed_client_left_off() -> None:
    """It knows nothing but the request: a client that restarts with the same history gets the same answer."""

    def brain(request: SeenRequest) -> Step:
        done = len(request.results())
        return say("done") if done == 3 else call("bash", command=f"step {done + 1}")

    history = [user("go")]
    with Simulator(brain=brain) as sim:
        for number in range(1, 4):
            asked = [ask_claude(sim, claude(*history)).body["content"] for _ in range(2)]
            assert [content[-1]["input"] for content in asked] == [{"command": f"step {number}"}] * 2
            history += [assistant(*asked[1]), user(result(asked[1][-1]["id"]))]
        assert ask_claude(sim, claude(*history)).body["content"][0]["text"] == "done"
        sim.verify()
