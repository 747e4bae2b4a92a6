"""Whatever the context engine may ask is a request that both providers take."""

import asyncio
from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from outlive.context.validity import problems
from outlive.messages import Block, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from outlive.models.anthropic.request import request_form as anthropic_form
from outlive.models.openai.form import EMPTY_ERROR, EMPTY_MESSAGE, NO_OUTPUT
from outlive.models.openai.form import request_form as openai_form
from outlive.models.openai.responses_form import responses_form
from outlive.models.protocol import Model, Reply
from outlive.models.sanitize import legal_id, valid_name
from outlive.testing.simulator import Simulator, say
from outlive.testing.simulator.anthropic.signing import Signer
from tests.models.talking import asking, assistant, bash, claude, gpt, result, user

TEXT = st.text(min_size=1, max_size=12).filter(str.strip)
ANY_TEXT = st.text(max_size=12)
PICTURES = st.sampled_from([Image("image/png", "iVBORw0KGgo="), Image(url="https://example.org/a.png")])
ODD_PICTURES = PICTURES | st.sampled_from([Image("image/svg+xml", "PHN2Zz4="), Image()])
JSON = st.dictionaries(st.text(max_size=4), st.none() | st.integers() | ANY_TEXT | st.lists(ANY_TEXT, max_size=2))


@st.composite
def thoughts(draw: st.DrawFn) -> Block:
    text = draw(ANY_TEXT)
    signed = Thinking(text, Signer("test-key").sign(text, "nonce"))
    kinds: list[Block] = [signed, Thinking(text), Opaque("elsewhere", {"type": "secret"})]
    return draw(st.sampled_from(kinds))


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """Any conversation that the engine's own check lets through: odd names, ids, texts and pictures included."""
    numbers = count()
    said: list[Message] = []
    open_calls: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        results: list[Block] = [
            ToolResult(call, draw(ANY_TEXT), draw(st.booleans()), tuple(draw(st.lists(ODD_PICTURES, max_size=2))))
            for call in draw(st.permutations(open_calls))
        ]
        words: list[Block] = draw(
            st.lists(TEXT.map(Text) | ODD_PICTURES | st.just(Opaque("elsewhere", {})), min_size=0, max_size=3)
        )
        said.append(Message("user", tuple(results + words) or (Text("Go on."),)))
        marks = st.just("call_") | ANY_TEXT.map(lambda text: f"{text}{next(numbers)}")
        open_calls = [f"{draw(marks)}{number}" for number in range(draw(st.integers(0, 3)))]
        assume(len(set(open_calls)) == len(open_calls))
        calls: list[Block] = [ToolCall(call, draw(st.text(max_size=70)), draw(JSON)) for call in open_calls]
        answer = [*draw(st.lists(thoughts(), max_size=2)), *draw(st.lists(TEXT.map(Text), max_size=2)), *calls]
        said.append(Message("assistant", tuple(answer) or (Text("Yes."),)))
    if open_calls:
        said.append(Message("user", tuple(ToolResult(call, draw(ANY_TEXT)) for call in open_calls)))
    else:
        said.pop()
    return tuple(said)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Simulator, asyncio.Runner, list[Model]]]:
    with Simulator(brain=lambda request: say("Yes.")) as sim, asyncio.Runner() as runner:
        models: list[Model] = [claude(sim, "claude-opus-4-6"), gpt(sim)]
        models += [gpt(sim, name, responses=True) for name in ("gpt-5.4", "gpt-6-astra")]
        yield sim, runner, models
        for model in models:
            runner.run(model.close())


@settings(max_examples=60)
@given(conversations(), st.sampled_from(["", "<state>one</state>"]))
def test_what_is_valid_for_us_is_taken_by_both(
    served: tuple[Simulator, asyncio.Runner, list[Model]], said: tuple[Message, ...], state: str
) -> None:
    sim, runner, models = served
    request = asking(*said, state=state)
    assume(not problems(request.messages))

    async def heard(model: Model) -> list[object]:
        return [piece async for piece in model.stream(request)]

    for model in models:
        assert isinstance(runner.run(heard(model))[-1], Reply)
    assert sim.refusals == []


