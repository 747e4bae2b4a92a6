"""Compaction of the Responses API: `POST /v1/responses/compact`, and its item in later requests."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from outlive.testing import Fault, Simulator, call, say, think
from tests.testing.simulator.talking import GPT, KEY, TOOL, Heard, send

RESPONSES, COMPACT = "/v1/responses", "/v1/responses/compact"
USER: dict[str, Any] = {"role": "user", "content": "hello"}
CALL: dict[str, Any] = {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"}
OUTPUT: dict[str, Any] = {"type": "function_call_output", "call_id": "c1", "output": "a.txt"}
TOOLS: Any = [{"type": "function", "name": "bash", "parameters": TOOL["input_schema"], "strict": False}]
NEWER = "gpt-5.6-sol"
SUMMARY = "All said."


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(brain=lambda request: say("Fine."), summary=lambda request: SUMMARY) as simulator:
        yield simulator
        simulator.verify()


def ask(sim: Simulator, body: Any, path: str = COMPACT) -> Heard:
    return send(sim, path, body, {"authorization": f"Bearer {KEY}"})


def body(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": GPT, "input": list(items) or [USER], **more}


def summary_of(sim: Simulator, *items: dict[str, Any]) -> dict[str, Any]:
    """The compaction item that stands for some items."""
    item = ask(sim, body(*items)).body["output"][-1]
    assert isinstance(item, dict)
    return item


def test_the_answer_has_all_messages_of_the_user_and_one_encrypted_item() -> None:
    parts = [{"type": "input_text", "text": "and this"}]
    given = [
        USER,
        CALL,
        OUTPUT,
        {"role": "assistant", "content": "Hi."},
        {"type": "message", **USER, "content": parts},
    ]
    with Simulator([say("Fine.")], summary=lambda request: SUMMARY) as sim:
        heard = ask(sim, body({"role": "developer", "content": "be good"}, *given)).body
        assert heard["id"].startswith("resp_")
        assert (heard["object"], type(heard["created_at"])) == ("response.compaction", int)
        *users, item = heard["output"]
        assert [(one["type"], one["role"], one["content"]) for one in users] == [
            ("message", "user", [{"type": "input_text", "text": "hello"}]),
            ("message", "user", parts),
        ]
        assert item["id"].startswith("cmp_")
        assert {**item, "id": "", "encrypted_content": ""} == {
            "id": "",
            "type": "compaction",
            "encrypted_content": "",
        }
        assert SUMMARY not in item["encrypted_content"]
        ask(sim, body(), RESPONSES)
        assert [request.compacts for request in sim.requests] == [True, False]
        sim.verify()


def test_a_string_is_a_message_of_the_user(sim: Simulator) -> None:
    output = ask(sim, body() | {"input": "hello"}).body["output"]
    assert (output[0]["content"], len(output)) == ([{"type": "input_text", "text": "hello"}], 2)


def test_the_summary_is_made_from_the_request_and_counted() -> None:
    with Simulator(brain=lambda request: say("Fine."), summary=lambda request: "|".join(request.user_words())) as sim:
        usage = ask(sim, body(*[{"role": "user", "content": "x" * 159}] * 2)).body["usage"]
        assert usage == {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 100,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 200,
        }


def test_the_prompt_is_read_from_the_cache(sim: Simulator) -> None:
    long = {"role": "user", "content": "x" * 8192}
    ask(sim, body(long), RESPONSES)
    assert ask(sim, body(long)).body["usage"]["input_tokens_details"]["cached_tokens"] == 2560


def test_a_summary_that_fails_is_an_error_of_the_server() -> None:
    with Simulator(summary=lambda request: None) as sim:
        heard = ask(sim, body())
        assert (heard.status, heard.error["type"]) == (500, "server_error")
        assert (sim.refusals, len(sim.requests)) == ([], 1)


@pytest.mark.parametrize(
    ("given", "words", "code"),
    [
        (body(stream=False), "Unknown parameter: 'stream'.", "unknown_parameter"),
        (body(tools=TOOLS), "Unknown parameter: 'tools'.", "unknown_parameter"),
        (body(store=False), "Unknown parameter: 'store'.", "unknown_parameter"),
        ({"input": "hello"}, "Missing required parameter: 'model'.", "missing_required_parameter"),
        ({"model": GPT}, "One of 'input' or ", "missing_required_parameter"),
        (body(model="gpt-0"), "The model `gpt-0` does not exist", "model_not_found"),
        (
            {"model": GPT, "previous_response_id": "resp_1"},
            "Previous response with id 'resp_1' not found.",
            "previous_response_not_found",
        ),
        (body(instructions=1), "Invalid type for 'instructions'", "invalid_type"),
        (body(USER, CALL), "No tool output found for function call c1.", None),
        (body(USER, OUTPUT), "No tool call found for function call output", None),
        (body({"role": "tool", "content": "x"}), "Invalid value: 'tool'.", "invalid_value"),
        (body(prompt_cache_options={"mode": "explicit"}), "Unsupported parameter: 'prompt_cache_options'", None),
        (body({"type": "compaction"}), "Missing required parameter: 'input[0].encrypted_content'.", None),
    ],
)
def test_what_a_compaction_request_may_not_have(
    sim: Simulator, given: dict[str, Any], words: str, code: str | None
) -> None:
    heard = ask(sim, given)
    assert heard.status == (404 if code == "model_not_found" else 400)
    assert heard.error["message"].startswith(words)
    assert code in (None, heard.error["code"])


def test_what_a_compaction_request_may_have(sim: Simulator) -> None:
    more: dict[str, Any] = {"instructions": "be good", "prompt_cache_key": "k", "service_tier": "auto"}
    more |= {"prompt_cache_options": {"mode": "explicit"}, "prompt_cache_retention": "24h", "model": NEWER}
    assert ask(sim, body(**more)).status == 200


@pytest.mark.parametrize("path", [RESPONSES, COMPACT])
@pytest.mark.parametrize("identity", [{}, {"id": None}, {"id": "cmp_other"}])
def test_the_item_is_accepted_and_counts_as_its_summary(sim: Simulator, path: str, identity: Any) -> None:
    item = {name: value for name, value in summary_of(sim).items() if name != "id"} | identity
    used = [ask(sim, given, path).body["usage"]["input_tokens"] for given in (body(), body(item, USER))]
    assert used == [2, 5]  # "hello" has 5 characters, the summary 9


@pytest.mark.parametrize("path", [RESPONSES, COMPACT])
def test_an_item_that_was_made_elsewhere_or_changed_is_refused(sim: Simulator, path: str) -> None:
    item = summary_of(sim)
    with Simulator(key="other-key", brain=lambda request: say("Fine.")) as other:
        heard = send(other, path, body(item, USER), {"authorization": "Bearer other-key"})
        assert heard.error["code"] == "invalid_encrypted_content"
    content = item["encrypted_content"]
    for changed in (content[:-4] + "AAAA", "x" + content, "nothing", ""):
        heard = ask(sim, body(item | {"encrypted_content": changed}, USER), path)
        assert (heard.status, heard.error["code"]) == (400, "invalid_encrypted_content")
        assert heard.error["message"].endswith("Reason: Encrypted content could not be decrypted or parsed.")


def test_reasoning_is_no_summary_and_a_summary_no_reasoning() -> None:
    with Simulator(brain=lambda request: think("hm") + say("Fine.")) as sim:
        include = ["reasoning.encrypted_content"]
        reasoning, message = ask(sim, body(include=include), RESPONSES).body["output"]
        item = summary_of(sim)
        swapped = {"type": "compaction", "encrypted_content": reasoning["encrypted_content"]}
        assert ask(sim, body(swapped, USER)).error["code"] == "invalid_encrypted_content"
        swapped = {**reasoning, "id": item["id"], "encrypted_content": item["encrypted_content"]}
        assert ask(sim, body(USER, swapped, message)).error["code"] == "invalid_encrypted_content"
        assert ask(sim, body(USER, reasoning, message)).status == 200
        assert ask(sim, body(USER, message)).error["message"].startswith(f"Item '{message['id']}' of type 'message'")


def test_the_answer_may_be_sent_back_and_compacted_again(sim: Simulator) -> None:
    output = ask(sim, body(USER, CALL, OUTPUT)).body["output"]
    after = body(*output, {"role": "user", "content": "go on"})
    assert ask(sim, after, RESPONSES).status == 200
    again = ask(sim, after).body["output"]
    assert [item["type"] for item in again] == ["message", "message", "compaction"]


def test_faults_meet_compaction_requests_too(sim: Simulator) -> None:
    sim.faults.add(Fault.status(503), at=1)
    sim.faults.add(Fault.too_long(300, 200), at=2)
    sim.faults.add(Fault.empty(), at=3)
    assert ask(sim, body()).status == 503
    assert ask(sim, body()).error["code"] == "context_length_exceeded"
    assert [item["type"] for item in ask(sim, body()).body["output"]] == ["message"]
    assert ask(sim, body()).status == 200
    assert [request.compacts for request in sim.requests] == [True] * 4


def test_an_input_that_does_not_fit_cannot_be_compacted() -> None:
    with Simulator(window=10) as sim:
        assert ask(sim, body() | {"input": "x" * 100}).error["code"] == "context_length_exceeded"


def test_the_sdk_compacts_and_goes_on() -> None:
    with (
        Simulator([call("bash", command="ls"), say("Done.")], summary=lambda request: SUMMARY) as sim,
        openai.OpenAI(base_url=f"{sim.url}/v1", api_key=KEY, max_retries=0) as client,
    ):
        items: list[Any] = [USER]
        first = client.responses.create(model=NEWER, input=items, tools=TOOLS, store=False)
        items += [one.model_dump(exclude_none=True) for one in first.output]
        items.append({**OUTPUT, "call_id": items[-1]["call_id"]})
        short = client.responses.compact(model=NEWER, input=items, instructions="be good")
        assert [item.type for item in short.output] == ["message", "compaction"]
        # The SDK has no type for the user's messages in an answer, and warns.
        items = [item.model_dump(exclude_unset=True, warnings=False) for item in short.output]
        items.append({"role": "user", "content": "go on"})
        assert client.responses.create(model=NEWER, input=items, tools=TOOLS, store=False).output_text == "Done."
        assert sim.refusals == []
        sim.verify()
