"""The chat API through OpenAI's SDK: the strict simulator, and servers with manners of their own."""

import asyncio
from typing import Any

import pytest

from outlive.messages import Image, Text, ToolResult, tool_calls
from outlive.models.errors import ModelNotSetUp, ModelUnavailable, PromptTooLong, RequestRefused
from outlive.models.openai.model import OpenAIModel
from outlive.models.protocol import UNREADABLE_KEY, NearCall, Usage
from outlive.stream import TextDelta, ThinkingDelta, ToolCallStreaming
from outlive.testing.simulator import Fault, Simulator, call, calls, say
from tests.models.quirky import Quirky, chunk, piece, quirky
from tests.models.talking import BOTH, TOOLS, Making, ask, asking, assistant, bash, gpt, playing, result, user, words

LONG = "All of this is long. " * 400


def tiny(server: Quirky, **options: Any) -> OpenAIModel:
    return OpenAIModel("tiny", environment=server.environment, **options)


def calls_of(blocks: tuple[Any, ...]) -> list[tuple[str, dict[str, Any]]]:
    return [(made.name, made.input) for made in tool_calls(blocks)]


def test_words_arrive_in_pieces_and_the_reply_has_them_whole() -> None:
    text = "Here is a longer answer, so that it comes in several pieces."
    with playing(say(text)) as sim:
        reply, pieces = ask(gpt(sim), asking("Hello?"))
        seen = sim.requests[0].usage
    assert reply.blocks == (Text(text),)
    assert (reply.stop, reply.model) == ("end", "gpt-4.1")
    assert words(pieces) == text
    assert len(pieces) > 1
    assert seen
    assert reply.usage == Usage(seen.input, 0, seen.cache_read, seen.output)


def test_calls_are_whole_and_their_results_go_back() -> None:
    with playing(
        say("I look.") + calls([call("bash", command="ls"), call("read_file", path="a")]), say("Done.")
    ) as sim:
        first, pieces = ask(gpt(sim), asking("Look!"))
        one, two = tool_calls(first.blocks)
        back = user(ToolResult(one.id, "a.py"), ToolResult(two.id, "", is_error=True), "And hurry.")
        second, _ = ask(gpt(sim), asking("Look!", assistant(*first.blocks), back, state="<state/>"))
        roles = [message["role"] for message in sim.requests[1].messages]
    assert calls_of(first.blocks) == [("bash", {"command": "ls"}), ("read_file", {"path": "a"})]
    assert first.stop == "tools"
    assert [made.name for made in pieces if isinstance(made, ToolCallStreaming)] == ["bash", "read_file"]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
    assert second.blocks == (Text("Done."),)


def test_what_was_cached_is_counted_apart() -> None:
    with Simulator(brain=lambda request: say("Yes.")) as sim:
        talk = [user(LONG), assistant("Yes.")]
        first, _ = ask(gpt(sim), asking(*talk, "And?", state="<state>1</state>"))
        second, _ = ask(gpt(sim), asking(*talk, "And?", state="<state>2</state>"))
    assert first.usage.cache_read == 0
    assert second.usage.cache_read > 1_024
    assert second.usage.input + second.usage.cache_read == first.usage.input


