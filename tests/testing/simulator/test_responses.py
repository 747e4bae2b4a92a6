"""The Responses API of the simulator: what it refuses, what it accepts, and its stream."""

from typing import Any

import openai
import pytest
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from outlive.testing import Fault, Simulator, call, say, think
from tests.testing.simulator.talking import GPT, KEY, TOOL, Heard, send

TOOLS: Any = [{"type": "function", "name": "bash", "parameters": TOOL["input_schema"], "strict": False}]
USER: dict[str, Any] = {"role": "user", "content": "hello"}
CALL: dict[str, Any] = {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"}
OUTPUT: dict[str, Any] = {"type": "function_call_output", "call_id": "c1", "output": "a.txt"}
NEWER = "gpt-5.6-sol"
ENCRYPTED: Any = ["reasoning.encrypted_content"]
MARK: dict[str, Any] = {"prompt_cache_breakpoint": {"mode": "explicit"}}


def ask(sim: Simulator, body: Any) -> Heard:
    return send(sim, "/v1/responses", body, {"authorization": f"Bearer {KEY}"})


def body(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A request that is accepted, unless what is given is not."""
    return {"model": GPT, "input": list(items) or [USER], "store": False, **more}


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": list(parts)}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "input_text", "text": words, **more}


CASES: dict[str, tuple[dict[str, Any], str, str | None, str | None]] = {
    "unknown field": (body(messages=[]), "Unknown parameter: 'messages'.", "messages", "unknown_parameter"),
    "no input": ({"model": GPT}, "One of 'input' or ", "input", "missing_required_parameter"),
    "empty input": (body() | {"input": []}, "One of 'input' or ", "input", "missing_required_parameter"),
    "unknown item": (
        body({"type": "tool_result"}),
        "Invalid value: 'tool_result'. Supported values are: 'message'",
        "input[0]",
        "invalid_value",
    ),
    "bad role": (body({**USER, "role": "tool"}), "Invalid value: 'tool'.", "input[0].role", "invalid_value"),
    "field of an item": (
        body({**USER, "cache_control": {}}),
        "Unknown parameter: 'input[0].cache_control'.",
        "input[0].cache_control",
        "unknown_parameter",
    ),
    "status of null": (
        body(USER, {**CALL, "status": None}, OUTPUT),
        "Invalid type for 'input[1].status': expected a string, but got null instead.",
        "input[1].status",
        "invalid_type",
    ),
    "input of the assistant": (
        body({"role": "assistant", "content": [text("x")]}),
        "Invalid value: 'input_text'. Supported values are: 'output_text', 'refusal'.",
        "input[0].content[0]",
        "invalid_value",
    ),
    "part of the chat API": (
        body(user({"type": "text", "text": "x"})),
        "Invalid value: 'text'. Supported values are: 'input_text'",
        "input[0].content[0]",
        "invalid_value",
    ),
    "output without a call": (
        body(USER, OUTPUT),
        "No tool call found for function call output with call_id c1.",
        "input",
        None,
    ),
    "output before its call": (
        body(USER, OUTPUT, CALL),
        "No tool call found for function call output with call_id c1.",
        "input",
        None,
    ),
    "output of no call and no name": (
        body(USER, {"type": "function_call_output", "output": "x"}),
        "Missing required parameter: 'input[1].call_id'.",
        "input[1].call_id",
        "missing_required_parameter",
    ),
    "custom call without output": (
        body(USER, {"type": "custom_tool_call", "call_id": "c1", "name": "exec", "input": "text(1)"}),
        "No tool output found for function call c1.",
        "input",
        None,
    ),
    "additional tools of the user": (
        body({"type": "additional_tools", "role": "user", "tools": TOOLS}, USER),
        "Invalid value: 'user'. Supported values are: 'developer'.",
        "input[0].role",
        "invalid_value",
    ),
    "additional tool of the chat API": (
        body(
            {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "function": {}}]}, USER
        ),
        "Missing required parameter: 'input[0].tools[0].name'.",
        "input[0].tools[0].name",
        "missing_required_parameter",
    ),
    "call without output": (body(USER, CALL), "No tool output found for function call c1.", "input", None),
    "tool of the chat API": (
        body(tools=[{"type": "function", "function": {"name": "bash"}}]),
        "Missing required parameter: 'tools[0].name'.",
        "tools[0].name",
        "missing_required_parameter",
    ),
    "strict format that is open": (
        body(text={"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}, "strict": True}}),
        "Invalid schema for response_format 'a': In context=(), 'additionalProperties' is required to be supplied",
        "text.format",
        "invalid_json_schema",
    ),
    "strict schema that is not": (
        body(tools=[{**TOOLS[0], "strict": True}]),
        "Invalid schema for function 'bash': In context=(), 'additionalProperties' is required",
        "tools[0].parameters",
        "invalid_function_parameters",
    ),
    "usage of the chat API": (
        body(stream=True, stream_options={"include_usage": True}),
        "Unknown parameter: 'stream_options.include_usage'.",
        "stream_options.include_usage",
        "unknown_parameter",
    ),
    "too short an answer": (
        body(max_output_tokens=15),
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead.",
        "max_output_tokens",
        "integer_below_min_value",
    ),
    "a response that is not stored": (
        body(previous_response_id="resp_1"),
        "Previous response with id 'resp_1' not found.",
        "previous_response_id",
        "previous_response_not_found",
    ),
    "reasoning made elsewhere": (
        body(USER, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAxyz"}, USER),
        "The encrypted content gAAA...Axyz could not be verified.",
        None,
        "invalid_encrypted_content",
    ),
    "encryption without reasoning": (
        body(model="gpt-4.1", include=ENCRYPTED),
        "Encrypted content is not supported with this model.",
        "include",
        None,
    ),
    "summary without reasoning": (
        body(model="gpt-4.1", reasoning={"summary": "auto"}),
        "Unsupported parameter: 'reasoning.summary' is not supported with the 'gpt-4.1' model.",
        "reasoning.summary",
        "unsupported_parameter",
    ),
    "breakpoint of an older model": (
        body(user(text("x", **MARK))),
        "Unsupported parameter: 'input[0].content[0].prompt_cache_breakpoint' is not supported with this model.",
        "input[0].content[0].prompt_cache_breakpoint",
        "unsupported_parameter",
    ),
    "breakpoint of a strange kind": (
        body(user(text("x", prompt_cache_breakpoint={"mode": "auto"})), model=NEWER),
        "Invalid value: 'auto'. Supported values are: 'explicit'.",
        "input[0].content[0].prompt_cache_breakpoint.mode",
        "invalid_value",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_with_the_words_of_the_api(sim: Simulator, name: str) -> None:
    asked, words, param, code = CASES[name]
    heard = ask(sim, asked)
    assert heard.status == 400
    assert heard.error["message"].startswith(words)
    assert (heard.error["type"], heard.error["param"], heard.error["code"]) == ("invalid_request_error", param, code)
    assert sim.requests == []


ACCEPTED: dict[str, dict[str, Any]] = {
    "a text": body(input="hello"),
    "messages without a type": body(USER, {"role": "assistant", "content": "hi"}, USER),
    "other items between a call and its output": body(USER, CALL, {"role": "assistant", "content": "hm"}, OUTPUT),
    "outputs with parts": body(
        USER, CALL, {**OUTPUT, "output": [text("a"), {"type": "input_image", "image_url": "x"}]}
    ),
    "instructions and tools": body(
        instructions="Be good.", tools=TOOLS, tool_choice="auto", parallel_tool_calls=True
    ),
    "reasoning": body(include=ENCRYPTED, reasoning={"effort": "low", "summary": "auto"}),
    "breakpoints": body(user(text("x", **MARK)), model=NEWER, prompt_cache_options={"mode": "explicit"}),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_it_is_accepted(sim: Simulator, name: str) -> None:
    heard = ask(sim, ACCEPTED[name])
    assert (heard.status, sim.refusals) == (200, [])
    assert heard.body["output"][0]["content"][0]["text"] == "Fine."


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (NEWER, "Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions."),
        ("gpt-6-astra", "Function tools are not supported for gpt-6-astra in /v1/chat/completions."),
    ],
)
def test_the_chat_api_names_the_other_one(sim: Simulator, model: str, words: str) -> None:
    tool = {"type": "function", "function": {"name": "bash"}}
    asked = {"model": model, "messages": [USER], "tools": [tool]}
    heard = send(sim, "/v1/chat/completions", asked, {"authorization": f"Bearer {KEY}"})
    assert (heard.status, heard.error["message"].startswith(words)) == (400, True)
    assert "use /v1/responses" in heard.error["message"]
    heard = send(
        sim, "/v1/chat/completions", asked | {"reasoning_effort": "none"}, {"authorization": f"Bearer {KEY}"}
    )
    assert heard.status == (200 if model == NEWER else 400)


# -- reasoning


def reasoned(sim: Simulator) -> list[dict[str, Any]]:
    output: list[dict[str, Any]] = ask(sim, body(include=ENCRYPTED, tools=TOOLS)).body["output"]
    return output


def test_reasoning_is_valid_only_before_its_own_item() -> None:
    step = think("hm") + call("bash", command="ls", call_id="c1") + call("bash", command="pwd", call_id="c2")
    with Simulator(brain=lambda request: step) as sim:
        thought, first, second = reasoned(sim)
        outputs = [OUTPUT, OUTPUT | {"call_id": "c2"}]
        assert ask(sim, body(USER, thought, first, second, *outputs)).status == 200
        bare = [{key: value for key, value in item.items() if key != "id"} for item in (first, second)]
        assert ask(sim, body(USER, *bare, *outputs)).status == 200
        for items in ([thought, second, first], [first, thought, second], [first, second, thought]):
            heard = ask(sim, body(USER, *items, *outputs))
            assert heard.error["message"] == (
                f"Item '{thought['id']}' of type 'reasoning' was provided without its required following item."
            )
        heard = ask(sim, body(USER, first, second, *outputs))
        assert heard.error["message"] == (
            f"Item '{first['id']}' of type 'function_call' was provided without its required 'reasoning' item: "
            f"'{thought['id']}'."
        )
        heard = ask(sim, body(USER, thought | {"id": "rs_other"}, *bare, *outputs))
        assert heard.error["code"] == "invalid_encrypted_content"
        heard = ask(sim, body(USER, {"type": "reasoning", "id": thought["id"], "summary": []}, *bare, *outputs))
        assert (heard.status, heard.error["message"].startswith("Item with id 'rs_")) == (404, True)


def test_reasoning_is_encrypted_and_summarized_only_when_asked() -> None:
    with Simulator(brain=lambda request: think("hm") + say("Yes.")) as sim:
        plain = ask(sim, body()).body["output"][0]
        asked = ask(sim, body(include=ENCRYPTED, reasoning={"summary": "auto"})).body["output"][0]
        off = ask(sim, body(reasoning={"effort": "none"})).body["output"]
        other = ask(sim, body(model="gpt-4.1")).body["output"]
    assert (plain["summary"], "encrypted_content" in plain) == ([], False)
    assert (asked["summary"], "encrypted_content" in asked) == ([{"type": "summary_text", "text": "hm"}], True)
    assert [item["type"] for item in off + other] == ["message", "message"]


# -- the stream, and the SDK


def test_the_events_come_in_their_order_and_are_those_of_the_sdk() -> None:
    with Simulator([think("hm") + say("Yes.") + call("bash", command="ls")]) as sim:
        events = ask(sim, body(stream=True, include=ENCRYPTED, reasoning={"summary": "auto"})).events
    adapter: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    for number, (name, data) in enumerate(events):
        assert (data["type"], data["sequence_number"]) == (name, number)
        adapter.validate_python(data)
    around = ["output_item.added", "output_item.done"]
    assert [name.removeprefix("response.") for name, _ in events] == [
        *("created", "in_progress"),
        around[0],
        *("reasoning_summary_part.added", "reasoning_summary_text.delta", "reasoning_summary_text.done"),
        *("reasoning_summary_part.done", around[1]),
        around[0],
        *("content_part.added", "output_text.delta", "output_text.done", "content_part.done", around[1]),
        around[0],
        *("function_call_arguments.delta", "function_call_arguments.done", around[1]),
        "completed",
    ]
    usage = events[-1][1]["response"]["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert usage["output_tokens_details"]["reasoning_tokens"] == 1


def test_the_sdk_sends_back_what_it_got() -> None:
    steps = [think("hm") + say("I look.") + call("bash", command="ls"), say("Done.")]
    with Simulator(steps) as sim, openai.OpenAI(base_url=f"{sim.url}/v1", api_key=KEY) as client:
        items: list[Any] = [USER]
        options: dict[str, Any] = {"model": GPT, "tools": TOOLS, "store": False, "include": ENCRYPTED}
        with client.responses.stream(input=items, **options) as stream:
            answer = stream.get_final_response()
        items += answer.output
        made = answer.output[-1]
        assert made.type == "function_call"
        items.append({"type": "function_call_output", "call_id": made.call_id, "output": "a.txt"})
        assert client.responses.create(input=items, **options).output_text == "Done."
        assert sim.refusals == []
        sim.verify()


def test_faults_work_as_in_the_chat_api() -> None:
    with Simulator([say("a long answer " * 20)]) as sim:
        sim.faults.add(Fault.error_event(3), at=1)
        sim.faults.add(Fault.refusal(), at=2)
        sim.faults.add(Fault.status(429, retry_after=3), at=3)
        sim.faults.add(Fault.too_long(10, 5), at=4)
        sim.faults.add(Fault.max_tokens(6), at=5)
        events = ask(sim, body(stream=True)).events
        assert [name for name, _ in events][2:] == ["response.output_item.added", "error"]
        refusal = ask(sim, body()).body
        assert (refusal["status"], refusal["incomplete_details"]) == ("incomplete", {"reason": "content_filter"})
        assert ask(sim, body()).headers["retry-after"] == "3"
        assert ask(sim, body()).error["code"] == "context_length_exceeded"
        cut = ask(sim, body(stream=True)).events[-1]
        assert cut[0] == "response.incomplete"
        assert cut[1]["response"]["output"][0]["status"] == "incomplete"
        sim.verify()


# -- the prompt cache

THOUSAND = "x" * 3200
"""A text of 1,000 tokens."""


def cost(sim: Simulator, *parts: dict[str, Any], **more: Any) -> tuple[int, int, int]:
    """Plain, written and read tokens."""
    usage = ask(sim, body(*map(user, parts), model=NEWER, **more)).body["usage"]
    read, written = (usage["input_tokens_details"][name] for name in ("cached_tokens", "cache_write_tokens"))
    return usage["input_tokens"] - read - written, written, read


def test_a_prefix_is_read_exactly_at_a_breakpoint(sim: Simulator) -> None:
    stable = text(THOUSAND * 2, **MARK)
    assert cost(sim, stable, text("y" * 32)) == (0, 2010, 0)
    assert cost(sim, stable, text("z" * 32)) == (0, 10, 2000)


def test_without_breakpoints_a_changed_last_message_reads_what_was_written_at_an_earlier_end(sim: Simulator) -> None:
    assert cost(sim, text(THOUSAND * 2)) == (0, 2000, 0)
    assert cost(sim, text(THOUSAND * 2), text("y" * 320)) == (0, 100, 2000)
    assert cost(sim, text(THOUSAND * 2), text("z" * 320)) == (0, 100, 2000)


def test_a_breakpoint_elsewhere_reads_nothing(sim: Simulator) -> None:
    assert cost(sim, text(THOUSAND * 2, **MARK), text("y" * 32)) == (0, 2010, 0)
    assert cost(sim, text(THOUSAND * 2), text("z" * 32, **MARK), text("a")) == (0, 2011, 0)


def test_in_the_explicit_mode_only_breakpoints_count(sim: Simulator) -> None:
    explicit = {"prompt_cache_options": {"mode": "explicit"}}
    assert cost(sim, text(THOUSAND * 2), **explicit) == (2000, 0, 0)
    marked = text(THOUSAND * 2, **MARK)
    assert cost(sim, marked, text("y" * 32), **explicit) == (10, 2000, 0)
    assert cost(sim, marked, text("z" * 32), **explicit) == (10, 0, 2000)


def test_only_the_latest_breakpoints_are_written(sim: Simulator) -> None:
    parts = [text(f"{number}" * 6400, **MARK) for number in range(5)]
    cost(sim, *parts)
    for count, read in ((2, 0), (3, 6000)):
        explicit = {"prompt_cache_options": {"mode": "explicit"}}
        assert cost(sim, *parts[:count], text("a"), **explicit)[2] == read


def test_what_codex_sends_is_accepted_and_other_kinds_of_tools_are_not() -> None:
    others: list[dict[str, Any]] = [{"type": "namespace", "name": "agents", "tools": TOOLS}, {"type": "web_search"}]
    metadata = {"session": "1"}
    with Simulator([say("ok")], key=KEY) as sim:
        assert ask(sim, body(tools=[*TOOLS, *others], client_metadata=metadata)).status == 200
        assert set(sim.requests[-1].tools) == {"bash", "agents", "web_search"}
        assert "Invalid value: 'poem'." in ask(sim, body(tools=[{"type": "poem"}])).error["message"]


EXEC: dict[str, Any] = {"type": "custom", "name": "exec", "description": "Run a script."}
ADDED: dict[str, Any] = {
    "type": "additional_tools",
    "role": "developer",
    "tools": [{"type": "namespace", "name": "functions", "tools": [EXEC]}],
}
"""The tools of Codex in code mode: in an item, in a namespace, with free text as input."""


def test_a_custom_tool_is_called_with_plain_text() -> None:
    with Simulator([think("hm") + call("exec", input="text(1)"), say("Done.")]) as sim:
        asked = {"model": "gpt-6.1-sol", "include": ENCRYPTED}
        reasoning, sent = ask(sim, body(ADDED, USER, **asked)).body["output"]
        assert (sent["type"], sent["name"], sent["input"]) == ("custom_tool_call", "exec", "text(1)")
        output = {"type": "custom_tool_call_output", "call_id": sent["call_id"], "output": "1"}
        kept = {**reasoning, "content": None}  # Codex sends the field, and nothing in it
        assert ask(sim, body(ADDED, USER, kept, sent, output, **asked)).body["output"][0]["type"] == "message"
    request = sim.requests[1]
    assert list(request.tools) == ["functions", "exec"]
    assert [(one.name, one.input) for one in request.calls()] == [("exec", "text(1)")]
    assert [(one.name, one.text) for one in request.results()] == [("exec", "1")]


def test_the_sdk_reads_the_stream_of_a_custom_call() -> None:
    with (
        Simulator([call("exec", input="text(1)")]) as sim,
        openai.OpenAI(base_url=f"{sim.url}/v1", api_key=KEY) as client,
    ):
        tools: Any = [EXEC]
        with client.responses.stream(model=GPT, input="hello", tools=tools, store=False) as stream:
            (item,) = stream.get_final_response().output
    assert item.type == "custom_tool_call"
    assert item.input == "text(1)"


def test_additional_tools_take_room_in_the_prompt(sim: Simulator) -> None:
    def size(*items: dict[str, Any]) -> int:
        tokens: int = ask(sim, body(*items)).body["usage"]["input_tokens"]
        return tokens

    assert size({**ADDED, "tools": TOOLS}, USER) == ask(sim, body(tools=TOOLS)).body["usage"]["input_tokens"]
    assert size(ADDED, USER) > size(USER)


def test_an_output_without_a_call_names_what_it_comes_from(sim: Simulator) -> None:
    goal = {"type": "function_call_output", "name": "goal_objective", "namespace": "agent", "output": "Print all"}
    assert ask(sim, body(USER, CALL, OUTPUT, goal)).status == 200
    (request,) = sim.requests
    assert [one.text for one in request.results()] == ["a.txt"]
    assert "Print all" in request.text