@settings(max_examples=60)
@given(conversations())
def test_a_form_is_a_function_of_the_request(said: tuple[Message, ...]) -> None:
    request = asking(*said)
    assert anthropic_form(request) == anthropic_form(request)
    assert openai_form(request) == openai_form(request)
    assert responses_form(request) == responses_form(request)


REASONING = Opaque("openai", {"type": "reasoning", "id": "rs_1", "encrypted_content": "x", "summary": []})


@settings(max_examples=60)
@given(conversations(), st.booleans(), st.data())
def test_the_items_of_a_request_are_the_first_items_of_the_next(
    said: tuple[Message, ...], breakpoints: bool, data: st.DataObject
) -> None:
    """Also where blocks are added to the last message of the user."""

    def items(messages: tuple[Message, ...]) -> list[object]:
        sent = responses_form(asking(*messages), breakpoints=breakpoints)["input"]
        for item in sent:
            for part in item.get("content") or item.get("output") or ():
                if isinstance(part, dict):
                    part.pop("prompt_cache_breakpoint", None)
        return [dict(item) for item in sent]

    said = tuple(Message(one.role, (REASONING, *one.blocks)) if one.role == "assistant" else one for one in said)
    turns = [number for number, message in enumerate(said) if message.role == "user"]
    number = data.draw(st.sampled_from(turns))
    last = said[number].blocks
    results = sum(isinstance(block, ToolResult) for block in last)
    shown = data.draw(st.integers(max(1, results), len(last)))
    before = items((*said[:number], Message("user", last[:shown])))
    assume(EMPTY_MESSAGE not in str(before[-1]))
    assert items(said)[: len(before)] == before


@given(st.text(max_size=90), st.text(max_size=90), st.sampled_from([40, 64]))
def test_ids_are_made_legal_and_stay_apart(one: str, other: str, longest: int) -> None:
    made = legal_id(one, longest)
    assert 0 < len(made) <= longest
    assert made.replace("-", "").replace("_", "").isascii()
    assert legal_id(made, longest) == made
    assert (made == legal_id(other, longest)) == (one == other)


def test_an_id_that_is_used_twice_is_told_apart_with_its_result() -> None:
    said = [user("Look!"), assistant(bash(1)), user(result(1, "one")), assistant(bash(1)), user(result(1, "two"))]
    sent = anthropic_form(asking(*said))["messages"]
    first, second = sent[1]["content"][0]["id"], sent[3]["content"][0]["id"]
    assert first == "call_1" != second
    assert [message["content"][0]["tool_use_id"] for message in (sent[2], sent[4])] == [first, second]


def test_legal_names_stay() -> None:
    assert valid_name("mcp__server__tool", 64) == "mcp__server__tool"
    assert valid_name("functions.bash now", 64) == "functions_bash_now"
    assert valid_name("", 64) == "_"


def test_in_the_chat_form_results_come_first_and_the_state_block_last() -> None:
    request = asking(
        "Look!", assistant("I look.", bash(1), bash(2)), user(result(1), result(2, ""), "Hurry."), state="<state/>"
    )
    form = openai_form(request)["messages"]
    assert [message["role"] for message in form] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert form[-1]["content"] == "Hurry.\n\n<state/>"
    assert form[4]["content"] == NO_OUTPUT
    assert form[2]["tool_calls"][0]["function"] == {"name": "bash", "arguments": '{"command": "ls"}'}


def test_in_the_chat_form_a_failure_is_told_in_words_and_thinking_is_left_out() -> None:
    failed = ToolResult("call_1", "no such file", is_error=True)
    request = asking(
        "Look!", assistant(Thinking("hm", "signed"), bash(1)), user(failed), assistant(Thinking("hm")), "So?"
    )
    form = openai_form(request)["messages"]
    assert form[2]["content"] is None
    assert form[3]["content"] == f"{EMPTY_ERROR}no such file"
    assert form[4] == {"role": "assistant", "content": EMPTY_MESSAGE}
    assert "hm" not in str(form)


def test_without_tools_and_system_neither_is_sent() -> None:
    request = asking("Hello?", system="", tools=())
    assert openai_form(request).keys() == anthropic_form(request).keys() == {"messages"}


def test_the_request_itself_is_not_touched() -> None:
    request = asking("Look!", assistant(bash(1)), user(result(1)), state="<state/>")
    anthropic_form(request)
    assert "cache_control" not in str(request)