def test_pictures_of_a_result_follow_it_in_a_message_of_the_user() -> None:
    picture = Image("image/png", "iVBORw0KGgo=")
    shown = ToolResult("call_1", "", images=(picture,))
    with playing(say("A cat.")) as sim:
        ask(gpt(sim), asking(user("See?"), assistant(bash(1)), user(shown), state="<state/>"))
        *_, tool, last = sim.requests[0].messages
    assert tool["role"] == "tool"
    assert [part["type"] for part in last["content"]] == ["text", "image_url", "text"]
    assert last["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
    assert last["content"][-1]["text"] == "<state/>"


def test_a_cut_off_answer_and_a_cut_off_call_say_so() -> None:
    with playing(say("A long story."), say("I write.") + call("bash", command="echo one && echo two")) as sim:
        sim.faults.add(Fault.max_tokens(6), at=1)
        sim.faults.add(Fault.max_tokens(25), at=2)
        reply, _ = ask(gpt(sim), asking())
        assert (reply.blocks, reply.stop) == ((Text("A long"),), "length")
        reply, _ = ask(gpt(sim), asking())
    assert (reply.blocks, reply.stop, reply.cut_call) == ((Text("I write."),), "length", "bash")


def test_a_refusal_and_an_empty_answer_are_answers() -> None:
    with Simulator(script=[say("x"), say("y")]) as sim:
        sim.faults.add(Fault.refusal(), at=1)
        sim.faults.add(Fault.empty(), at=2)
        assert ask(gpt(sim), asking())[0].stop == "refusal"
        reply, _ = ask(gpt(sim), asking())
    assert (reply.blocks, reply.stop) == ((), "end")


# -- what goes wrong


@pytest.mark.parametrize("code", [429, 500, 503, 529])
def test_a_server_that_cannot_now_is_unavailable(code: int) -> None:
    with playing(say("x")) as sim:
        sim.faults.add(Fault.status(code, retry_after=2))
        with pytest.raises(ModelUnavailable) as caught:
            ask(gpt(sim), asking())
        assert caught.value.retry_after == 2
        assert len(sim.requests) == 1, "the SDK itself does not try again"
        ask(gpt(sim), asking())


@pytest.mark.parametrize("after", range(1, 7))
@pytest.mark.parametrize("within_line", [False, True])
def test_a_stream_that_is_cut_anywhere_is_unavailable(after: int, within_line: bool) -> None:
    with playing(say("Words.") + call("bash", command="ls -la /tmp")) as sim:
        sim.faults.add(Fault.cut(after, within_line=within_line))
        with pytest.raises(ModelUnavailable):
            ask(gpt(sim), asking())
        reply, _ = ask(gpt(sim), asking())
    assert len(reply.blocks) == 2


def test_a_stream_that_ends_without_saying_why_is_unavailable() -> None:
    with quirky((200, [chunk(content="Half of")])) as server, pytest.raises(ModelUnavailable, match="in the middle"):
        ask(tiny(server), asking())


def test_an_error_in_the_middle_of_a_stream_is_unavailable() -> None:
    with playing(say("Words.")) as sim:
        sim.faults.add(Fault.error_event(2))
        with pytest.raises(ModelUnavailable, match="overloaded"):
            ask(gpt(sim), asking())
        ask(gpt(sim), asking())


def test_no_server_is_unavailable_and_its_address_is_named() -> None:
    with Simulator(script=[]) as sim:
        environment = sim.env()
    with pytest.raises(ModelUnavailable, match=r"no connection to http://127\.0\.0\.1"):
        ask(OpenAIModel("gpt-4.1", environment=environment), asking())


def test_too_long_comes_with_its_figures() -> None:
    with Simulator(script=[], window=1_000) as sim, pytest.raises(PromptTooLong) as caught:
        ask(gpt(sim), asking(LONG))
    assert caught.value.limit == 1_000
    assert caught.value.actual > 1_000


LLAMA: dict[str, Any] = {
    "code": 400,
    "message": "the request exceeds the available context size, try increasing it",
    "type": "exceed_context_size_error",
    "n_prompt_tokens": 9000,
    "n_ctx": 8192,
}
LLAMA_NEW = "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"
VLLM = (
    "This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens. "
    "Please reduce the length of the input messages."
)
VLLM_OLD = (
    "This model's maximum context length is 8192 tokens. However, you requested 9500 tokens "
    "(9000 in the messages, 500 in the completion). Please reduce the length of the messages or completion."
)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": LLAMA}),
        (500, {"error": LLAMA | {"code": 500}}),
        (400, {"error": {"code": 400, "message": LLAMA_NEW, "type": "exceed_context_size_error"}}),
        (400, {"error": {"message": VLLM, "type": "BadRequestError", "param": "input_tokens", "code": 400}}),
        (400, {"object": "error", "message": VLLM_OLD, "type": "BadRequestError", "param": None, "code": 400}),
    ],
)
def test_local_servers_have_their_own_words_for_too_long(status: int, body: Any) -> None:
    with quirky((status, body)) as server, pytest.raises(PromptTooLong) as caught:
        ask(tiny(server), asking())
    assert (caught.value.actual, caught.value.limit) == (9000, 8192)


