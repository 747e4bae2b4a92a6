"""Compaction on demand of the Messages API: the request, the block, and the thinking that is kept after it."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import pytest

from outlive.testing import Fault, Simulator, call, say, think
from outlive.testing.simulator import SeenRequest, Step
from outlive.testing.simulator.models import KNOWN
from tests.testing.simulator.talking import (
    CLAUDE,
    KEY,
    OLD_CLAUDE,
    TOOL,
    Heard,
    ask_claude,
    assistant,
    claude,
    result,
    system,
    text,
    use,
    user,
)

BETA = "compact-2026-09-04"
CONTROLS = "thinking-binding-controls-2026-08-01"
CLEAR_AT = "mid-conversation-system-clear-at-2026-08-21"
EDITS = "compact-2026-01-12"
SUMMARIZE: dict[str, Any] = {"compaction": {"type": "summarize"}}
BINDING, UNBOUND = "claude-opus-5-5", "claude-opus-5"
BOUND = "Invalid `signature` in `thinking` block. The block is bound to a different conversation."
FALSE_SIGNATURE = "messages.0.content.0: Invalid `signature` in `compaction` block"
COUNT = "/v1/messages/count_tokens"


def brain(request: SeenRequest) -> Step:
    """Think and call, every time with other words."""
    return think(f"thought {request.number}") + call("bash", command=f"echo {request.number}")


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(brain=brain, summary=lambda request: f"summary {request.number}") as simulator:
        yield simulator
        simulator.verify()


def ask(sim: Simulator, body: Any, beta: str = BETA) -> Heard:
    return ask_claude(sim, body, beta=beta)


def go_on(sim: Simulator, body: dict[str, Any], turns: int = 1) -> None:
    """Append answers and the results of their calls."""
    for _ in range(turns):
        heard = ask(sim, body)
        assert heard.status == 200, heard.body
        content = heard.body["content"]
        calls = [result(block["id"]) for block in content if block["type"] == "tool_use"]
        body["messages"] += [{"role": "assistant", "content": content}, user(*calls)]


def conversation(sim: Simulator, turns: int = 3, **more: Any) -> dict[str, Any]:
    """A request after some turns, each of them with thinking in `messages.{1, 3, 5, …}.content.0`."""
    body = claude(user("do it"), tools=[TOOL], system=[text("be good")], **more)
    go_on(sim, body, turns)
    return body


def block_of(sim: Simulator, body: dict[str, Any], upto: int | None = None) -> dict[str, Any]:
    """The block that stands for the first messages of a request, in a message of the assistant."""
    heard = ask(sim, {**body, **SUMMARIZE, "messages": body["messages"][:upto]})
    assert heard.body.get("stop_reason") == "compaction", heard.body
    return {"role": "assistant", "content": heard.body["content"]}


def compacted(sim: Simulator, body: dict[str, Any], upto: int) -> dict[str, Any]:
    """A request whose first messages are replaced by the block that stands for them."""
    return {**copy.deepcopy(body), "messages": [block_of(sim, body, upto), *copy.deepcopy(body["messages"][upto:])]}


def refusal(heard: Heard) -> str:
    assert heard.status == 400, heard.raw
    return str(heard.error["message"])


# The request and its answer


def test_the_answer_is_one_signed_block_and_takes_no_step_of_the_script() -> None:
    with Simulator([say("Hello."), say("Bye.")], summary=lambda request: "All said.") as sim:
        body = claude(user("hello"))
        ask(sim, body)
        heard = ask(sim, body | SUMMARIZE).body
        assert heard["stop_reason"] == "compaction"
        (block,) = heard["content"]
        assert {**block, "signature": ""} == {
            **{"type": "compaction", "content": "All said."},
            **{"signature": "", "tool_changes": []},
        }
        ask(sim, body)
        assert [request.compacts for request in sim.requests] == [False, True, False]
        sim.verify()


def test_the_summary_is_made_from_the_request() -> None:
    with Simulator(summary=lambda request: "|".join(request.user_words())) as sim:
        body = claude(user("one"), assistant("x"), user("two"))
        assert ask(sim, body | SUMMARIZE).body["content"][0]["content"] == "one|two"


def test_by_default_the_summary_is_the_start_of_every_text() -> None:
    body = claude(
        *(user("do\nit " + "x" * 80), assistant(use("t1")), user(result("t1"), "and this"), assistant("Fine.")),
        **{**SUMMARIZE, "tools": [TOOL]},
    )
    with Simulator() as sim:
        made = [ask(sim, body).body["content"][0]["content"] for _ in range(2)]
        assert made == [f"- do it {'x' * 54}\n- and this\n- Fine."] * 2
        many = ask(sim, claude(*[user("y" * 50)] * 100, **SUMMARIZE)).body["content"][0]["content"]
        assert (1900 < len(many) <= 2000, set(many.splitlines())) == (True, {"- " + "y" * 50})


def test_a_summary_that_fails_is_a_block_without_content_that_may_be_sent_back() -> None:
    with Simulator(brain=lambda request: say("Fine."), summary=lambda request: None) as sim:
        body = claude(user("hello"))
        heard = ask(sim, body | SUMMARIZE).body
        assert (heard["stop_reason"], heard["content"]) == ("compaction", [{"type": "compaction", "content": None}])
        again = claude({"role": "assistant", "content": heard["content"]}, user("hello"))
        shown = [ask(sim, one).body["usage"]["input_tokens"] for one in (body, again)]
        assert shown[0] == shown[1]


def test_it_is_billed_like_any_request() -> None:
    marked = text("x" * 8000, cache_control={"type": "ephemeral"})
    with Simulator(brain=lambda request: say("Fine."), summary=lambda request: "x" * 320) as sim:
        body = claude(user(marked))
        written = ask(sim, body).body["usage"]["cache_creation_input_tokens"]
        usage = ask(sim, body | SUMMARIZE).body["usage"]
        assert (usage["cache_read_input_tokens"], usage["output_tokens"], written) == (2500, 100, 2500)
        (iteration,) = usage["iterations"]
        assert iteration == {"type": "compaction"} | {name: usage[name] for name in iteration if name != "type"}
        assert (sim.usage.cache_read, sim.usage.output) == (2500, 102)


def test_a_stream_has_the_whole_block_at_its_start(sim: Simulator) -> None:
    events = ask(sim, claude(user("hello"), stream=True, **SUMMARIZE)).events
    assert [name for name, _ in events if name != "ping"] == [
        *("message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"),
    ]
    found = dict(events)
    assert found["content_block_start"]["content_block"]["content"] == "summary 1"
    assert found["message_delta"]["delta"]["stop_reason"] == "compaction"


def test_without_the_beta_the_field_and_the_block_are_unknown(sim: Simulator) -> None:
    body = claude(user("hello"))
    assert refusal(ask(sim, body | SUMMARIZE, "")) == "compaction: Extra inputs are not permitted"
    after = claude(block_of(sim, body), user("go on"))
    assert refusal(ask(sim, after, "")).startswith("messages.0.content.0: Input tag 'compaction' found using 'type'")
    assert ask(sim, after).status == 200


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"compaction": {"type": "shorten"}}, "compaction.type: Input should be 'summarize'"),
        ({"compaction": {}}, "compaction.type: Field required"),
        ({"compaction": "summarize"}, "compaction: Input should be a valid dictionary"),
        ({"compaction": {"type": "summarize", "trigger": 1}}, "compaction.trigger: Extra inputs are not permitted"),
        (
            {"compaction": {"type": "summarize", "instructions": 1}},
            "compaction.instructions: Input should be a valid",
        ),
        (
            {"compaction": {"type": "summarize", "instructions": "x" * 16_385}},
            "compaction.instructions: String should have at most 16384 characters",
        ),
        ({"context_management": {"edits": []}}, "compaction: `context_management` cannot be combined"),
        ({"stop_sequences": ["x"]}, "compaction: `stop_sequences` cannot be combined"),
        ({"tool_choice": {"type": "any"}}, "compaction: `tool_choice` of type 'any' or 'tool' cannot be combined"),
        ({"tool_choice": {"type": "tool", "name": "bash"}}, "compaction: `tool_choice` of type 'any' or 'tool'"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "compaction: `output_config.format` cannot be"),
        ({"model": OLD_CLAUDE}, f"compaction: compaction is not supported on {OLD_CLAUDE}"),
    ],
)
def test_what_a_compaction_request_may_not_have(sim: Simulator, more: dict[str, Any], words: str) -> None:
    body = claude(user("hello"), tools=[TOOL], **(SUMMARIZE | more))
    assert refusal(ask(sim, body, f"{BETA},{EDITS}")).startswith(words)


@pytest.mark.parametrize(
    "more",
    [
        {"compaction": {"type": "summarize", "instructions": None}},
        {"compaction": {"type": "summarize", "instructions": "Be brief."}},
        {"tool_choice": {"type": "auto"}},
        {"tool_choice": {"type": "none"}},
        {"stop_sequences": []},
    ],
)
def test_what_a_compaction_request_may_have(sim: Simulator, more: dict[str, Any]) -> None:
    body = claude(user("hello"), tools=[TOOL], **(SUMMARIZE | more))
    assert ask(sim, body).body["stop_reason"] == "compaction"


def test_the_models_that_compact_are_the_newer_ones() -> None:
    names = {model.name.removeprefix("claude-") for model in KNOWN if model.provider == "anthropic"}
    able = {model.name.removeprefix("claude-") for model in KNOWN if model.provider == "anthropic" and model.compacts}
    assert {name[: len("sonnet-4-5")] for name in names - able} == {
        *("haiku-4-5", "haiku-4-5-", "opus-4-5", "opus-4-5-2", "sonnet-4-5"),
    }


def test_the_messages_may_end_with_an_answer_but_not_with_an_open_call(sim: Simulator) -> None:
    assert ask(sim, claude(user("hello"), assistant("Hi."), **SUMMARIZE)).body["stop_reason"] == "compaction"
    open_call = claude(user("hello"), assistant(use("t1")), tools=[TOOL], **SUMMARIZE)
    assert "`tool_use` ids were found without `tool_result`" in refusal(ask(sim, open_call))


def test_counting_tokens_ignores_the_field(sim: Simulator) -> None:
    body = {"model": CLAUDE, "messages": [user("hello")]}
    both = [ask_claude(sim, body | more, path=COUNT, beta=BETA) for more in ({}, SUMMARIZE)]
    assert [heard.body for heard in both] == [{"input_tokens": 2}] * 2
    ignored = body | {**SUMMARIZE, "tool_choice": {"type": "any"}, "tools": [TOOL]}
    assert ask_claude(sim, ignored, path=COUNT, beta=BETA).status == 200


def test_faults_meet_compaction_requests_too(sim: Simulator) -> None:
    body = claude(user("hello"), **SUMMARIZE)
    sim.faults.add(Fault.status(529), at=1)
    sim.faults.add(Fault.too_long(300, 200), at=2)
    sim.faults.add(Fault.empty(), at=3)
    sim.faults.add(Fault.refusal(), at=4)
    sim.faults.add(Fault.max_tokens(3), at=5)
    assert ask(sim, body).error["type"] == "overloaded_error"
    assert refusal(ask(sim, body)) == "prompt is too long: 300 tokens > 200 maximum"
    without = [ask(sim, body).body for _ in range(3)]
    assert [(heard["stop_reason"], heard["content"]) for heard in without] == [
        *(("end_turn", []), ("refusal", []), ("max_tokens", [])),
    ]
    assert ask(sim, body).body["content"][0]["content"] == "summary 6"
    assert [request.compacts for request in sim.requests] == [True] * 6


def test_a_summary_that_is_longer_than_allowed_does_not_come() -> None:
    with Simulator(summary=lambda request: "x" * 400) as sim:
        heard = ask(sim, claude(user("hello"), **SUMMARIZE) | {"max_tokens": 100}).body
        assert (heard["stop_reason"], heard["content"]) == ("max_tokens", [])
        assert heard["usage"]["iterations"][0]["type"] == "compaction"


def test_a_prompt_that_does_not_fit_cannot_be_compacted() -> None:
    with Simulator(window=10) as sim:
        assert refusal(ask(sim, claude(user("x" * 100), **SUMMARIZE))).startswith("prompt is too long")


# The block in a request


def test_the_block_replaces_what_it_summarizes(sim: Simulator) -> None:
    body = conversation(sim)
    whole = ask(sim, body).body["usage"]["input_tokens"]
    heard = ask(sim, {**body, "messages": [block_of(sim, body), user("go on")]})
    assert (heard.status, heard.body["usage"]["input_tokens"] < whole) == (200, True)
    assert "summary 5" in sim.requests[-1].text


def test_a_block_counts_as_its_text() -> None:
    with Simulator(brain=lambda request: say("Fine."), summary=lambda request: "x" * 320) as sim:
        after = claude(block_of(sim, claude(user("hello"))), user("y" * 32))
        assert ask(sim, after).body["usage"]["input_tokens"] == 110


def test_a_block_is_cached_as_bytes() -> None:
    with Simulator(brain=lambda request: say("Fine."), summary=lambda request: "x" * 6400) as sim:
        one, other = (block_of(sim, claude(user(words)) | {"max_tokens": 4000}) for words in ("hello", "bye"))
        one["content"][0]["cache_control"] = {"type": "ephemeral"}
        first = ask(sim, claude(one, user("go on"))).body["usage"]
        again = ask(sim, claude(one, user("go off"))).body["usage"]
        assert (first["cache_creation_input_tokens"], again["cache_read_input_tokens"]) == (2000, 2000)
        other["content"][0]["cache_control"] = {"type": "ephemeral"}
        assert ask(sim, claude(other, user("go on"))).body["usage"]["cache_read_input_tokens"] == 0


Change = Callable[[dict[str, Any]], None]


def change_content(block: dict[str, Any]) -> None:
    block["content"] += "!"


def change_signature(block: dict[str, Any]) -> None:
    block["signature"] += "x"


def remove_signature(block: dict[str, Any]) -> None:
    del block["signature"]


def empty_content(block: dict[str, Any]) -> None:
    block["content"] = ""


def add_a_field(block: dict[str, Any]) -> None:
    block["citations"] = None


def set_a_wrong_lifetime(block: dict[str, Any]) -> None:
    block["cache_control"] = {"type": "ephemeral", "ttl": "2h"}


def add_a_tool_change(block: dict[str, Any]) -> None:
    block["tool_changes"] = [{"type": "tool_removal"}]


@pytest.mark.parametrize(
    ("change", "words", "code"),
    [
        (change_content, FALSE_SIGNATURE, "compaction_signature_invalid"),
        (change_signature, FALSE_SIGNATURE, "compaction_signature_invalid"),
        (remove_signature, FALSE_SIGNATURE, "compaction_signature_invalid"),
        (empty_content, "messages.0.content.0.compaction.content: String should have at least 1 character", None),
        (add_a_field, "messages.0.content.0.compaction.citations: Extra inputs are not permitted", None),
        (set_a_wrong_lifetime, "messages.0.content.0.compaction.cache_control.ttl: Input should be", None),
        (add_a_tool_change, "messages.0.content.0: `tool_changes` differs", "compaction_tool_changes_mismatch"),
    ],
)
def test_a_block_that_was_changed_is_refused(sim: Simulator, change: Change, words: str, code: str | None) -> None:
    after = claude(block_of(sim, claude(user("hello"))), user("go on"))
    change(after["messages"][0]["content"][0])
    heard = ask(sim, after)
    assert refusal(heard).startswith(words)
    assert heard.error.get("details") == ({"error_code": code} if code else None)


def test_the_signature_of_thinking_is_none_of_a_block() -> None:
    with Simulator(brain=lambda request: think("hm") + say("yes"), summary=lambda request: "hm") as sim:
        thought = ask(sim, claude(user("hello"))).body["content"][0]
        block = block_of(sim, claude(user("hello")))["content"][0] | {"signature": thought["signature"]}
        after = claude({"role": "assistant", "content": [block]}, user("go on"))
        assert refusal(ask(sim, after)) == FALSE_SIGNATURE


def test_a_block_of_another_simulator_is_valid_if_the_key_is_the_same(sim: Simulator) -> None:
    after = claude(block_of(sim, claude(user("hello"))), user("go on"))
    with Simulator(brain=brain) as same, Simulator(brain=brain, key=None) as other:
        assert ask(same, after).status == 200
        assert refusal(ask(other, after)) == FALSE_SIGNATURE


def test_the_block_comes_first(sim: Simulator) -> None:
    made = block_of(sim, claude(user("hello")))
    block = made["content"][0]
    for messages, where in (
        ([user("hello"), made, user("go on")], "messages.1.content.0"),
        ([made, made, user("go on")], "messages.1.content.0"),
        ([assistant("x", block), user("go on")], "messages.0.content.1"),
        ([user(block, "go on")], "messages.0.content.0"),
    ):
        heard = ask(sim, claude(*messages))
        assert refusal(heard).startswith(
            f"{where}: a `compaction` block must be the first content block of the first"
        )
        assert heard.error["details"] == {"error_code": "compaction_block_misplaced"}


def test_only_a_block_lets_the_assistant_speak_first(sim: Simulator) -> None:
    words = 'messages: first message must use the "user" role'
    assert refusal(ask(sim, claude(assistant("Hi."), user("hello")))) == words


def test_a_block_is_nothing_to_answer(sim: Simulator) -> None:
    made = block_of(sim, claude(user("hello")))
    for more in ({}, SUMMARIZE):
        words = refusal(ask(sim, claude(made, **more)))
        assert words.endswith("The conversation must end with a user message.")


def test_a_block_and_an_edit_at_a_threshold_exclude_each_other(sim: Simulator) -> None:
    after = claude(block_of(sim, claude(user("hello"))), user("go on"))
    both = {**after, "context_management": {"edits": [{"type": "compact_20260112"}]}}
    words = "messages.0.content.0: `compaction` blocks cannot be combined with a `compact_20260112` edit"
    assert refusal(ask(sim, both, f"{BETA},{EDITS}")) == words
    clearing = {**after, "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}
    assert ask(sim, clearing, f"{BETA},context-management-2025-06-27").status == 200


@pytest.mark.parametrize("own_message", [True, False])
def test_the_kept_turns_may_begin_with_an_answer_and_its_calls(sim: Simulator, own_message: bool) -> None:
    made = block_of(sim, claude(user("hello")))
    kept = assistant("Look.", use("t1"))
    start = [made, kept] if own_message else [{**made, "content": [*made["content"], *kept["content"]]}]
    assert ask(sim, claude(*start, user(result("t1")), tools=[TOOL])).status == 200
    unanswered = refusal(ask(sim, claude(*start, user("go on"), tools=[TOOL])))
    assert unanswered.startswith(f"messages.{len(start) - 1}: `tool_use` ids were found without `tool_result`")


def test_a_result_needs_its_call_after_the_block(sim: Simulator) -> None:
    made = block_of(sim, claude(user("hello")))
    words = refusal(ask(sim, claude(made, user(result("t1")), tools=[TOOL])))
    assert words.startswith("messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1")


def test_with_a_budget_thinking_opens_the_kept_turn_and_not_the_block() -> None:
    budget = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000, "model": "claude-opus-4-6"}
    with Simulator(brain=brain) as sim:
        body = {**claude(user("do it"), tools=[TOOL]), **budget}
        go_on(sim, body)
        assert ask(sim, compacted(sim, body, 1)).status == 200
        assert sim.requests[-1].body["messages"][0]["content"][0]["type"] == "compaction"


# Thinking that is kept after a block


@pytest.mark.parametrize("upto", [1, 3, 5])
def test_thinking_stays_valid_after_the_block_that_replaces_what_was_before_it(sim: Simulator, upto: int) -> None:
    body = compacted(sim, conversation(sim), upto)
    heard = ask(sim, body | {"thinking": {"type": "adaptive"}}, f"{BETA},{CONTROLS}")
    assert (heard.status, heard.body.get("input_transformations")) == (200, []), heard.body
    go_on(sim, body, 2)
    assert sim.refusals == []


def change_the_kept_call(body: dict[str, Any]) -> None:
    body["messages"][1]["content"][1]["input"] = {"command": "pwd"}


def change_the_kept_result(body: dict[str, Any]) -> None:
    body["messages"][2]["content"][0]["content"] = "…"


def insert_an_answer_after_the_block(body: dict[str, Any]) -> None:
    body["messages"].insert(1, assistant("Hm."))


def insert_a_turn_after_the_block(body: dict[str, Any]) -> None:
    body["messages"][1:1] = [user("hm"), assistant("Hm.")]


def insert_a_message_after_the_block(body: dict[str, Any]) -> None:
    body["messages"].insert(1, user("<state/>"))


def skip_a_turn_after_the_block(body: dict[str, Any]) -> None:
    del body["messages"][1:3]


def change_the_system_prompt(body: dict[str, Any]) -> None:
    body["system"] = "be better"


def add_a_tool(body: dict[str, Any]) -> None:
    body["tools"].append({**TOOL, "name": "python"})


def leave_the_block_out(body: dict[str, Any]) -> None:
    body["messages"][0] = user("do it all")


@pytest.mark.parametrize(
    ("edit", "failing"),
    [
        (change_the_kept_call, 3),
        (change_the_kept_result, 3),
        (insert_an_answer_after_the_block, 2),
        (insert_a_turn_after_the_block, 3),
        (insert_a_message_after_the_block, 2),
        (skip_a_turn_after_the_block, 1),
        (change_the_system_prompt, 1),
        (add_a_tool, 1),
        (leave_the_block_out, 1),
    ],
)
def test_a_change_after_the_block_makes_the_thinking_after_it_invalid(
    sim: Simulator, edit: Change, failing: int
) -> None:
    body = compacted(sim, conversation(sim), 3)
    edit(body)
    assert refusal(ask(sim, body)).startswith(f"messages.{failing}.content.0: {BOUND}")


@pytest.mark.parametrize("edit", [change_the_system_prompt, add_a_tool])
def test_the_compaction_request_has_to_have_the_same_system_and_tools(sim: Simulator, edit: Change) -> None:
    body = conversation(sim)
    other = copy.deepcopy(body)
    edit(other)
    for index in (1, 3, 5):  # their thinking would be refused
        del other["messages"][index]["content"][0]
    body["messages"][:3] = [block_of(sim, other, 3)]
    assert refusal(ask(sim, body)).startswith(f"messages.1.content.0: {BOUND}")
    del body["messages"][1]["content"][0]
    assert ask(sim, body | {"messages": body["messages"][:3]}).status == 200  # the block itself is accepted


def test_the_compaction_request_has_to_run_on_a_model_that_binds(sim: Simulator) -> None:
    body = conversation(sim)
    made = block_of(sim, body | {"model": UNBOUND}, 3)
    body["messages"][:3] = [made]
    assert refusal(ask(sim, body)).startswith(f"messages.1.content.0: {BOUND}")


def test_the_first_kept_message_has_another_role_than_the_last_summarized_one() -> None:
    with Simulator(brain=lambda request: think("hm") + say("yes")) as sim:
        body = claude(user("one"), user("two"))
        body["messages"] += [{"role": "assistant", "content": ask(sim, body).body["content"]}, user("three")]
        assert ask(sim, body).status == 200
        assert ask(sim, compacted(sim, body, 2)).status == 200
        assert refusal(ask(sim, compacted(sim, body, 1))).startswith(f"messages.2.content.0: {BOUND}")


def test_turn_scoped_messages_are_part_of_what_is_summarized(sim: Simulator) -> None:
    betas = f"{BETA},{CLEAR_AT}"
    body = claude(user("do it"), system("be brief", clear_at="next_user_message"), tools=[TOOL])
    content = ask(sim, body, betas).body["content"]
    body["messages"] += [{"role": "assistant", "content": content}, user(result(content[1]["id"]))]
    made = ask(sim, {**body, **SUMMARIZE, "messages": body["messages"][:2]}, betas).body["content"]
    after = {**body, "messages": [{"role": "assistant", "content": made}, *body["messages"][2:]]}
    assert ask(sim, after, betas).status == 200
    made = ask(sim, {**body, **SUMMARIZE, "messages": body["messages"][:1]}, betas).body["content"]
    after["messages"][0] = {"role": "assistant", "content": made}
    assert BOUND in refusal(ask(sim, after, betas))


def test_thinking_is_kept_through_two_compactions(sim: Simulator) -> None:
    body = compacted(sim, conversation(sim, 4), 3)
    go_on(sim, body, 2)  # thinking of before the block in messages 1, 3 and 5, of after it in 7 and 9
    again = compacted(sim, body, 3)
    assert [*map(len, (body["messages"], again["messages"]))] == [11, 9]
    go_on(sim, again, 2)
    third = compacted(sim, again, 3)
    go_on(sim, third)
    insert_an_answer_after_the_block(third)
    assert refusal(ask(sim, third)).startswith(f"messages.2.content.0: {BOUND}")


def test_thinking_of_after_the_block_is_bound_to_the_block(sim: Simulator) -> None:
    body = conversation(sim)
    for upto, failing in ((3, 5), (7, 2)):  # with kept turns of before the block, and without
        after = {**body, "messages": [block_of(sim, body, upto), *(body["messages"][upto:] or [user("go on")])]}
        go_on(sim, after, 2)
        assert ask(sim, compacted(sim, after, failing)).status == 200
        after["messages"][0] = block_of(sim, body, upto)
        assert refusal(ask(sim, after)).startswith(f"messages.{failing}.content.0: {BOUND}")


def test_the_full_history_may_be_restored(sim: Simulator) -> None:
    body = conversation(sim)
    go_on(sim, compacted(sim, body, 3))
    go_on(sim, body)
    assert ask(sim, body).status == 200


def test_thinking_made_while_the_summary_was_written_is_kept(sim: Simulator) -> None:
    body = conversation(sim)
    sent = len(body["messages"])
    made = block_of(sim, body)
    go_on(sim, body, 2)
    body["messages"][:sent] = [made]
    assert ask(sim, body).status == 200


def test_a_failed_compaction_changes_nothing_for_the_thinking_after_it() -> None:
    with Simulator(brain=brain, summary=lambda request: None) as sim:
        body = conversation(sim)
        body["messages"].insert(0, block_of(sim, body))
        assert ask(sim, body).status == 200


def test_the_sdk_sends_back_the_block_it_got(sim: Simulator) -> None:
    with anthropic.Anthropic(base_url=sim.url, api_key=KEY) as client:
        messages: list[Any] = [user("do it")]
        more: Any = {"model": BINDING, "max_tokens": 999, "tools": [TOOL], "betas": [BETA]}
        for _ in range(3):
            message = client.beta.messages.create(messages=messages, **more)
            calls = [result(block.id) for block in message.content if block.type == "tool_use"]
            messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": calls}]
        summary = client.beta.messages.create(messages=messages[:3], compaction={"type": "summarize"}, **more)
        assert (summary.stop_reason, summary.content[0].type) == ("compaction", "compaction")
        messages[:3] = [{"role": "assistant", "content": summary.content}]
        assert client.beta.messages.create(messages=messages, **more).stop_reason == "tool_use"
        messages[1:] = [user("go on")]
        with client.beta.messages.stream(messages=messages, compaction={"type": "summarize"}, **more) as stream:
            assert stream.get_final_message().content[0].type == "compaction"
    assert sim.refusals == []
