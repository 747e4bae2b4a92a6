"""Whatever a server streams, a run ends normally, with an answer to the model or with an error of ours; the session
can be continued afterwards."""

import asyncio
import json
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from outlive import Agent
from outlive.errors import OutliveError
from outlive.events import AssistantSaid
from outlive.messages import tool_calls
from outlive.models.anthropic.model import AnthropicModel
from outlive.models.openai.model import OpenAIModel
from outlive.tools.builtin.standard import standard_tools
from tests.models.quirky import Quirky, quirky

BIG, DEEP = "<256 KB>", "<10,000 levels>"
LARGE = {BIG: "x" * 256 * 1024, DEEP: '{"a":' * 10_000 + "1" + "}" * 10_000}
"""Put in when a stream is played: hypothesis prints its examples."""
NAMES = st.sampled_from([tool.name for tool in standard_tools() if tool.name not in ("bash", "subagent")])
ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**80), 2**80),
    st.sampled_from(
        [math.nan, math.inf, "", " ", "\0", "\ud83d", "{}", "null", [], {}, [[]], {"a": {"b": [1]}}, 10**400]
    ),
    st.text(max_size=20),
    st.lists(st.integers(), max_size=3),
)
PATHS = st.sampled_from(
    ["path", "pattern", "text", "task_id", "handle", "query", "subject", "steps", "limit", "name"]
)
INPUTS = st.dictionaries(PATHS | st.text(max_size=5), ODD, max_size=4)
ARGUMENTS = st.one_of(
    INPUTS.map(json.dumps),
    INPUTS,
    ODD,
    st.sampled_from(
        [DEEP, "[" * 10_000, '{"path": "' + BIG + '"}', BIG, '{"limit": ' + "9" * 5_000 + "}", '{"path": "a']
    )
    | st.text(max_size=40),
)
NAMED = NAMES | ODD
TEXTS = st.sampled_from(
    [
        "{{",
        "{'a', 'e'}",
        '{{"name": "glob", "arguments": {"pattern": "*"}}}',
        "<tool_call>",
        "<tools>",
        '<invoke name="glob"><parameter name="pattern">',
        '[glob(pattern="*")]',
        "Action: glob\nAction Input: ",
        "<|channel|>commentary to=functions.glob <|message|>",
        "<glob>",
        "<state>",
        DEEP,
        BIG,
        "```",
    ]
) | st.text(max_size=30)

OPENAI_CALL = st.fixed_dictionaries({}, optional={"index": ODD, "id": ODD, "type": ODD, "function": ODD}) | st.builds(
    lambda index, id, name, arguments: {"index": index, "id": id, "function": {"name": name, "arguments": arguments}},
    st.integers(-1, 3) | ODD,
    st.sampled_from(["a", "a", "b", ""]) | ODD,
    NAMED,
    ARGUMENTS,
)
OPENAI_DELTA = st.fixed_dictionaries(
    {},
    optional={
        "content": TEXTS | ODD,
        "tool_calls": st.lists(OPENAI_CALL | ODD, max_size=3) | ODD,
        "reasoning_content": ODD,
        "refusal": ODD,
        "role": ODD,
    },
)
OPENAI_CHUNK = st.builds(
    lambda delta, stop, usage: {
        "id": "c",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": stop}],
        "usage": usage,
    },
    OPENAI_DELTA | ODD,
    st.sampled_from([None, "stop", "tool_calls", "length"]) | ODD,
    ODD | st.fixed_dictionaries({"prompt_tokens": ODD, "completion_tokens": ODD}),
)
OPENAI_STREAM = st.lists(OPENAI_CHUNK | ODD | st.sampled_from([DEEP]), max_size=5)