def test_a_wrong_key_says_which_variable_holds_it() -> None:
    with Simulator(script=[]) as sim, pytest.raises(ModelNotSetUp, match="check OPENAI_API_KEY"):
        ask(OpenAIModel("gpt-4.1", environment={**sim.env(), "OPENAI_API_KEY": "wrong"}), asking())


def test_an_unknown_model_is_told_with_those_that_there_are() -> None:
    with Simulator(script=[]) as sim, pytest.raises(ModelNotSetUp, match=r"there is .*gpt-4\.1"):
        ask(gpt(sim, "gpt-99"), asking())


def test_an_address_that_is_not_the_apis_is_named() -> None:
    with (
        quirky((404, {"error": "404 page not found"})) as server,
        pytest.raises(ModelNotSetUp, match=r"check .*OPENAI_BASE_URL"),
    ):
        ask(tiny(server), asking())


def test_an_empty_account_is_nothing_to_wait_for() -> None:
    spent = {
        "message": "You exceeded your current quota.",
        "type": "insufficient_quota",
        "code": "insufficient_quota",
    }
    with quirky((429, {"error": spent})) as server, pytest.raises(ModelNotSetUp, match="add credit"):
        ask(tiny(server), asking())


def test_another_refusal_has_the_words_of_the_provider() -> None:
    with Simulator(script=[]) as sim, pytest.raises(RequestRefused, match="schema must be a JSON Schema"):
        ask(gpt(sim), asking(tools=[{"name": "x", "input_schema": {"type": "array"}}]))


def test_a_model_that_cannot_call_tools_is_not_set_up() -> None:
    error = {"message": "registry.ollama.ai/library/tiny does not support tools", "type": "api_error"}
    with (
        quirky((400, {"error": error})) as server,
        pytest.raises(ModelNotSetUp, match="choose a model that can call tools"),
    ):
        ask(tiny(server), asking())


def test_without_a_key_the_variable_is_named() -> None:
    with pytest.raises(ModelNotSetUp, match="OPENAI_API_KEY is not set"):
        OpenAIModel("gpt-4.1", environment={})


# -- servers that take less


def test_options_that_a_server_refuses_are_left_out_from_then_on() -> None:
    refused = {"error": {"message": "Unrecognized request argument: stream_options"}}
    lengths = {"error": {"message": "unknown field max_tokens"}}
    done = [chunk(content="Yes."), chunk("stop")]
    with quirky((400, refused), (422, lengths), (200, done), (200, done)) as server:
        model = tiny(server, max_tokens=500)

        async def twice() -> None:
            for _ in range(2):
                async for _ in model.stream(asking()):
                    pass
            await model.close()

        asyncio.run(twice())
        assert len(server.bodies) == 4
        assert server.bodies[-1]["max_completion_tokens"] == 500
        assert not {"stream_options", "max_tokens"} & server.bodies[-1].keys()


def test_newer_models_take_tools_here_without_reasoning_only() -> None:
    said = (
        "Function tools with reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions. "
        "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
    )
    done = [chunk(content="Yes."), chunk("stop")]
    refused, missing = (400, {"error": {"message": said}}), (404, {"error": {"message": "Not Found"}})
    with quirky(refused, missing, refused, (200, done)) as server:
        ask(tiny(server), asking())
        assert "input" in server.bodies[1], "the other API is tried first"
        assert server.bodies[3]["reasoning_effort"] == "none"
    with (
        quirky(refused, missing, refused, refused) as server,
        pytest.raises(ModelNotSetUp, match="has no /v1/responses"),
    ):
        ask(tiny(server), asking())


def test_words_may_come_as_a_list_of_parts() -> None:
    parts = [{"type": "text", "text": "Yes."}]
    with quirky((200, [chunk(content=parts), chunk("stop")])) as server:
        assert ask(tiny(server), asking())[0].blocks == (Text("Yes."),)


def test_a_stream_that_makes_no_sense_is_unavailable() -> None:
    with (
        quirky((200, [chunk(content=7), chunk("stop")])) as server,
        pytest.raises(ModelUnavailable, match="is broken"),
    ):
        ask(tiny(server), asking())


