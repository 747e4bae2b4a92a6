"""Thinking is bound to the conversation before it: what breaks it, what does not, and what happens then."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlive.testing import Simulator, call, say, think
from outlive.testing.simulator import SeenRequest, Step
from outlive.testing.simulator.models import KNOWN
from tests.testing.simulator.talking import (
    CLAUDE,
    TOOL,
    Heard,
    ask_claude,
    claude,
    result,
    system,
    text,
    user,
)

CONTROLS = "thinking-binding-controls-2026-08-01"
CLEAR_AT = "mid-conversation-system-clear-at-2026-08-21"
OLDER = "claude-opus-5"
DROP = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
ERROR = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}}
BOUND = "Invalid `signature` in `thinking` block. The block is bound to a different conversation."


def brain(request: SeenRequest) -> Step:
    """Think and call, every time with other words."""
    return think(f"thought {len(request.messages)}") + call("bash", command=f"echo {len(request.messages)}")


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(brain=brain) as simulator:
        yield simulator
        simulator.verify()


@pytest.fixture
def lenient() -> Iterator[Simulator]:
    with Simulator(brain=brain, binding="reported") as simulator:
        yield simulator
        simulator.verify()


def go_on(body: dict[str, Any], heard: Heard) -> None:
    """Append an answer and the results of its calls."""
    assert heard.status == 200, heard.body
    content = heard.body["content"]
    body["messages"].append({"role": "assistant", "content": content})
    results: list[Any] = [result(block["id"]) for block in content if block["type"] == "tool_use"]
    body["messages"].append(user(*(results or ["go on"])))


def conversation(sim: Simulator, turns: int = 3, **more: Any) -> dict[str, Any]:
    """A request after some turns, each of them with thinking in `messages.{1, 3, 5, …}.content.0`."""
    body = claude(user("do it"), tools=[TOOL], system=[text("be good")], **more)
    for _ in range(turns):
        go_on(body, ask_claude(sim, body))
    return body


def forget(body: dict[str, Any], *indexes: int) -> None:
    """Leave the thinking out of some messages."""
    for index in indexes:
        content = body["messages"][index]["content"]
        body["messages"][index]["content"] = [block for block in content if block["type"] != "thinking"]


def paths(*indexes: int) -> list[str]:
    return [f"messages.{index}.content.0" for index in indexes]


def change_the_first_text(body: dict[str, Any]) -> None:
    body["messages"][0]["content"][0]["text"] = "do it now"


def change_the_system_prompt(body: dict[str, Any]) -> None:
    body["system"][0]["text"] = "be better"


def remove_the_system_prompt(body: dict[str, Any]) -> None:
    del body["system"]


def change_a_tool(body: dict[str, Any]) -> None:
    body["tools"][0] = {**TOOL, "description": "Run a program."}


def add_a_tool(body: dict[str, Any]) -> None:
    body["tools"].append({**TOOL, "name": "python"})


def shorten_a_result(body: dict[str, Any]) -> None:
    body["messages"][2]["content"][0]["content"] = "…"


def change_the_input_of_a_call(body: dict[str, Any]) -> None:
    body["messages"][1]["content"][1]["input"] = {"command": "pwd"}


def add_a_text_to_an_earlier_turn(body: dict[str, Any]) -> None:
    body["messages"][2]["content"].append(text("<state>2 of 3</state>"))


def leave_out_the_oldest_turn(body: dict[str, Any]) -> None:
    del body["messages"][1:3]


def leave_out_thinking_in_the_middle(body: dict[str, Any]) -> None:
    forget(body, 3)


def swap_two_thoughts(body: dict[str, Any]) -> None:
    first, second = body["messages"][1]["content"], body["messages"][3]["content"]
    first[0], second[0] = second[0], first[0]


EDITS: dict[Callable[[dict[str, Any]], None], tuple[list[str], str]] = {
    change_the_first_text: (paths(1, 3, 5), "Content before this block differs from when it was created."),
    change_the_system_prompt: (paths(1, 3, 5), "The `system` prompt differs from when the block was created."),
    remove_the_system_prompt: (paths(1, 3, 5), "The `system` prompt differs from when the block was created."),
    change_a_tool: (paths(1, 3, 5), "The `tools` list differs from when the block was created."),
    add_a_tool: (paths(1, 3, 5), "The `tools` list differs from when the block was created."),
    shorten_a_result: (paths(3, 5), "Content before this block differs from when it was created."),
    change_the_input_of_a_call: (paths(3, 5), "Content before this block differs from when it was created."),
    add_a_text_to_an_earlier_turn: (paths(3, 5), "Content before this block differs from when it was created."),
    leave_out_the_oldest_turn: (paths(1, 3), "Content before this block differs from when it was created."),
    leave_out_thinking_in_the_middle: (paths(5), "The thinking block before this one is not the one that it was"),
    swap_two_thoughts: (paths(1, 3, 5), "Content before this block differs from when it was created."),
}


def test_a_conversation_that_only_grows_is_accepted_for_fifty_turns(sim: Simulator) -> None:
    body = conversation(sim, 50)
    assert len(body["messages"]) == 101
    assert sim.refusals == []
    assert [request.dropped or request.mismatched for request in sim.requests] == [()] * 50


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_refused_and_the_error_names_the_first_block_and_what_differs(
    sim: Simulator, edit: Callable[[dict[str, Any]], None]
) -> None:
    body = conversation(sim)
    edit(body)
    failing, reason = EDITS[edit]
    heard = ask_claude(sim, body)
    assert (heard.status, heard.error["type"]) == (400, "invalid_request_error")
    assert heard.error["message"].startswith(f"{failing[0]}: {BOUND} Remove the block, or set")
    assert f"requires the `{CONTROLS}` value" in heard.error["message"]
    assert reason in heard.error["message"]
    counted = {name: value for name, value in body.items() if name != "max_tokens"}
    assert BOUND in ask_claude(sim, counted, path="/v1/messages/count_tokens").error["message"]


@pytest.mark.parametrize("edit", EDITS)
def test_failing_blocks_are_dropped_if_the_request_says_so(
    sim: Simulator, edit: Callable[[dict[str, Any]], None]
) -> None:
    body = conversation(sim)
    edit(body)
    failing = EDITS[edit][0]
    body["thinking"] = DROP
    heard = ask_claude(sim, body, beta=CONTROLS)
    assert [*sim.requests[-1].dropped] == failing
    assert sim.requests[-1].body["messages"] == body["messages"]
    reason = {"type": "thinking_dropped", "reason": "prefix_binding_mismatch"}
    assert heard.body["input_transformations"] == [{**reason, "path": path} for path in failing]


@pytest.mark.parametrize("edit", EDITS)
def test_older_accounts_show_failing_blocks_and_report_them(
    lenient: Simulator, edit: Callable[[dict[str, Any]], None]
) -> None:
    body = conversation(lenient)
    edit(body)
    failing = EDITS[edit][0]
    heard = ask_claude(lenient, body, beta=CONTROLS)
    assert [*lenient.requests[-1].mismatched] == failing
    reason = {"type": "thinking_mismatch_allowed", "reason": "prefix_binding_mismatch"}
    assert heard.body["input_transformations"] == [{**reason, "path": path} for path in failing]
    silent = ask_claude(lenient, body)
    assert (silent.status, "input_transformations" in silent.body) == (200, False)


def test_a_request_of_an_older_account_may_ask_to_be_enforced(lenient: Simulator) -> None:
    body = conversation(lenient)
    change_the_first_text(body)
    heard = ask_claude(lenient, body | {"thinking": ERROR}, beta=CONTROLS)
    assert heard.error["message"].startswith(f"messages.1.content.0: {BOUND}")
    assert "requires the" not in heard.error["message"]  # the header is there
    assert ask_claude(lenient, body | {"thinking": DROP}, beta=CONTROLS).status == 200
    assert [*lenient.requests[-1].dropped] == paths(1, 3, 5)


def test_a_gap_fails_all_later_thinking_where_the_check_is_enforced_and_else_the_next(
    sim: Simulator, lenient: Simulator
) -> None:
    body = conversation(sim, 5)
    forget(body, 3)
    ask_claude(sim, body | {"thinking": DROP}, beta=CONTROLS)
    assert [*sim.requests[-1].dropped] == paths(5, 7, 9)
    ask_claude(lenient, body)
    assert [*lenient.requests[-1].mismatched] == paths(5)


def put_marks(body: dict[str, Any]) -> None:
    body["tools"][0] = {**TOOL, "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    body["system"][0]["cache_control"] = {"type": "ephemeral"}
    body["messages"][2]["content"][0]["cache_control"] = {"type": "ephemeral"}


def write_texts_as_strings(body: dict[str, Any]) -> None:
    body["messages"][0]["content"] = "do it"
    body["system"] = "be good"


def change_what_is_not_the_prompt(body: dict[str, Any]) -> None:
    body |= {"max_tokens": 500, "output_config": {"effort": "low"}, "tool_choice": {"type": "auto"}}


def add_a_deferred_tool(body: dict[str, Any]) -> None:
    body["tools"].append({**TOOL, "name": "python", "defer_loading": True})


def forget_the_oldest(body: dict[str, Any]) -> None:
    forget(body, 1)


def forget_the_two_oldest(body: dict[str, Any]) -> None:
    forget(body, 1, 3)


def forget_everything(body: dict[str, Any]) -> None:
    forget(body, 1, 3, 5)


def summarize_without_thinking(body: dict[str, Any]) -> None:
    forget(body, 1, 3, 5)
    body["messages"][0] = user("summary of what was")
    del body["messages"][1:3]


@pytest.mark.parametrize(
    "edit",
    [
        put_marks,
        write_texts_as_strings,
        change_what_is_not_the_prompt,
        add_a_deferred_tool,
        forget_the_oldest,
        forget_the_two_oldest,
        forget_everything,
        summarize_without_thinking,
    ],
)
def test_these_edits_are_legal(sim: Simulator, edit: Callable[[dict[str, Any]], None]) -> None:
    body = conversation(sim)
    edit(body)
    for _ in range(2):
        heard = ask_claude(sim, body, beta=CONTROLS)
        assert (heard.status, heard.body.get("input_transformations")) == (200, []), heard.body
        go_on(body, heard)


def test_thinking_that_was_left_out_stays_out(sim: Simulator) -> None:
    whole = conversation(sim)
    body = copy.deepcopy(whole)
    forget(body, 1, 3, 5)
    go_on(body, ask_claude(sim, body))
    body["messages"][5] = whole["messages"][5]
    assert ask_claude(sim, body).error["message"].startswith(f"messages.7.content.0: {BOUND}")


def test_thinking_made_after_an_edit_is_valid_while_the_older_is_dropped(sim: Simulator) -> None:
    body = conversation(sim)
    change_the_system_prompt(body)
    body["thinking"] = DROP
    for _ in range(3):
        go_on(body, ask_claude(sim, body, beta=CONTROLS))
        assert [*sim.requests[-1].dropped] == paths(1, 3, 5)
    forget(body, 1, 3, 5)
    assert ask_claude(sim, body, beta=CONTROLS).body["input_transformations"] == []


def test_dropped_thinking_is_not_counted(sim: Simulator) -> None:
    body = conversation(sim)
    change_a_tool(body)
    bare = copy.deepcopy(body)
    forget(bare, 1, 3, 5)
    dropped = ask_claude(sim, body | {"thinking": DROP}, beta=CONTROLS).body["usage"]["input_tokens"]
    assert dropped == ask_claude(sim, bare).body["usage"]["input_tokens"]


def test_the_rest_of_a_run_of_thinking_is_dropped_with_it() -> None:
    with Simulator(brain=lambda request: think("one") + think("two") + say("fine")) as sim:
        body = claude(user("x"))
        go_on(body, ask_claude(sim, body))
        body["messages"][0] = user("y")
        ask_claude(sim, body | {"thinking": DROP}, beta=CONTROLS)
        assert sim.requests[-1].dropped == ("messages.1.content.0", "messages.1.content.1")


def test_thinking_after_a_block_that_does_not_belong_there_is_dropped_with_it(sim: Simulator) -> None:
    foreign = conversation(sim, 1, model=OLDER)["messages"][1]["content"][0]
    body = conversation(sim)
    body["messages"][5]["content"].insert(0, foreign)
    ask_claude(sim, body | {"thinking": DROP}, beta=CONTROLS)
    assert sim.requests[-1].dropped == ("messages.5.content.0", "messages.5.content.1")


def test_what_an_answer_says_before_it_thinks_is_part_of_the_prefix() -> None:
    step = say("First.") + think("hm") + call("bash", command="ls") + think("hm again") + say("Then.")
    with Simulator(brain=lambda request: step) as sim:
        body = claude(user("x"), tools=[TOOL])
        content = ask_claude(sim, body).body["content"]
        answer = {"role": "assistant", "content": content}
        body["messages"] += [answer, user(result(content[2]["id"]))]
        assert ask_claude(sim, body).status == 200
        altered = copy.deepcopy(body)
        assert altered["messages"][1]["content"][0].pop("citations") is None  # null is the same as nothing
        assert ask_claude(sim, altered).status == 200
        altered["messages"][1]["content"][0]["text"] = "First!"
        assert ask_claude(sim, altered).error["message"].startswith("messages.1.content.1: Invalid")
        altered = copy.deepcopy(body)
        altered["messages"][1]["content"][2]["input"] = {"command": "rm"}
        assert ask_claude(sim, altered).error["message"].startswith("messages.1.content.3: Invalid")
        body["messages"][1]["content"] = content[:2]
        split = [{"role": "assistant", "content": content[2:]}, body["messages"].pop()]
        assert ask_claude(sim, body | {"messages": [*body["messages"], *split]}).status == 200


def test_the_signatures_outlive_the_simulator() -> None:
    with Simulator(brain=brain) as sim:
        body = conversation(sim)
    with Simulator(brain=brain) as again:
        go_on(body, ask_claude(again, body))
        assert ask_claude(again, body).status == 200
        change_the_first_text(body)
        assert BOUND in ask_claude(again, body).error["message"]


def test_thinking_of_a_model_that_does_not_bind_has_no_record(sim: Simulator) -> None:
    body = conversation(sim, model=OLDER)
    change_the_first_text(body)
    assert ask_claude(sim, body).status == 200  # it checks the text only
    body["model"] = CLAUDE
    heard = ask_claude(sim, body)
    assert heard.error["message"].startswith(f"messages.1.content.0: {BOUND}")
    assert heard.error["message"].endswith("The block carries no record of the conversation that it was created in.")
    go_on(body, ask_claude(sim, body | {"thinking": DROP}, beta=CONTROLS))
    assert [*sim.requests[-1].dropped] == paths(1, 3, 5)
    forget(body, 1, 3, 5)
    assert ask_claude(sim, body).status == 200


def test_an_older_model_takes_thinking_that_is_bound(sim: Simulator) -> None:
    body = conversation(sim)
    change_the_first_text(body)
    assert ask_claude(sim, body | {"model": OLDER}).status == 200
    heard = ask_claude(sim, body | {"model": OLDER, "thinking": DROP}, beta=CONTROLS)
    assert heard.body["input_transformations"] == []


def test_the_models_that_bind_are_the_newest() -> None:
    assert {model.name.removeprefix("claude-") for model in KNOWN if model.binds_thinking} == {
        *("fable-5-1", "fable-5-2", "mythos-5-1", "mythos-5-2", "opus-5-5", "sonnet-5-5", "haiku-5-5"),
    }


def test_a_tampered_signature_is_refused_whatever_the_request_says(sim: Simulator) -> None:
    body = conversation(sim)
    body["messages"][1]["content"][0]["signature"] += "x"
    for more, beta in (({}, ""), ({"thinking": DROP}, CONTROLS)):
        heard = ask_claude(sim, body | more, beta=beta)
        assert heard.error["message"] == "messages.1.content.0: Invalid `signature` in `thinking` block"


@pytest.mark.parametrize(
    ("thinking", "beta", "words"),
    [
        (DROP, "", "thinking.adaptive.block_binding: Extra inputs are not permitted"),
        ({"type": "disabled", "block_binding": {}}, CONTROLS, "thinking.disabled.block_binding: Extra inputs"),
        ({"type": "adaptive", "block_binding": "drop"}, CONTROLS, "thinking.adaptive.block_binding: Input should be"),
        (
            {"type": "adaptive", "block_binding": {"mode": "x"}},
            CONTROLS,
            "thinking.adaptive.block_binding.mode: Extra",
        ),
        (
            {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop"}},
            CONTROLS,
            "thinking.adaptive.block_binding.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'",
        ),
    ],
)
def test_the_controls_are_checked(sim: Simulator, thinking: Any, beta: str, words: str) -> None:
    assert ask_claude(sim, claude(thinking=thinking), beta=beta).error["message"].startswith(words)


@pytest.mark.parametrize("binding", [None, {}, {"prefix_mismatch_behavior": None}])
def test_controls_that_say_nothing_are_the_default(sim: Simulator, lenient: Simulator, binding: Any) -> None:
    for one, status in ((sim, 400), (lenient, 200)):
        body = conversation(one)
        change_the_first_text(body)
        body["thinking"] = {"type": "adaptive", "block_binding": binding}
        assert ask_claude(one, body, beta=CONTROLS).status == status


@pytest.mark.parametrize("streaming", [True, False])
def test_the_sdk_reads_what_was_dropped(sim: Simulator, streaming: bool) -> None:
    body = conversation(sim)
    change_the_first_text(body)
    body["thinking"] = DROP
    with anthropic.Anthropic(base_url=sim.url, api_key="test-key") as client:
        if streaming:
            with client.beta.messages.stream(**body, betas=[CONTROLS]) as stream:
                message: Any = stream.get_final_message()
        else:
            message = client.beta.messages.create(**body, betas=[CONTROLS])
    found = [(one.type, one.path, one.reason) for one in message.input_transformations]
    assert found == [("thinking_dropped", path, "prefix_binding_mismatch") for path in paths(1, 3, 5)]


def test_a_stream_reports_it_at_its_start(sim: Simulator) -> None:
    events = dict(ask_claude(sim, claude(stream=True), beta=CONTROLS).events)
    assert events["message_start"]["message"]["input_transformations"] == []
    assert "input_transformations" not in events["message_delta"]  # the API repeats it only after a fallback


def test_what_the_sdk_gives_back_is_what_was_sent(sim: Simulator) -> None:
    messages: list[Any] = [{"role": "user", "content": "go"}]
    with anthropic.Anthropic(base_url=sim.url, api_key="test-key") as client:
        for _ in range(3):
            with client.messages.stream(model=CLAUDE, max_tokens=999, messages=messages, tools=[TOOL]) as stream:
                message = stream.get_final_message()
            results = [result(block.id) for block in message.content if block.type == "tool_use"]
            messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
    assert sim.refusals == []


def test_a_turn_scoped_message_is_part_of_the_prefix_after_it_was_cleared(sim: Simulator) -> None:
    body = claude(user("do it"), system("be brief", clear_at="next_user_message"), tools=[TOOL])
    for number in range(3):
        go_on(body, ask_claude(sim, body, beta=CLEAR_AT))
        body["messages"].append(system(f"step {number}", clear_at="next_user_message"))
    assert ask_claude(sim, body, beta=CLEAR_AT).status == 200
    for change in ({"content": "be long"}, {"clear_at": "never"}):
        altered = copy.deepcopy(body)
        altered["messages"][1] |= change
        assert BOUND in ask_claude(sim, altered, beta=CLEAR_AT).error["message"]
    del body["messages"][1]
    assert BOUND in ask_claude(sim, body, beta=CLEAR_AT).error["message"]


def test_the_mode_is_one_of_two() -> None:
    with pytest.raises(ValueError, match="binding is one of enforced, reported, and not 'off'"):
        Simulator(binding="off")


WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(str.strip)


@settings(max_examples=40, deadline=None)
@given(st.lists(WORDS, min_size=2, max_size=5), st.data())
def test_whatever_text_is_changed_the_thinking_after_it_fails_and_no_other(
    words: list[str], data: st.DataObject
) -> None:
    with Simulator(brain=lambda request: think("hm") + say("yes"), binding="reported") as sim:
        body = claude()
        body["messages"] = []
        for word in words:
            body["messages"].append(user(word))
            body["messages"].append({"role": "assistant", "content": ask_claude(sim, body).body["content"]})
        body["messages"].append(user("end"))
        assert ask_claude(sim, body, beta=CONTROLS).body["input_transformations"] == []
        changed = data.draw(st.integers(0, len(words) - 1))
        body["messages"][2 * changed] = user(words[changed] + "!")
        ask_claude(sim, body)
        assert [*sim.requests[-1].mismatched] == paths(*range(2 * changed + 1, 2 * len(words), 2))
