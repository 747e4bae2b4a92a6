"""Claude and the simulator: what arrives, what is sent back, what is cached."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from outlive.messages import Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from outlive.models.anthropic.model import AnthropicModel
from outlive.models.errors import ModelNotSetUp, ModelUnavailable, PromptTooLong, RequestRefused
from outlive.models.protocol import UNREADABLE_KEY, Reply
from outlive.stream import TextDelta, ThinkingDelta, ToolCallStreaming
from outlive.testing.simulator import Fault, Simulator, call, calls, say, think
from tests.models.quirky import quirky
from tests.models.talking import TOOLS, ask, asked, asking, assistant, bash, claude, playing, result, user, words

LONG = "All of this is long. " * 400


def test_words_arrive_in_pieces_and_the_reply_has_them_whole() -> None:
    text = "Here is a longer answer, so that it comes in several pieces."
    with playing(say(text)) as sim:
        reply, pieces = ask(claude(sim), asking("Hello?"))
    assert reply.blocks == (Text(text),)
    assert (reply.stop, reply.model) == ("end", "claude-haiku-4-5")
    assert words(pieces) == text
    assert len(pieces) > 1


def test_calls_are_whole_and_announced_when_they_begin() -> None:
    with playing(say("I look.") + calls([call("bash", command="ls -la"), call("read_file", path="a.py")])) as sim:
        reply, pieces = ask(claude(sim), asking("Look!"))
    said, first, second = reply.blocks
    assert said == Text("I look.")
    assert isinstance(first, ToolCall)
    assert (first.name, first.input) == ("bash", {"command": "ls -la"})
    assert isinstance(second, ToolCall)
    assert second.input == {"path": "a.py"}
    assert reply.stop == "tools"
    assert [piece.name for piece in pieces if isinstance(piece, ToolCallStreaming)] == ["bash", "read_file"]


def test_a_call_without_arguments_has_an_empty_input() -> None:
    with playing(call("bash")) as sim:
        reply, _ = ask(claude(sim), asking())
    (made,) = reply.blocks
    assert isinstance(made, ToolCall)
    assert made.input == {}


def test_usage_is_reported_with_the_cache_apart() -> None:
    with playing(say("Yes.")) as sim:
        reply, _ = ask(claude(sim), asking(LONG))
        seen = sim.requests[0].usage
    assert seen
    assert (reply.usage.input, reply.usage.cache_write) == (seen.input, seen.cache_write)
    assert reply.usage.output == seen.output > 0


# -- thinking


@pytest.mark.parametrize(("model", "kind"), [("claude-haiku-4-5", "enabled"), ("claude-opus-4-6", "adaptive")])
def test_thinking_comes_back_unaltered_with_its_signature(model: str, kind: str) -> None:
    with playing(think("First the files.") + call("bash", command="ls"), say("Done.")) as sim:
        talker = claude(sim, model, thinking=2_000)
        request = asking("Look!")

        async def both() -> tuple[Reply, list[Any]]:
            first = [piece async for piece in talker.stream(request)]
            reply = first[-1]
            assert isinstance(reply, Reply)
            made = reply.blocks[-1]
            assert isinstance(made, ToolCall)
            after = asking(*request.messages, Message("assistant", reply.blocks), user(ToolResult(made.id, "a.py")))
            await asked(talker, after)
            return reply, first

        reply, pieces = asyncio.run(both())
        sent = sim.requests[1].messages[1]["content"][0]
        assert sim.requests[0].body["thinking"]["type"] == kind
    thought = reply.blocks[0]
    assert isinstance(thought, Thinking)
    assert thought.text == "First the files."
    assert sent == {"type": "thinking", "thinking": thought.text, "signature": thought.signature}
    assert "".join(piece.text for piece in pieces if isinstance(piece, ThinkingDelta)) == thought.text


def test_a_model_that_thinks_unasked_shows_its_words() -> None:
    with playing(think("Hm.") + say("Yes.")) as sim:
        reply, pieces = ask(claude(sim, "claude-sonnet-5-5"), asking())
        asked_for = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
        assert sim.requests[0].body["thinking"] == {"type": "adaptive", "display": "summarized", **asked_for}
    assert isinstance(reply.blocks[0], Thinking)
    assert ThinkingDelta("Hm.") in pieces


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-opus-4-7", "claude-sonnet-5", "claude-sonnet-5-5"])
def test_thinking_can_be_off(model: str) -> None:
    with playing(say("Yes.")) as sim:
        ask(claude(sim, model, thinking=0), asking())
        least = {"claude-sonnet-5-5": "between_tools"}.get(model, "disabled")
        assert sim.requests[0].body.get("thinking", {"type": "disabled"}) == {"type": least}


def test_thinking_is_set_by_the_environment() -> None:
    with playing(say("Yes.")) as sim:
        ask(AnthropicModel("claude-haiku-4-5", environment={**sim.env(), "OUTLIVE_THINKING": "3000"}), asking())
        body = sim.requests[0].body
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 3000}
    assert body["max_tokens"] > 3000


def test_a_budget_leaves_room_for_an_answer() -> None:
    with playing(say("Yes.")) as sim:
        ask(claude(sim, thinking=500_000), asking())
        body = sim.requests[0].body
    assert body["max_tokens"] == 64_000
    assert body["thinking"]["budget_tokens"] < 64_000


def test_a_strange_setting_of_thinking_is_named() -> None:
    with pytest.raises(ModelNotSetUp, match="OUTLIVE_THINKING is 'a lot'"):
        AnthropicModel("claude-haiku-4-5", environment={"ANTHROPIC_API_KEY": "k", "OUTLIVE_THINKING": "a lot"})


def test_thinking_that_the_model_may_not_read_is_left_out_and_the_answer_comes() -> None:
    foreign = assistant(Thinking("Elsewhere.", "signed elsewhere"), "I thought.")
    with Simulator(script=[say("Yes."), say("Again.")]) as sim:
        talker = claude(sim, "claude-opus-4-6", thinking=2_000)

        async def twice() -> None:
            request = asking("Hello?", foreign, "And?")
            async for _ in talker.stream(request):
                pass
            reply, _ = await asked(talker, request)
            assert reply.blocks == (Text("Again."),)

        asyncio.run(twice())
        assert len(sim.refusals) == 1, "it learns from the first refusal"
        assert "signature" in sim.refusals[0].message


def test_unsigned_thinking_is_not_sent() -> None:
    with playing(say("Yes.")) as sim:
        ask(claude(sim), asking("Hello?", assistant(Thinking("of another provider"), "Hm."), "And?"))
        kinds = [block["type"] for block in sim.requests[0].messages[1]["content"]]
    assert kinds == ["text"]


def test_a_budget_is_not_asked_for_where_the_calls_were_made_without_thinking() -> None:
    """As after a fallback: the API refuses a budget then."""
    with playing(say("Yes.")) as sim:
        ask(claude(sim, thinking=2_000), asking("Look!", assistant(bash(1)), user(result(1))))
        assert "thinking" not in sim.requests[0].body


# -- what is sent


def test_pictures_go_along_in_messages_and_in_results() -> None:
    picture = Image("image/png", "iVBORw0KGgo=")
    shown = ToolResult("call_1", "a picture", images=(picture,))
    with playing(say("A cat.")) as sim:
        ask(claude(sim), asking(user("See?", picture), assistant(bash(1)), user(shown)))
        first, _, last = sim.requests[0].messages
    assert first["content"][1]["source"]["data"] == picture.data
    assert last["content"][0]["content"][1]["type"] == "image"


def test_what_the_api_refuses_is_never_sent() -> None:
    odd = assistant(Text("  \n"), ToolCall("functions.bash:0", "bash now!", {}), ToolCall("x" * 80, "bash", {}))
    answers = user(
        ToolResult("functions.bash:0", "", is_error=True),
        ToolResult("x" * 80, ""),
        Image("image/svg+xml", "PHN2Zz4="),
        Text(" "),
        "Go on \ud83d",
    )
    with playing(say("Yes.")) as sim:
        ask(claude(sim), asking(user(Opaque("openai", {"x": 1})), odd, answers))
        _, sent, back = sim.requests[0].messages
    ids = [block["id"] for block in sent["content"]]
    assert [block["tool_use_id"] for block in back["content"] if block["type"] == "tool_result"] == ids
    assert back["content"][-1]["text"] == "Go on ?"


def test_an_answer_of_nothing_but_thinking_can_be_gone_on_from() -> None:
    with playing(think("Much.") + say("More."), say("Done.")) as sim:
        first, _ = ask(claude(sim, "claude-opus-4-6", thinking=2_000), asking("Think!"))
        ask(
            claude(sim, "claude-opus-4-6", thinking=2_000),
            asking("Think!", Message("assistant", first.blocks[:1]), "Go on."),
        )
        assert [block["type"] for block in sim.requests[1].messages[1]["content"]] == ["thinking", "text"]


# -- endings


def test_an_answer_cut_off_in_words_says_so() -> None:
    with playing(say("A long story, never told.")) as sim:
        sim.faults.add(Fault.max_tokens(6))
        reply, _ = ask(claude(sim), asking())
    assert (reply.blocks, reply.stop, reply.cut_call) == ((Text("A long"),), "length", "")


def test_a_call_that_was_cut_off_is_named_and_not_made() -> None:
    with playing(say("I write.") + call("bash", command="echo one && echo two")) as sim:
        sim.faults.add(Fault.max_tokens(25))
        reply, _ = ask(claude(sim), asking())
    assert (reply.blocks, reply.stop, reply.cut_call) == ((Text("I write."),), "length", "bash")


def test_thinking_that_was_cut_off_has_no_signature_and_is_not_kept() -> None:
    with playing(think("Let me think about this for long.") + say("Yes.")) as sim:
        sim.faults.add(Fault.max_tokens(10))
        reply, _ = ask(claude(sim, thinking=2_000), asking())
    assert reply.stop == "length"
    assert all(not isinstance(block, Text) for block in reply.blocks)


def test_a_refusal_and_an_empty_answer_are_answers() -> None:
    with Simulator(script=[say("x"), say("y")]) as sim:
        sim.faults.add(Fault.refusal(), at=1)
        sim.faults.add(Fault.empty(), at=2)
        assert ask(claude(sim), asking())[0].stop == "refusal"
        reply, _ = ask(claude(sim), asking())
        assert (reply.blocks, reply.stop) == ((), "end")


# -- what goes wrong


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504, 529])
def test_a_server_that_cannot_now_is_unavailable(code: int) -> None:
    with playing(say("x")) as sim:
        sim.faults.add(Fault.status(code, retry_after=2.5))
        with pytest.raises(ModelUnavailable, match="claude-haiku-4-5") as caught:
            ask(claude(sim), asking())
        assert caught.value.retry_after == 2.5
        assert len(sim.requests) == 1, "the client itself does not try again"
        ask(claude(sim), asking())


def test_retry_after_in_milliseconds_is_understood() -> None:
    with Simulator(script=[]) as sim:
        sim.faults.add(Fault.status(429, retry_after=0.25, in_milliseconds=True))
        with pytest.raises(ModelUnavailable) as caught:
            ask(claude(sim), asking())
    assert caught.value.retry_after == 0.25


@pytest.mark.parametrize("after", range(1, 9))
@pytest.mark.parametrize("within_line", [False, True])
def test_a_stream_that_is_cut_anywhere_is_unavailable(after: int, within_line: bool) -> None:
    with playing(say("Words.") + call("bash", command="ls -la /tmp")) as sim:
        sim.faults.add(Fault.cut(after, within_line=within_line))
        with pytest.raises(ModelUnavailable):
            ask(claude(sim), asking())
        reply, _ = ask(claude(sim), asking())
    assert len(reply.blocks) == 2


def test_a_stream_that_ends_politely_but_early_is_unavailable() -> None:
    """As through a proxy that closes the connection as if all had been said."""
    opening = {"type": "message_start", "message": {"model": "claude", "usage": {"input_tokens": 3}}}
    with quirky((200, [opening])) as server, pytest.raises(ModelUnavailable, match="in the middle of the answer"):
        ask(AnthropicModel("claude", environment=server.environment), asking())


def test_a_stream_that_makes_no_sense_is_unavailable() -> None:
    lost = {"type": "content_block_delta", "index": 4, "delta": {"type": "text_delta", "text": "x"}}
    with quirky((200, [lost])) as server, pytest.raises(ModelUnavailable, match="is broken"):
        ask(AnthropicModel("claude", environment=server.environment), asking())


def test_an_error_in_the_middle_of_a_stream_is_unavailable() -> None:
    with playing(say("Words.")) as sim:
        sim.faults.add(Fault.error_event(3))
        with pytest.raises(ModelUnavailable, match="Overloaded"):
            ask(claude(sim), asking())
        ask(claude(sim), asking())


def test_a_server_that_falls_silent_is_unavailable() -> None:
    with playing(say("Words.")) as sim:
        sim.faults.add(Fault.slow(5.0))
        with pytest.raises(ModelUnavailable, match="claude-haiku-4-5"):
            ask(claude(sim, silence=0.2), asking())


def test_no_server_is_unavailable() -> None:
    with Simulator(script=[]) as sim:
        environment = sim.env()
    with pytest.raises(ModelUnavailable, match="no connection"):
        ask(AnthropicModel("claude-haiku-4-5", environment=environment), asking())


def test_too_long_comes_with_its_figures() -> None:
    with Simulator(script=[], window=1_000) as sim, pytest.raises(PromptTooLong) as caught:
        ask(claude(sim), asking(LONG))
    assert caught.value.limit == 1_000
    assert caught.value.actual > 1_000


def test_a_body_that_is_too_large_is_too_long() -> None:
    with Simulator(script=[], largest_body=2_000) as sim, pytest.raises(PromptTooLong):
        ask(claude(sim), asking(LONG))


def test_a_wrong_key_says_which_variable_holds_it() -> None:
    with Simulator(script=[]) as sim:
        environment = {**sim.env(), "ANTHROPIC_API_KEY": "wrong"}
        with pytest.raises(ModelNotSetUp, match="check ANTHROPIC_API_KEY") as caught:
            ask(AnthropicModel("claude-haiku-4-5", environment=environment), asking())
    assert "wrong" not in str(caught.value)


def test_an_unknown_model_is_told_with_those_that_there_are() -> None:
    with Simulator(script=[]) as sim, pytest.raises(ModelNotSetUp, match=r"there is claude-opus-.*claude-opus-4-5"):
        ask(claude(sim, "claude-opus-99"), asking())


def test_an_address_that_is_not_the_apis_is_named() -> None:
    with Simulator(script=[]) as sim:
        environment = {**sim.env(), "ANTHROPIC_BASE_URL": f"{sim.url}/v1"}
        with pytest.raises(ModelNotSetUp, match="check the name of the model and ANTHROPIC_BASE_URL"):
            ask(AnthropicModel("claude-haiku-4-5", environment=environment), asking())


def test_another_refusal_has_the_words_of_the_provider() -> None:
    with Simulator(script=[]) as sim, pytest.raises(RequestRefused, match="Tool names must be unique"):
        ask(claude(sim), asking(tools=(*TOOLS, TOOLS[0])))


def test_an_empty_account_is_nothing_to_wait_for() -> None:
    with Simulator(script=[]) as sim:
        words = "Your credit balance is too low to access the Anthropic API."
        sim.faults.add(Fault.status(400, message=words))
        with pytest.raises(ModelNotSetUp, match="add credit"):
            ask(claude(sim), asking())


def test_without_a_key_the_variable_is_named() -> None:
    with pytest.raises(ModelNotSetUp, match="ANTHROPIC_API_KEY is not set"):
        AnthropicModel("claude-haiku-4-5", environment={})


# -- ending a call


def test_closing_the_iterator_ends_the_connection() -> None:
    with Simulator(script=[say("word " * 400)]) as sim:
        sim.faults.add(Fault.slow(0.05))
        talker = claude(sim)

        async def leave() -> bool:
            stream = talker.stream(asking())
            async for piece in stream:
                if isinstance(piece, TextDelta):
                    break
            await stream.aclose()
            pool = talker._client._client._transport._pool
            open_after = [one for one in pool.connections if not one.is_idle() and not one.is_closed()]
            await talker.close()
            return not open_after

        assert asyncio.run(leave())


def test_a_cancelled_call_ends_the_connection() -> None:
    with Simulator(script=[say("word " * 400)]) as sim:
        sim.faults.add(Fault.slow(0.05))
        talker = claude(sim)

        async def leave() -> bool:
            heard = asyncio.Event()

            async def listen() -> None:
                async for _ in talker.stream(asking()):
                    heard.set()

            task = asyncio.create_task(listen())
            await heard.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            pool = talker._client._client._transport._pool
            open_after = [one for one in pool.connections if not one.is_idle() and not one.is_closed()]
            await talker.close()
            return not open_after

        assert asyncio.run(leave())


# -- the cache


def turns(count: int, batch: int = 1) -> list[Message]:
    """A conversation of so many answers, each with a batch of calls and their results."""
    said: list[Message] = [user("Read everything. " + LONG)]
    for number in range(count):
        ids = [f"{number}_{one}" for one in range(batch)]
        state = Text(f"<state>step {number}</state>", "harness")
        said += [assistant(*(bash(one) for one in ids)), user(*(result(one, LONG[:200]) for one in ids), state)]
    return said


@pytest.mark.parametrize("batch", [1, 30])
def test_each_request_reads_what_the_one_before_wrote(batch: int) -> None:
    """A batch of thirty is farther than the cache looks back on its own."""
    with Simulator(brain=lambda request: say("Yes.")) as sim:
        for count in range(4):
            ask(claude(sim), asking(*turns(count, batch)))
        used = [request.usage for request in sim.requests if request.usage]
    assert used[0].cache_read == 0
    for before, after in pairwise(used):
        assert after.cache_read == before.cache_read + before.cache_write


def test_system_and_tools_stay_cached_when_the_history_is_another() -> None:
    with Simulator(brain=lambda request: say("Yes.")) as sim:
        for words_of_user in ("one", "two"):
            ask(claude(sim), asking(words_of_user, system=LONG))
        used = [request.usage for request in sim.requests if request.usage]
    assert used[1].cache_read > 1_024


def test_at_most_four_breakpoints_are_set() -> None:
    with playing(say("Yes.")) as sim:
        ask(claude(sim), asking(*turns(12, 5), state="<state/>"))
        marked = str(sim.requests[0].body).count("cache_control")
    assert 2 <= marked <= 4


def test_arguments_that_are_no_object_reach_the_tool_as_they_are() -> None:
    from outlive.models.anthropic.model import _Arriving

    block = _Arriving({"type": "tool_use", "id": "c", "name": "bash", "input": {}})
    block.take({"type": "input_json_delta", "partial_json": '{"command": ls}'})
    made = block.block()
    assert isinstance(made, ToolCall)
    assert made.input == {UNREADABLE_KEY: '{"command": ls}'}


def test_redacted_thinking_is_carried_untouched() -> None:
    from outlive.models.anthropic.model import _Arriving
    from outlive.models.anthropic.request import request_form

    block = _Arriving({"type": "redacted_thinking", "data": "c2VjcmV0"}).block()
    form = {"type": "redacted_thinking", "data": "c2VjcmV0"}
    assert block == Opaque("anthropic", form)
    sent = request_form(asking("Hello?", assistant(block, "Yes."), "And?"))
    assert sent["messages"][1]["content"][0] == form


@pytest.mark.parametrize(
    ("name", "effort", "thinking", "config"),
    [
        ("claude-haiku-4-5", "low", {"type": "enabled", "budget_tokens": 2_000}, None),
        ("claude-haiku-4-5", "off", None, None),
        ("claude-sonnet-4-6", "medium", {"type": "adaptive", "display": "summarized"}, {"effort": "medium"}),
        ("claude-sonnet-4-6", "off", None, None),
    ],
)
def test_one_word_of_effort_is_what_each_generation_understands(
    name: str, effort: str, thinking: dict[str, Any] | None, config: dict[str, str] | None
) -> None:
    model = AnthropicModel(name, environment={"ANTHROPIC_API_KEY": "k", "OUTLIVE_EFFORT": effort})
    body = model.body(asking())
    assert (body.get("thinking"), body.get("output_config")) == (thinking, config)


def test_an_unknown_effort_is_refused() -> None:
    with pytest.raises(ModelNotSetUp, match="OUTLIVE_EFFORT is 'huge'"):
        AnthropicModel("claude-haiku-4-5", environment={"ANTHROPIC_API_KEY": "k", "OUTLIVE_EFFORT": "huge"})


# -- on the wire


def test_a_request_is_what_the_providers_own_client_sends() -> None:
    """The version of the API, the form of the key and the body are those of Anthropic's SDK."""
    import anthropic

    async def through_the_sdk(sim: Simulator, body: dict[str, Any]) -> None:
        async with anthropic.AsyncAnthropic(base_url=sim.url, api_key=sim.key) as client:
            assert [event async for event in await client.messages.create(stream=True, **body)]

    with playing(say("Yes."), say("Yes.")) as sim:
        model = claude(sim, thinking=2_000)
        request = asking("Look!", system=LONG)
        body = model.body(request)
        ask(model, request)
        asyncio.run(through_the_sdk(sim, body))
        ours, theirs = sim.requests
    assert ours.body == theirs.body
    for name in ("anthropic-version", "authorization", "content-type", "x-api-key"):
        assert ours.headers.get(name) == theirs.headers.get(name)


def test_a_lone_surrogate_does_not_keep_a_request_from_being_sent() -> None:
    with playing(say("Yes.")) as sim:
        ask(claude(sim), asking("half of a pair: \ud83d"))
        assert "half of a pair: ?" in str(sim.requests[0].body)


def test_an_event_without_an_end_is_not_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outlive.models.http_api.MAX_EVENT_BYTES", 100_000)
    with quirky((200, ["x" * 200_000])) as server, pytest.raises(ModelUnavailable, match="more than 100,000 bytes"):
        ask(AnthropicModel("claude", environment=server.environment), asking())


def test_a_page_of_a_proxy_is_an_error_of_its_status() -> None:
    with quirky((502, "<html>bad gateway</html>")) as server, pytest.raises(ModelUnavailable, match="bad gateway"):
        ask(AnthropicModel("claude", environment=server.environment), asking())


@pytest.mark.parametrize("address", ["http://[", "nowhere", "https://"])
def test_an_address_that_is_none_is_unavailable(address: str) -> None:
    model = AnthropicModel("claude", environment={"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": address})
    with pytest.raises(ModelUnavailable, match="no connection"):
        ask(model, asking())