def test_a_server_without_usage_reports_none() -> None:
    with quirky((200, [chunk(content="Yes."), chunk("stop")])) as server:
        reply, _ = ask(tiny(server), asking())
    assert reply.usage == Usage()
    assert reply.blocks == (Text("Yes."),)


def test_a_local_server_gets_no_key() -> None:
    with quirky((404, {"error": "model not found"}), models={"data": [{"id": "other"}]}) as server:
        with pytest.raises(ModelNotSetUp, match="there is other"):
            ask(tiny(server), asking())
        assert server.keys == ["Bearer none"]


def test_reasoning_is_shown_and_not_kept() -> None:
    thoughts = [chunk(reasoning_content="Hm, "), chunk(reasoning="well."), chunk(content="Yes."), chunk("stop")]
    with quirky((200, thoughts)) as server:
        reply, pieces = ask(tiny(server), asking())
    assert pieces == [ThinkingDelta("Hm, "), ThinkingDelta("well."), TextDelta("Yes.")]
    assert reply.blocks == (Text("Yes."),)


# -- sloppy calls


def sloppy(*pieces: Any, finish: str = "tool_calls") -> tuple[int, Any]:
    return 200, [chunk(tool_calls=[one]) for one in pieces] + [chunk(finish)]


LS_OBJECT = {"command": "ls"}
LS = '{"command": "ls"}'


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([piece(0, None, "bash", LS), piece(1, None, "bash", LS)], id="no ids"),
        pytest.param([piece(0, "a", "bash", LS), piece(1, "a", "bash", LS)], id="one id for both"),
        pytest.param([piece(0, "a", "bash", LS), piece(0, "b", "bash", LS)], id="one index for both"),
        pytest.param([piece(0, None, "bash", LS), piece(0, None, "bash", LS)], id="neither id nor index"),
        pytest.param([piece(0, "call_1", "bash", LS), piece(1, "call_2", "bash", LS)], id="ids of earlier calls"),
        pytest.param(
            [piece(0, "a", "bash", {"command": "ls"}), piece(1, "b", "bash", {"command": "ls"})], id="objects"
        ),
    ],
)
def test_two_calls_are_two_calls_with_ids_of_their_own(pieces: list[Any]) -> None:
    before = [user("Look!"), assistant(bash(1), bash(2)), user(result(1), result(2))]
    with quirky(sloppy(*pieces)) as server:
        reply, _ = ask(tiny(server), asking(*before))
    assert calls_of(reply.blocks) == [("bash", {"command": "ls"})] * 2
    ids = [made.id for made in tool_calls(reply.blocks)]
    assert len({*ids, "call_1", "call_2"}) == 4


def test_all_pieces_of_a_call_may_carry_its_name() -> None:
    with quirky(sloppy(*(piece(0, "a", "bash", part) for part in ('{"comm', 'and": ', '"ls"}')))) as server:
        reply, pieces = ask(tiny(server), asking())
    assert calls_of(reply.blocks) == [("bash", {"command": "ls"})]
    assert pieces == [ToolCallStreaming("bash")]


def test_calls_without_any_index_are_told_apart_by_their_place() -> None:
    both = chunk(tool_calls=[piece(None, "a", "bash", LS), piece(None, "b", "read_file", "{}")])
    with quirky((200, [both, chunk("stop")])) as server:
        reply, _ = ask(tiny(server), asking())
    assert calls_of(reply.blocks) == [("bash", {"command": "ls"}), ("read_file", {})]
    assert reply.stop == "tools", "the server said `stop`"


def test_arguments_that_lack_their_last_bracket_are_repaired() -> None:
    with playing(call("bash", command="ls")) as sim:
        sim.faults.add(Fault.bad_arguments())
        reply, _ = ask(gpt(sim), asking())
    assert calls_of(reply.blocks) == [("bash", {"command": "ls"})]


def test_an_unreadable_call_can_be_sent_back_with_its_answer() -> None:
    with quirky(sloppy(piece(0, "a", "bash", '{"command": "ls'))) as server:
        reply, _ = ask(tiny(server), asking())
    (made,) = tool_calls(reply.blocks)
    assert made.input == {UNREADABLE_KEY: '{"command": "ls'}
    with playing(say("Sorry.")) as sim:
        ask(gpt(sim), asking("Look!", assistant(*reply.blocks), user(ToolResult("a", "not JSON", is_error=True))))