ANTHROPIC_BLOCK = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXTS | ODD),
    st.builds(lambda id, name, given: {"type": "tool_use", "id": id, "name": name, "input": given}, ODD, NAMED, ODD),
    st.builds(lambda id, name: {"type": "tool_use", "id": id, "name": name, "input": {}}, st.just("a"), NAMES),
    st.fixed_dictionaries({}, optional={"type": st.sampled_from(["tool_use", "thinking", "odd"]) | ODD, "name": ODD}),
)
ANTHROPIC_DELTA = st.one_of(
    st.builds(lambda text: {"type": "text_delta", "text": text}, TEXTS | ODD),
    st.builds(lambda text: {"type": "input_json_delta", "partial_json": text}, ARGUMENTS),
    st.fixed_dictionaries({}, optional={"type": ODD}),
)
INDEX = st.integers(0, 2) | ODD
ANTHROPIC_EVENT = st.one_of(
    st.builds(
        lambda at, block: {"type": "content_block_start", "index": at, "content_block": block}, INDEX, ANTHROPIC_BLOCK
    ),
    st.builds(lambda at, delta: {"type": "content_block_delta", "index": at, "delta": delta}, INDEX, ANTHROPIC_DELTA),
    st.builds(
        lambda stop, usage: {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage},
        st.sampled_from(["end_turn", "tool_use", "max_tokens"]) | ODD,
        ODD | st.fixed_dictionaries({"output_tokens": ODD}),
    ),
    st.fixed_dictionaries({"type": st.just("message_start")}, optional={"message": ODD}),
)
ANTHROPIC_STREAM = st.lists(ANTHROPIC_EVENT | ODD | st.sampled_from([DEEP]), max_size=6)

RESPONSES_ITEM = st.one_of(
    st.builds(
        lambda id, name, given: {"type": "function_call", "call_id": id, "name": name, "arguments": given},
        st.sampled_from(["a", "b", ""]) | ODD,
        NAMED,
        ARGUMENTS,
    ),
    st.builds(lambda text: {"type": "message", "content": [{"type": "output_text", "text": text}]}, TEXTS | ODD),
    st.builds(
        lambda id, content, summary: {
            "type": "reasoning", "id": id, "encrypted_content": content, "summary": summary
        },
        st.just("rs_1") | ODD,
        st.sampled_from(["gAAAA", BIG]) | ODD,
        st.just([{"type": "summary_text", "text": "hm"}]) | ODD,
    ),
    st.fixed_dictionaries({}, optional={"type": ODD, "content": ODD}),
)  # fmt: skip
PLACE = st.integers(0, 2) | ODD
RESPONSES_EVENT = st.one_of(
    st.builds(
        lambda kind, at, item: {"type": f"response.output_item.{kind}", "output_index": at, "item": item},
        st.sampled_from(["added", "done"]),
        PLACE,
        RESPONSES_ITEM | ODD,
    ),
    st.builds(
        lambda kind, at, delta: {"type": f"response.{kind}.delta", "output_index": at, "delta": delta},
        st.sampled_from(["output_text", "refusal", "function_call_arguments", "reasoning_summary_text"]),
        PLACE,
        TEXTS | ARGUMENTS,
    ),
    st.builds(
        lambda kind, response: {"type": f"response.{kind}", "response": response},
        st.sampled_from(["created", "completed", "incomplete", "failed"]),
        ODD
        | st.fixed_dictionaries(
            {}, optional={"status": ODD, "usage": ODD, "error": ODD, "incomplete_details": ODD, "model": ODD}
        ),
    ),
    st.fixed_dictionaries({"type": st.just("error")}, optional={"code": ODD, "message": ODD}),
    st.fixed_dictionaries({}, optional={"type": ODD}),
)
RESPONSES_STREAM = st.lists(RESPONSES_EVENT | ODD | st.sampled_from([DEEP]), max_size=6)

