"""The Responses API through OpenAI's SDK: the strict simulator, and servers with manners of their own."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from outlive.messages import Block, Image, Message, Opaque, Text, ToolCall, ToolResult, tool_calls
from outlive.models.errors import ModelNotSetUp, ModelUnavailable, PromptTooLong, RequestRefused
from outlive.models.failures import Failure
from outlive.models.openai.model import OpenAIModel
from outlive.models.openai.responses import ResponsesApi
from outlive.models.openai.responses_form import responses_form
from outlive.models.openai.versions import takes_breakpoints, wants_responses
from outlive.models.protocol import Reply, Usage
from outlive.request import Request
from outlive.stream import TextDelta, ThinkingDelta, ToolCallStreaming
from outlive.testing.simulator import Fault, Simulator, call, calls, say, think
from tests.models.quirky import Quirky, chunk, quirky
from tests.models.talking import TOOLS, ask, asking, assistant, bash, playing, result, user, words

OLDER, NEWER, ONLY = "gpt-5.4", "gpt-5.6-sol", "gpt-6-astra"
LONG = "All of this is long. " * 400


def gpt(sim: Simulator, name: str = OLDER, **options: Any) -> OpenAIModel:
    return OpenAIModel(name, environment=sim.env(), **{"responses": True} | options)


def tiny(server: Quirky, **options: Any) -> OpenAIModel:
    return OpenAIModel("tiny", environment=server.environment, **{"responses": True} | options)


def answers(reply: Reply, text: str = "a.py") -> Message:
    """The results of all calls of a reply."""
    return user(*(ToolResult(made.id, text) for made in tool_calls(reply.blocks)))


async def talk(model: OpenAIModel, request: Request) -> Reply:
    """One answer of a model that is asked again later."""
    pieces = [piece async for piece in model.stream(request)]
    assert isinstance(pieces[-1], Reply)
    return pieces[-1]


def test_words_arrive_in_pieces_and_the_reply_has_them_whole() -> None:
    text = "Here is a longer answer, so that it comes in several pieces."
    with playing(say(text)) as sim:
        reply, pieces = ask(gpt(sim), asking("Hello?"))
        request = sim.requests[0]
    assert (request.path, request.body["instructions"]) == ("/v1/responses", "You work.")
    assert request.body["store"] is False
    assert (reply.blocks, reply.stop, reply.model) == ((Text(text),), "end", OLDER)
    assert words(pieces) == text
    assert len(pieces) > 1
    assert request.usage
    assert reply.usage == Usage(request.usage.input, 0, 0, request.usage.output)


def test_reasoning_is_shown_kept_and_sent_back_before_its_call() -> None:
    with playing(think("I should look.") + call("bash", command="ls"), say("Done.")) as sim:
        first, pieces = ask(gpt(sim), asking("Look!"))
        second, _ = ask(gpt(sim), asking("Look!", assistant(*first.blocks), answers(first)))
        items = sim.requests[1].body["input"]
    thought, _ = first.blocks
    assert isinstance(thought, Opaque)
    assert pieces[0] == ThinkingDelta("I should look.")
    assert pieces[-1] == ToolCallStreaming("bash")
    assert [item["type"] for item in items] == ["message", "reasoning", "function_call", "function_call_output"]
    assert items[1] == thought.data
    assert second.blocks == (Text("Done."),)


def test_parallel_calls_and_words_keep_their_order() -> None:
    step = think("Hm.") + say("I look.") + calls([call("bash", command="ls"), call("read_file", path="a")])
    with playing(step, say("Done.")) as sim:
        first, pieces = ask(gpt(sim), asking("Look!"))
        one, two = tool_calls(first.blocks)
        back = user(ToolResult(one.id, "a.py"), ToolResult(two.id, "", is_error=True), "And hurry.")
        second, _ = ask(gpt(sim), asking("Look!", assistant(*first.blocks), back, state="<state/>"))
        items = sim.requests[1].body["input"]
        results = sim.requests[1].last_results()
    assert first.stop == "tools"
    assert [made.name for made in pieces if isinstance(made, ToolCallStreaming)] == ["bash", "read_file"]
    kinds = ["message", "reasoning", "message", "function_call", "function_call"]
    assert [item["type"] for item in items[:5]] == kinds
    assert [item["type"] for item in items[5:]] == ["function_call_output"] * 2 + ["message"] * 2
    assert [(seen.name, seen.text) for seen in results] == [("bash", "a.py"), ("read_file", "[failed]\n[no output]")]
    assert second.blocks == (Text("Done."),)


def unmarked(value: Any) -> Any:
    """A body without its breakpoints."""
    if isinstance(value, list):
        return [unmarked(item) for item in value]
    if isinstance(value, dict):
        return {key: unmarked(item) for key, item in value.items() if key != "prompt_cache_breakpoint"}
    return value


@pytest.mark.parametrize("name", [OLDER, NEWER, ONLY])
def test_twenty_rounds_with_reasoning_only_grow_and_none_is_refused(name: str) -> None:
    rounds = [think(f"Round {number}: {LONG}") + call("bash", command=f"echo {number}") for number in range(20)]
    with playing(*rounds, think("Enough.") + say("Done.")) as sim:
        model = gpt(sim, name)

        async def work() -> Reply:
            said: list[Message] = [user("Work!")]
            reply = await talk(model, asking(*said))
            while reply.stop == "tools":
                said += [assistant(*reply.blocks), answers(reply, LONG)]
                reply = await talk(model, asking(*said))
            await model.close()
            return reply

        reply = asyncio.run(work())
        bodies = [unmarked(request.body["input"]) for request in sim.requests]
        usages = [request.usage for request in sim.requests]
    assert [type(block) for block in reply.blocks] == [Opaque, Text]
    assert len(bodies) == 21
    for before, after in pairwise(bodies):
        assert after[: len(before)] == before
    assert sum(item["type"] == "reasoning" for item in bodies[-1]) == 20
    for before_usage, usage in pairwise(usages[1:]):
        assert before_usage
        assert usage
        step = 0 if takes_breakpoints(name) else 128
        assert usage.cache_read >= before_usage.prompt - step, "everything sent before is read from the cache"


def test_pictures_go_with_their_result() -> None:
    picture = Image("image/png", "iVBORw0KGgo=")
    shown = ToolResult("call_1", "", images=(picture,))
    with playing(say("A cat.")) as sim:
        ask(gpt(sim), asking(user("See?", Image(url="https://x.org/a.png")), assistant(bash(1)), user(shown)))
        items = sim.requests[0].body["input"]
    assert items[1]["content"] == [{"type": "input_image", "image_url": "https://x.org/a.png", "detail": "auto"}]
    assert [part["type"] for part in items[3]["output"]] == ["input_text", "input_image"]
    assert items[3]["output"][1]["image_url"].startswith("data:image/png;base64,")


def test_a_cut_off_answer_a_cut_off_call_and_cut_off_reasoning_say_so() -> None:
    with playing(
        say("A long story."), think("Hm.") + call("bash", command="echo one && echo two"), think("A long thought.")
    ) as sim:
        sim.faults.add(Fault.max_tokens(6), at=1)
        sim.faults.add(Fault.max_tokens(25), at=2)
        sim.faults.add(Fault.max_tokens(6), at=3)
        reply, _ = ask(gpt(sim), asking())
        assert (reply.blocks, reply.stop) == ((Text("A long"),), "length")
        reply, _ = ask(gpt(sim), asking())
        assert (reply.blocks, reply.stop, reply.cut_call) == ((), "length", "bash")
        reply, _ = ask(gpt(sim), asking())
    assert (reply.blocks, reply.stop) == ((), "length")


def test_a_refusal_and_an_empty_answer_are_answers() -> None:
    with Simulator(script=[say("x"), say("y")]) as sim:
        sim.faults.add(Fault.refusal(), at=1)
        sim.faults.add(Fault.empty(), at=2)
        assert ask(gpt(sim), asking())[0].stop == "refusal"
        reply, _ = ask(gpt(sim), asking())
    assert (reply.blocks, reply.stop) == ((), "end")


def test_a_refusal_in_words_is_a_refusal() -> None:
    stream = [added(message()), event("response.refusal.delta", delta="I will not."), completed()]
    with quirky((200, stream)) as server:
        reply, pieces = ask(tiny(server), asking())
    assert (reply.blocks, reply.stop) == ((Text("I will not."),), "refusal")
    assert words(pieces) == "I will not."


# -- reasoning that does not fit


def test_reasoning_of_an_earlier_view_is_left_out() -> None:
    step = think("Hm.") + call("bash", command="ls")
    with playing(step, step, say("Done.")) as sim:
        first, _ = ask(gpt(sim), asking("Look!"))
        talked = [user("Look!"), assistant(*first.blocks), answers(first)]
        second, _ = ask(gpt(sim), asking(*talked))
        talked += [assistant(*second.blocks), answers(second)]
        ask(gpt(sim), Request("You work.", TOOLS, tuple(talked), "", 0, thinking_from=3))
        kinds = [item["type"] for item in sim.requests[2].body["input"]]
    pair = ["function_call", "function_call_output"]
    assert kinds == ["message", *pair, "reasoning", *pair]


def test_reasoning_that_is_refused_is_left_out_from_then_on() -> None:
    with Simulator([think("Hm.") + call("bash", command="ls")], key="another") as elsewhere:
        first, _ = ask(gpt(elsewhere), asking("Look!"))
    talked = [user("Look!"), assistant(*first.blocks), answers(first)]
    with Simulator([think("So.") + call("bash", command="pwd"), say("Done.")]) as sim:
        model = gpt(sim)

        async def work() -> None:
            reply = await talk(model, asking(*talked))
            await talk(model, asking(*talked, assistant(*reply.blocks), answers(reply)))
            await model.close()

        asyncio.run(work())
        thoughts = [sum(item["type"] == "reasoning" for item in one.body["input"]) for one in sim.requests]
        assert [refusal.code for refusal in sim.refusals] == ["invalid_encrypted_content"]
    assert thoughts == [0, 1]


def test_the_chat_form_leaves_reasoning_out() -> None:
    with playing(think("Hm.") + call("bash", command="ls"), say("Done.")) as sim:
        first, _ = ask(gpt(sim), asking("Look!"))
        talked = asking("Look!", assistant(*first.blocks), answers(first))
        reply, _ = ask(gpt(sim, responses=False), talked)
    assert reply.blocks == (Text("Done."),)


# -- what goes wrong


@pytest.mark.parametrize("code", [429, 500, 503, 529])
def test_a_server_that_cannot_now_is_unavailable(code: int) -> None:
    with playing(say("x")) as sim:
        sim.faults.add(Fault.status(code, retry_after=2))
        with pytest.raises(ModelUnavailable) as caught:
            ask(gpt(sim), asking())
        assert caught.value.retry_after == 2
        ask(gpt(sim), asking())


@pytest.mark.parametrize("after", [*range(1, 20, 2), 18])
@pytest.mark.parametrize("within_line", [False, True])
def test_a_stream_that_is_cut_anywhere_is_unavailable(after: int, within_line: bool) -> None:
    with playing(think("Hm.") + say("Words.") + call("bash", command="ls -la /tmp")) as sim:
        sim.faults.add(Fault.cut(after, within_line=within_line))
        with pytest.raises(ModelUnavailable):
            ask(gpt(sim), asking())
        reply, _ = ask(gpt(sim), asking())
    assert len(reply.blocks) == 3


def test_an_error_in_the_middle_of_a_stream_is_unavailable() -> None:
    with playing(say("Words.")) as sim:
        sim.faults.add(Fault.error_event(4))
        with pytest.raises(ModelUnavailable, match="overloaded"):
            ask(gpt(sim), asking())
        ask(gpt(sim), asking())


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("server_error", ModelUnavailable),
        ("rate_limit_exceeded", ModelUnavailable),
        ("invalid_prompt", RequestRefused),
        ("image_too_large", RequestRefused),
        ("insufficient_quota", ModelNotSetUp),
        ("context_length_exceeded", PromptTooLong),
    ],
)
def test_an_answer_that_fails_says_why(code: str, error: type[Exception]) -> None:
    failed = {"type": "response.failed", "response": {"status": "failed", "error": {"code": code, "message": "No."}}}
    with quirky((200, [failed])) as server, pytest.raises(error, match="No"):
        ask(tiny(server), asking())


def test_too_long_is_told() -> None:
    with Simulator(script=[], window=1_000) as sim, pytest.raises(PromptTooLong):
        ask(gpt(sim), asking(LONG))


def test_an_unknown_model_is_named_together_with_those_that_exist() -> None:
    with Simulator(script=[]) as sim, pytest.raises(ModelNotSetUp, match=r"does not exist.*there is .*gpt-5\.4"):
        ask(gpt(sim, "gpt-5.9"), asking())


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "output_index": 0, **fields}


def added(item: dict[str, Any], place: int = 0) -> dict[str, Any]:
    return event("response.output_item.added", item=item) | {"output_index": place}


def done(item: dict[str, Any], place: int = 0) -> dict[str, Any]:
    return event("response.output_item.done", item=item) | {"output_index": place}


def message(*texts: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {"type": "message", "id": "m", "role": "assistant", "content": content}


def function(arguments: Any = "", call_id: str = "a", name: str = "bash") -> dict[str, Any]:
    return {"type": "function_call", "id": "f", "call_id": call_id, "name": name, "arguments": arguments}


def completed(**fields: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"status": "completed", **fields}}


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param([event("response.output_text.delta", delta="x"), completed()], id="text of no item"),
        pytest.param([added(message()), event("response.output_text.delta", delta=7), completed()], id="no text"),
        pytest.param(
            [added(function()), event("response.output_text.delta", delta="x"), completed()], id="of a call"
        ),
        pytest.param([added(message()), added(message()), completed()], id="two at one place"),
        pytest.param([added(message()) | {"output_index": "x"}, completed()], id="a place that is no number"),
        pytest.param([done({"type": "reasoning", "id": "r", "encrypted_content": 7}), completed()], id="reasoning"),
        pytest.param([added(message("Half of"))], id="no end"),
        pytest.param([], id="nothing"),
    ],
)
def test_a_stream_that_makes_no_sense_is_unavailable(stream: list[Any]) -> None:
    with quirky((200, stream)) as server, pytest.raises(ModelUnavailable, match=r"is broken|in the middle"):
        ask(tiny(server), asking())


def test_items_may_come_whole() -> None:
    stream = [done(message("I look.")), done(function('{"command": "ls"}'), 1), completed()]
    with quirky((200, stream)) as server:
        reply, pieces = ask(tiny(server), asking())
    assert reply.blocks == (Text("I look."), ToolCall("a", "bash", {"command": "ls"}))
    assert pieces == [TextDelta("I look."), ToolCallStreaming("bash")]
    assert (reply.stop, reply.usage) == ("tools", Usage())


@pytest.mark.parametrize("kind", ["added", "done"])
def test_the_phase_of_a_message_is_sent_back_with_it(kind: str) -> None:
    stream = [done(message("I look.") | {"phase": "commentary"}), done(function('{"command": "ls"}'), 1), completed()]
    if kind == "added":
        stream.insert(0, added(message()))
    with quirky((200, stream), (200, [done(message("Yes.")), completed()])) as server:
        reply, _ = ask(tiny(server), asking("Look!"))
        ask(tiny(server), asking("Look!", assistant(*reply.blocks), answers(reply)))
        said = server.bodies[1]["input"][1]
    assert said == {"type": "message", "role": "assistant", "content": "I look.", "phase": "commentary"}
    with playing(say("Done.")) as sim:
        ask(gpt(sim), asking("Look!", assistant(*reply.blocks), answers(reply)))
    with playing(say("Done.")) as sim:
        ask(gpt(sim, responses=False), asking("Look!", assistant(*reply.blocks), answers(reply)))


def test_a_message_that_is_not_ended_is_shown_to_its_end() -> None:
    cut = {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}}
    stream = [added(message()), event("response.output_text.delta", delta="See [a"), cut]
    with quirky((200, stream)) as server:
        reply, pieces = ask(tiny(server), asking())
    assert (reply.blocks, reply.stop, words(pieces)) == ((Text("See [a"),), "length", "See [a")


def test_calls_without_ids_get_some_and_arguments_are_repaired() -> None:
    with playing(calls([call("bash", command="ls"), call("bash", command="pwd")]), call("bash", command="ls")) as sim:
        sim.faults.add(Fault.no_call_ids(), at=1)
        sim.faults.add(Fault.bad_arguments(), at=2)
        reply, _ = ask(gpt(sim), asking())
        assert len({made.id for made in tool_calls(reply.blocks)}) == 2
        reply, _ = ask(gpt(sim), asking())
    assert [made.input for made in tool_calls(reply.blocks)] == [{"command": "ls"}]


def test_an_echo_of_the_state_block_is_not_shown() -> None:
    state = "<state>\nPermission mode: ask\nGoal: fix it\n</state>"
    with playing(say(f"{state}\n\nIt is fixed.")) as sim:
        reply, pieces = ask(gpt(sim), asking(state=state))
    assert reply.blocks == (Text("It is fixed."),)
    assert words(pieces) == "It is fixed."


def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outlive.models.answers.text.MAX_ANSWER_CHARS", 1_000)
    endless = [added(message()), *[event("response.output_text.delta", delta="word " * 100)] * 3, completed()]
    with quirky((200, endless)) as server, pytest.raises(RequestRefused, match="more than 1,000 characters"):
        ask(tiny(server), asking())


def test_half_a_character_does_not_stop_a_request() -> None:
    with playing(say("Yes.")) as sim:
        ask(gpt(sim), asking("Look \ud83d"))
        assert sim.requests[0].user_words() == ("Look ?",)


# -- which API


@pytest.mark.parametrize(
    ("name", "official", "elsewhere"),
    [
        ("gpt-5", True, False),
        ("gpt-5.6-sol", True, False),
        ("gpt-6-astra", True, False),
        ("gpt-10", True, False),
        ("gpt-5.1-codex", True, False),
        ("o4-mini", True, False),
        ("o3", True, False),
        ("o1-mini", False, False),
        ("gpt-5-chat-latest", False, False),
        ("gpt-4.1", False, False),
        ("gpt-4o", False, False),
        ("gpt-oss-20b", False, False),
        ("qwen3:8b", False, False),
    ],
)
def test_models_that_reason_are_asked_there_at_the_official_address(
    name: str, official: bool, elsewhere: bool
) -> None:
    assert wants_responses(name, "https://api.openai.com/v1") is official
    assert wants_responses(name, "https://eu.api.openai.com/v1/") is official
    assert wants_responses(name, "http://127.0.0.1:8000/v1") is elsewhere
    assert wants_responses(name, "https://api.openai.com.example.org/v1") is False


@pytest.mark.parametrize(("name", "path"), [("gpt-6-sol", "/v1/responses"), ("gpt-4.1", "/v1/chat/completions")])
def test_the_official_address_is_asked_by_model(name: str, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with playing(say("Yes.")) as sim:
        monkeypatch.setattr("outlive.models.openai.versions.OFFICIAL_HOST", "127.0.0.1")
        ask(gpt(sim, name, responses=None), asking())
        assert sim.requests[0].path == path


@pytest.mark.parametrize("name", [NEWER, ONLY])
def test_a_model_that_offers_tools_only_there_is_asked_there_from_then_on(name: str) -> None:
    with Simulator([call("bash", command="ls"), say("Done.")]) as sim:
        model = gpt(sim, name, responses=None)

        async def work() -> None:
            reply = await talk(model, asking("Look!"))
            await talk(model, asking("Look!", assistant(*reply.blocks), answers(reply)))
            await model.close()

        asyncio.run(work())
        assert [request.path for request in sim.requests] == ["/v1/responses"] * 2
        (refusal,) = sim.refusals
    assert (refusal.path, "/v1/responses" in refusal.message) == ("/v1/chat/completions", True)


def test_a_server_without_the_api_is_asked_in_the_chat_api_from_then_on() -> None:
    chat = (200, [chunk(content="Yes."), chunk("stop")])
    with quirky((404, {"error": {"message": "Not Found"}}), chat, chat) as server:
        model = tiny(server)

        async def twice() -> None:
            for _ in range(2):
                assert (await talk(model, asking())).blocks == (Text("Yes."),)
            await model.close()

        asyncio.run(twice())
        assert ["messages" in body for body in server.bodies] == [False, True, True]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Your organization must be verified to generate reasoning summaries.", "reasoning"),
        ("Encrypted content is not supported with this model.", "include"),
    ],
)
def test_options_that_a_server_refuses_are_left_out(said: str, left: str) -> None:
    with quirky((400, {"error": {"message": said}}), (200, [done(message("Yes.")), completed()])) as server:
        ask(tiny(server), asking())
        assert left in server.bodies[0]
        assert left not in server.bodies[1]


def test_a_model_that_does_not_reason_can_be_asked_there_too() -> None:
    with Simulator([say("Yes.")]) as sim:
        assert ask(gpt(sim, "gpt-4.1"), asking())[0].blocks == (Text("Yes."),)


# -- breakpoints of the prompt cache


def marks(body: Any) -> list[str]:
    """The texts that have a breakpoint, in their order."""
    if isinstance(body, list):
        return [mark for item in body for mark in marks(item)]
    if not isinstance(body, dict):
        return []
    if "prompt_cache_breakpoint" in body:
        return [body["text"][:8]]
    return [mark for value in body.values() for mark in marks(value)]


ROUNDS: Sequence[Block] = (bash(1), bash(2), bash(3))


@pytest.mark.parametrize("responses", [False, True])
def test_each_request_reads_what_the_one_before_wrote(responses: bool) -> None:
    with Simulator(brain=lambda request: say("Yes.")) as sim:
        model = gpt(sim, NEWER, responses=responses)

        async def work() -> list[Usage]:
            said = [user(f"Look! {LONG}")]
            usages = []
            for number, made in enumerate(ROUNDS):
                reply = await talk(model, asking(*said, system=LONG, tools=TOOLS if responses else ()))
                usages.append(reply.usage)
                said += [assistant(made), user(result(number + 1, f"result {number}: {LONG}"))]
            await model.close()
            return usages

        first, second, third = asyncio.run(work())
        assert sim.refusals == []
        marked = [marks(request.body) for request in sim.requests]
    assert marked == [
        ["All of t", "Look! Al"],
        ["All of t", "Look! Al", "result 0"],
        ["All of t", "result 0", "result 1"],
    ]
    assert first.cache_read == 0
    assert second.cache_read == first.cache_write
    assert third.cache_read == second.cache_read + second.cache_write
    assert (first.input, second.input, third.input) == (0, 0, 0)


def test_the_system_prompt_is_read_by_another_conversation() -> None:
    with Simulator(brain=lambda request: say("Yes.")) as sim:
        first, _ = ask(gpt(sim, NEWER), asking("One?", system=LONG))
        second, _ = ask(gpt(sim, NEWER), asking("Two?", system=LONG))
    assert second.usage.cache_read > 2_000
    assert second.usage.cache_read + second.usage.cache_write == first.usage.cache_write


@pytest.mark.parametrize("responses", [False, True])
def test_older_models_and_servers_that_refuse_them_get_no_breakpoints(responses: bool) -> None:
    said = {"error": {"message": "Unknown parameter: 'prompt_cache_breakpoint'."}}
    there = [done(message("Yes.")), completed()] if responses else [chunk(content="Yes."), chunk("stop")]
    with quirky((400, said), (200, there), (200, there)) as server:
        model = OpenAIModel(NEWER, environment=server.environment, responses=responses)

        async def twice() -> None:
            for _ in range(2):
                await talk(model, asking())
            await model.close()

        asyncio.run(twice())
        assert [bool(marks(body)) for body in server.bodies] == [True, False, False]
    with playing(say("Yes.")) as sim:
        ask(gpt(sim, OLDER, responses=responses), asking())
        assert marks(sim.requests[0].body) == []


# -- the form


def test_reasoning_that_nothing_follows_is_not_sent() -> None:
    thought = Opaque("openai", {"type": "reasoning", "id": "rs_1", "encrypted_content": "x", "summary": []})
    other = Opaque("elsewhere", {"type": "reasoning"})
    form = responses_form(asking("a", assistant(thought, "b", thought, other), "c", assistant(thought), "d"))
    assert [(item["type"], item.get("content")) for item in form["input"]] == [
        ("message", [{"type": "input_text", "text": "a"}]),
        ("reasoning", None),
        ("message", "b"),
        ("message", [{"type": "input_text", "text": "c"}]),
        ("message", "[nothing that can be shown here]"),
        ("message", [{"type": "input_text", "text": "d"}]),
    ]


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


def test_the_effort_goes_with_the_request_and_stays_when_summaries_are_refused() -> None:
    api = ResponsesApi("gpt-6-sol", 8_000, effort="high")
    assert api.body(asking())["reasoning"] == {"summary": "auto", "effort": "high"}
    refused = Failure(400, "reasoning.summary is not supported")
    assert api.changes(refused, asking())
    assert api.body(asking())["reasoning"] == {"effort": "high"}
    assert not api.changes(refused, asking())