def test_calls_without_ids_get_some() -> None:
    with playing(calls([call("bash", command="ls"), call("bash", command="pwd")])) as sim:
        sim.faults.add(Fault.no_call_ids())
        reply, _ = ask(gpt(sim), asking())
    assert len({made.id for made in tool_calls(reply.blocks)}) == 2


def test_a_call_that_came_as_text_is_a_call_and_is_not_shown_as_words() -> None:
    with playing(call("bash", command="ls")) as sim:
        sim.faults.add(Fault.call_as_text())
        reply, pieces = ask(gpt(sim), asking())
    assert calls_of(reply.blocks) == [("bash", {"command": "ls"})]
    assert reply.stop == "tools"
    assert pieces == [ToolCallStreaming("bash")]


def test_json_that_is_no_call_is_shown_after_all() -> None:
    text = '{"name": "unknown", "arguments": {}}'
    with playing(say(text)) as sim:
        reply, pieces = ask(gpt(sim), asking())
    assert reply.blocks == (Text(text),)
    assert words(pieces) == text


def test_without_tools_nothing_is_a_call() -> None:
    text = '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'
    with playing(say(text)) as sim:
        reply, _ = ask(gpt(sim), asking(tools=()))
    assert reply.blocks == (Text(text),)


def test_a_name_that_the_model_made_up_can_be_sent_back() -> None:
    with quirky(sloppy(piece(0, "functions.bash:0", "run it!", "{}"))) as server:
        reply, _ = ask(tiny(server), asking())
    assert calls_of(reply.blocks) == [("run it!", {})]
    with playing(say("Sorry.")) as sim:
        back = user(ToolResult("functions.bash:0", "no such tool", is_error=True))
        ask(gpt(sim), asking("Look!", assistant(*reply.blocks), back))


def test_half_a_character_does_not_stop_a_request() -> None:
    with playing(say("Yes.")) as sim:
        ask(gpt(sim), asking("Look \ud83d"))
        assert sim.requests[0].user_words() == ("Look ?",)


def test_closing_the_iterator_ends_the_connection() -> None:
    with Simulator(script=[say("word " * 400)]) as sim:
        sim.faults.add(Fault.slow(0.05))
        talker = gpt(sim)

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


def test_all_tools_are_offered() -> None:
    with playing(say("Yes.")) as sim:
        ask(gpt(sim), asking())
        assert list(sim.requests[0].tools) == [tool["name"] for tool in TOOLS]


def test_words_before_a_call_that_came_as_text_are_shown_and_the_call_is_not() -> None:
    text = 'I look.\n\n```json\n{"name": "bash", "arguments": {"command": "ls"}}\n```\nIt says: a.py'
    with playing(say(text)) as sim:
        reply, pieces = ask(gpt(sim), asking())
    assert calls_of(reply.blocks) == [("bash", {"command": "ls"})]
    assert reply.blocks[0] == Text("I look.")
    assert words(pieces).strip() == "I look."
    assert pieces[-1] == ToolCallStreaming("bash")


def test_what_only_looks_like_a_call_is_shown_whole_and_named() -> None:
    text = 'Then:\n\n{"name": "list", "arguments": {}}\n\nThat is all.'
    with playing(say(text)) as sim:
        reply, pieces = ask(gpt(sim), asking())
    assert (reply.blocks, words(pieces)) == ((Text(text),), text)
    assert reply.near_call == NearCall("there is no tool 'list'")


@pytest.mark.parametrize("make", BOTH)
def test_an_echo_of_the_state_block_is_not_shown(make: Making) -> None:
    state = "<state>\nPermission mode: ask\nGoal: fix it\n</state>"
    with playing(say(f"{state}\n\nIt is fixed.")) as sim:
        reply, pieces = ask(make(sim), asking(state=state))
    assert reply.blocks == (Text("It is fixed."),)
    assert words(pieces) == "It is fixed."


def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outlive.models.answers.text.MAX_ANSWER_CHARS", 1_000)
    endless = [chunk(content="word " * 100)] * 3 + [chunk("stop")]
    with quirky((200, endless)) as server, pytest.raises(RequestRefused, match="more than 1,000 characters"):
        ask(tiny(server), asking())