FEW = settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow], phases=set(Phase) - {Phase.shrink})
"""Each example opens two real sessions, so a failing one is not made smaller."""
OPENAI_DONE = [{"choices": [{"index": 0, "delta": {"content": "done"}, "finish_reason": "stop"}]}]
RESPONSES_DONE: list[Any] = [
    {"type": "response.output_item.done", "output_index": 0,
     "item": {"type": "message", "content": [{"type": "output_text", "text": "done"}]}},
    {"type": "response.completed", "response": {"status": "completed"}},
]  # fmt: skip
ANTHROPIC_DONE: list[Any] = [
    {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "model": "m",
                                          "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "done"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
]  # fmt: skip


@pytest.fixture(scope="module")
def openai_server() -> Iterator[Quirky]:
    with quirky(after=(200, OPENAI_DONE)) as server:
        yield server


@pytest.fixture(scope="module")
def responses_server() -> Iterator[Quirky]:
    with quirky(after=(200, RESPONSES_DONE)) as server:
        yield server


@pytest.fixture(scope="module")
def anthropic_server() -> Iterator[Quirky]:
    with quirky(after=(200, ANTHROPIC_DONE)) as server:
        yield server


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    def make() -> Path:
        made = tmp_path_factory.mktemp("work")
        (made / "a.txt").write_text("one\ntwo\n")
        return made

    return make


def enlarged(value: Any) -> Any:
    match value:
        case str():
            return value.replace(BIG, LARGE[BIG]).replace(DEEP, LARGE[DEEP])
        case dict():
            return {key: enlarged(item) for key, item in value.items()}
        case list():
            return [enlarged(item) for item in value]
    return value


def play(folder: Path, server: Quirky, model: Any, stream: list[Any]) -> None:
    """The stream reaches the real agent, then the session is opened again and goes on."""
    server.answers = [(200, enlarged(stream))]

    async def work() -> None:
        agent = Agent(folder, model=model())
        try:
            with suppress(OutliveError):
                await agent.run("go")
        finally:
            session = agent.session
            await agent.close()
            await agent._runtime.parts.model.close()
        server.answers = []
        again = Agent(folder, resume=session, model=model())
        try:
            assert (await again.run("go on")).text == "done"
            said = [event for event in again.events if isinstance(event, AssistantSaid)]
            ids = [call.id for event in said for call in tool_calls(event.blocks)]
            assert len(ids) == len(set(ids))
        finally:
            await again.close()
            await again._runtime.parts.model.close()

    asyncio.run(work())


def openai_model(server: Quirky) -> OpenAIModel:
    return OpenAIModel("tiny", environment=server.environment, window=1_000_000)


def calling(name: Any, arguments: Any) -> list[Any]:
    call = {"index": 0, "id": "a", "function": {"name": name, "arguments": arguments}}
    return [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}]


@FEW
@given(OPENAI_STREAM)
@example(calling("glob", DEEP))
@example(calling("glob", {"pattern": 10**400}))
@example(calling("read_file", '{"path": "a.txt", "limit": ' + str(2**70) + "}"))
@example(calling("read_file", json.dumps({"path": "\ud83d\0"})))
@example(calling("", "{}"))
@example([DEEP])
def test_any_stream_of_chat_chunks(folders: Callable[[], Path], openai_server: Quirky, stream: list[Any]) -> None:
    play(folders(), openai_server, lambda: openai_model(openai_server), stream)


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.output_item.{kind}", "output_index": 0, "item": fields}


@FEW
@given(RESPONSES_STREAM, st.booleans())
@example([item("done", type="function_call", call_id="a", name="glob", arguments=DEEP)], True)
@example([item("done", type="function_call", call_id="a", name="glob", arguments={"pattern": 10**400})], True)
@example([item("done", type="reasoning", id="\ud83d", encrypted_content=BIG, summary=[])], True)
@example([item("added", type="function_call", call_id="a", name=BIG), DEEP], True)
def test_any_stream_of_response_events(
    folders: Callable[[], Path], responses_server: Quirky, stream: list[Any], ends: bool
) -> None:
    def model() -> OpenAIModel:
        return OpenAIModel("tiny", environment=responses_server.environment, window=1_000_000, responses=True)

    play(folders(), responses_server, model, [*stream, *RESPONSES_DONE[1:]] if ends else stream)


@FEW
@given(ANTHROPIC_STREAM)
def test_any_stream_of_message_events(
    folders: Callable[[], Path], anthropic_server: Quirky, stream: list[Any]
) -> None:
    environment = anthropic_server.environment | {"ANTHROPIC_BASE_URL": anthropic_server.url.removesuffix("/v1")}
    full = [*ANTHROPIC_DONE[:1], *stream, {"type": "message_stop"}]
    play(folders(), anthropic_server, lambda: AnthropicModel("claude-x", environment=environment), full)
