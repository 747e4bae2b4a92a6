"""What the Messages API refuses, and what it accepts although one might think otherwise."""

from typing import Any

import pytest

from outlive.testing import Simulator, call, say, think
from tests.testing.simulator.talking import (
    CLAUDE,
    OLD_CLAUDE,
    TOOL,
    VERSION,
    ask_claude,
    assistant,
    claude,
    result,
    send,
    text,
    use,
    user,
)

BREAK = {"cache_control": {"type": "ephemeral"}}
BUDGET = {"type": "enabled", "budget_tokens": 1024}


def without(body: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != name}


def tool(**changes: Any) -> dict[str, Any]:
    return claude(tools=[{**TOOL, **changes}])


def formatted(schema: Any, kind: str = "json_schema") -> dict[str, Any]:
    return claude(output_config={"format": {"type": kind, "schema": schema}})


CLOSED = {"type": "object", "properties": {}, "additionalProperties": False}
SHAPES: dict[str, tuple[dict[str, Any], str]] = {
    "unknown effort": (
        claude(output_config={"effort": "huge"}),
        "output_config.effort: Input should be 'low', 'medium'",
    ),
    "field of output_config": (claude(output_config={"colour": 1}), "output_config.colour: Extra inputs are not"),
    "unknown format": (formatted(CLOSED, "xml"), "output_config.format.type: Input should be 'json_schema'"),
    "format without a schema": (
        claude(output_config={"format": {"type": "json_schema"}}),
        "output_config.format.schema: Field required",
    ),
    "open object": (
        formatted({"type": "object"}),
        "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
    ),
    "open object inside": (
        formatted({**CLOSED, "properties": {"a": {"anyOf": [{"type": "array", "items": {"type": "object"}}]}}}),
        "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
    ),
    "bound in a format": (
        formatted({**CLOSED, "properties": {"a": {"type": "integer", "minimum": 1}}}),
        "output_config.format.schema: For 'integer' type, property 'minimum' is not supported",
    ),
    "no max_tokens": (without(claude(), "max_tokens"), "max_tokens: Field required"),
    "no model": (without(claude(), "model"), "model: Field required"),
    "no messages": (without(claude(), "messages"), "messages: Field required"),
    "empty messages": (claude() | {"messages": []}, "messages: at least one message is required"),
    "unknown field": (claude(colour="red"), "colour: Extra inputs are not permitted"),
    "temperature": (claude(temperature=1.0), "temperature: Extra inputs are not permitted"),
    "max_tokens is text": (claude(max_tokens="9"), "max_tokens: Input should be a valid integer"),
    "max_tokens over the limit": (claude(max_tokens=128_001), "max_tokens: 128001 > 128000, which is the maximum"),
    "unknown role": (claude({"role": "tool", "content": "x"}), 'messages: Unexpected role "tool"'),
    "first not user": (claude(assistant("hi"), user("x")), 'messages: first message must use the "user" role'),
    "no content": (claude({"role": "user"}), "messages.0.content: Field required"),
    "field of a message": (claude({**user("x"), "name": "me"}), "messages.0.name: Extra inputs are not permitted"),
    "empty string": (claude({"role": "user", "content": ""}), "messages.0: all messages must have non-empty content"),
    "empty list": (claude({"role": "user", "content": []}), "messages.0: all messages must have non-empty content"),
    "empty text": (claude(user("x", "")), "messages: text content blocks must be non-empty"),
    "blank text": (claude(user(" \n")), "messages: text content blocks must contain non-whitespace text"),
    "blank string": (claude({"role": "user", "content": " "}), "messages: text content blocks must contain non-wh"),
    "empty text in a result": (
        claude(user("x"), assistant(use("t1")), user(result("t1", [text("")]))),
        "messages: text content blocks must be non-empty",
    ),
    "unknown block": (claude(user({"type": "poem"})), "messages.0.content.0: Input tag 'poem' found using 'type'"),
    "field of a block": (claude(user(text("x", bold=True))), "messages.0.content.0.text.bold: Extra inputs are not"),
    "call by the user": (
        claude(user(use("t1"))),
        "messages.0.content.0: `tool_use` blocks can only be in `assistant`",
    ),
    "result by the assistant": (
        claude(user("x"), assistant(result("t1"))),
        "messages.1.content.0: `tool_result` bloc",
    ),
    "document by the assistant": (
        claude(user("x"), assistant({"type": "document", "source": {}}), user("x")),
        "messages.1.content.0: `document` blocks can only be in `user`",
    ),
    "media type": (
        claude(user({"type": "image", "source": {"type": "base64", "data": "", "media_type": "image/tiff"}})),
        "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg'",
    ),
    "bad call id": (
        claude(user("x"), assistant(use("t 1"))),
        "messages.1.content.0.tool_use.id: String should match",
    ),
    "bad name in a call": (
        claude(user("x"), assistant(use("t1", name="a.b"))),
        "messages.1.content.0.tool_use.name: String should match pattern",
    ),
    "input is text": (
        claude(user("x"), assistant(use("t1", input="ls"))),
        "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    ),
    "empty error": (
        claude(user("x"), assistant(use("t1")), user(result("t1", "", is_error=True))),
        "messages.2.content.0.tool_result: content cannot be empty if `is_error` is true",
    ),
    "empty system block": (claude(system=[text("")]), "system: text content blocks must be non-empty"),
    "system with a role": (
        claude(user("x"), {"role": "system", "content": "y"}, model="claude-sonnet-5"),
        "messages.1: role 'system' is not supported on this model",
    ),
    "system after the assistant": (
        claude(user("x"), assistant("y"), {"role": "system", "content": "z"}, user("x")),
        "messages.2: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool",
    ),
}

PAIRS: dict[str, tuple[dict[str, Any], str]] = {
    "unanswered call": (
        claude(user("x"), assistant(use("t1")), user("y")),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use`",
    ),
    "one of two unanswered": (
        claude(user("x"), assistant(use("t1"), use("t2")), user(result("t1"))),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t2.",
    ),
    "call at the end": (
        claude(user("x"), assistant(use("t1"))),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1.",
    ),
    "result one turn late": (
        claude(user("x"), assistant(use("t1")), user("wait"), assistant("ok"), user(result("t1"))),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1.",
    ),
    "text before the result": (
        claude(user("x"), assistant(use("t1")), user("here:", result("t1"))),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1.",
    ),
    "result without a call": (
        claude(user("x"), assistant("y"), user(result("t1"))),
        "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1. Each `tool_result` block",
    ),
    "result first": (claude(user(result("t1"))), "messages.0.content.0: unexpected `tool_use_id` found"),
    "result twice": (
        claude(user("x"), assistant(use("t1")), user(result("t1"), result("t1"))),
        "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with",
    ),
    "same id twice": (
        claude(user("x"), assistant(use("t1"), use("t1")), user(result("t1"))),
        "messages.1.content.1: `tool_use` ids must be unique",
    ),
    "same id later": (
        claude(user("x"), assistant(use("t1")), user(result("t1")), assistant(use("t1")), user(result("t1"))),
        "messages.3.content.0: `tool_use` ids must be unique",
    ),
}

TOOLS: dict[str, tuple[dict[str, Any], str]] = {
    "name with a dot": (
        tool(name="a.b"),
        "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ),
    "name too long": (tool(name="a" * 129), "tools.0.custom.name: String should match pattern"),
    "same name twice": (claude(tools=[TOOL, TOOL]), "tools: Tool names must be unique."),
    "no schema": (claude(tools=[without(TOOL, "input_schema")]), "tools.0.custom.input_schema: Field required"),
    "schema without type": (tool(input_schema={}), "tools.0.custom.input_schema.type: Field required"),
    "schema of text": (
        tool(input_schema={"type": "string"}),
        "tools.0.custom.input_schema.type: Input should be 'obj",
    ),
    "no such type": (
        tool(input_schema={"type": "object", "properties": {"a": {"type": "text"}}}),
        "tools.0.custom.input_schema: JSON schema is invalid.",
    ),
    "required is no list": (
        tool(input_schema={"type": "object", "required": "a"}),
        "tools.0.custom.input_schema: JSON schema is invalid.",
    ),
    "tool of a strange kind": (tool(type="poem"), "tools.0: Input tag 'poem' found using 'type' does not match"),
    "field of a tool": (tool(parameters={}), "tools.0.custom.parameters: Extra inputs are not permitted"),
    "choice of a tool that is not there": (
        claude(tools=[TOOL], tool_choice={"type": "tool", "name": "python"}),
        "tool_choice.tool.name: Tool 'python' not found in provided tools",
    ),
    "choice without tools": (claude(tool_choice={"type": "auto"}), "tool_choice: tool_choice may only be specified"),
    "choice of a strange kind": (
        claude(tools=[TOOL], tool_choice={"type": "all"}),
        "tool_choice.type: Input should be",
    ),
}

BREAKPOINTS: dict[str, tuple[dict[str, Any], str]] = {
    "five": (
        claude(user(*(text(word, **BREAK) for word in "abcd")), system=[text("s", **BREAK)]),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    "five with the one of the request": (
        claude(user(*(text(word, **BREAK) for word in "abcd")), **BREAK),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    "on empty text": (
        claude(user("x", text("", **BREAK))),
        "messages.0.content.1.text: cache_control cannot be set for empty text blocks",
    ),
    "on an empty system": (
        claude(system=[text("", **BREAK)]),
        "system.0.text: cache_control cannot be set for empty text blocks",
    ),
    "on thinking": (
        claude(user("x"), assistant({"type": "thinking", "thinking": "x", "signature": "y", **BREAK}), user("y")),
        "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
    ),
    "of a strange kind": (
        claude(user(text("x", cache_control={"type": "eternal"}))),
        "messages.0.content.0.text.cache_control.type: Input should be 'ephemeral'",
    ),
    "of a strange lifetime": (
        claude(user(text("x", cache_control={"type": "ephemeral", "ttl": "2h"}))),
        "messages.0.content.0.text.cache_control.ttl: Input should be '5m' or '1h'",
    ),
    "long after short": (
        claude(user(text("a", **BREAK), text("b", cache_control={"type": "ephemeral", "ttl": "1h"}))),
        "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m'",
    ),
}

THINKING: dict[str, tuple[dict[str, Any], str]] = {
    "budget on a model that has none": (
        claude(thinking=BUDGET),
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"',
    ),
    "adaptive on an old model": (
        claude(thinking={"type": "adaptive"}, model=OLD_CLAUDE),
        '"thinking.type.adaptive" is not supported for this model.',
    ),
    "budget too small": (
        claude(thinking={"type": "enabled", "budget_tokens": 1023}, model=OLD_CLAUDE),
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    ),
    "budget as large as the answer": (
        claude(thinking=BUDGET, model=OLD_CLAUDE, max_tokens=1024),
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
    ),
    "no budget": (
        claude(thinking={"type": "enabled"}, model=OLD_CLAUDE),
        "thinking.enabled.budget_tokens: Field required",
    ),
    "forced call": (
        claude(thinking=BUDGET, model=OLD_CLAUDE, max_tokens=2000, tools=[TOOL], tool_choice={"type": "any"}),
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    "no signature": (
        claude(user("x"), assistant({"type": "thinking", "thinking": "hm"}, "y"), user("z")),
        "messages.1.content.0.thinking.signature: Field required",
    ),
    "foreign signature": (
        claude(user("x"), assistant({"type": "thinking", "thinking": "hm", "signature": "abc"}, "y"), user("z")),
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    "foreign redacted thinking": (
        claude(user("x"), assistant({"type": "redacted_thinking", "data": "abc"}, "y"), user("z")),
        "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
    ),
    "prefill": (claude(user("x"), assistant("The")), "This model does not support assistant message prefill."),
    "blank at the end": (
        claude(user("x"), assistant("The "), model=OLD_CLAUDE),
        "messages: final assistant content cannot end with trailing whitespace",
    ),
}
CASES = {
    f"{kind}: {name}": case
    for kind, cases in {
        "shape": SHAPES,
        "pairs": PAIRS,
        "tools": TOOLS,
        "breakpoints": BREAKPOINTS,
        "thinking": THINKING,
    }.items()
    for name, case in cases.items()
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_with_the_words_of_the_api(sim: Simulator, name: str) -> None:
    body, words = CASES[name]
    heard = ask_claude(sim, body)
    assert heard.status == 400
    assert heard.body["type"] == "error"
    assert heard.error["type"] == "invalid_request_error"
    assert heard.error["message"].startswith(words)
    assert heard.body["request_id"] == heard.headers["request-id"]
    assert [(refusal.status, refusal.message) for refusal in sim.refusals] == [(400, heard.error["message"])]
    assert sim.requests == []


ACCEPTED: dict[str, dict[str, Any]] = {
    "two turns of one side": claude(user("a"), user("b"), assistant("c"), assistant("d"), user("e")),
    "results in two messages": claude(
        user("x"), assistant(use("t1"), use("t2")), user(result("t1")), user(result("t2"))
    ),
    "text after results": claude(user("x"), assistant(use("t1")), user(result("t1"), "and now?")),
    "blank text beside a real one": claude(user(" ", "real")),
    "empty result": claude(user("x"), assistant(use("t1")), user(result("t1", ""))),
    "result without content": claude(
        user("x"), assistant(use("t1")), user({"type": "tool_result", "tool_use_id": "t1"})
    ),
    "calls without tools": claude(user("x"), assistant(use("t1")), user(result("t1"))),
    "four breakpoints": claude(user(*(text(word, **BREAK) for word in "abc")), tools=[{**TOOL, **BREAK}]),
    "system in the middle": claude(user("x"), {"role": "system", "content": "be brief"}, assistant("y"), user("z")),
    "prefill on an old model": claude(user("x"), assistant("The"), model=OLD_CLAUDE),
    "a tool of the API's own": claude(tools=[{"type": "bash_20250124", "name": "bash"}]),
    "an image": claude(user({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}})),
    "null where nothing is meant": claude(user(text("x", citations=None, cache_control=None))),
    "everything optional": claude(
        tools=[TOOL],
        tool_choice={"type": "auto", "disable_parallel_tool_use": True},
        thinking={"type": "adaptive", "display": "summarized"},
        output_config={"effort": "high"},
        metadata={"user_id": "me"},
        stop_sequences=["END"],
        service_tier="auto",
        system="be good",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_it_is_accepted(sim: Simulator, name: str) -> None:
    heard = ask_claude(sim, ACCEPTED[name])
    assert (heard.status, sim.refusals) == (200, [])
    assert heard.body["content"][-1]["text"] == "Fine."


def test_an_older_version_of_the_api_takes_sampling_parameters(sim: Simulator) -> None:
    assert ask_claude(sim, claude(temperature=0.5), version="2023-06-01").status == 200


@pytest.mark.parametrize(
    ("headers", "status", "kind", "words"),
    [
        ({}, 401, "authentication_error", "x-api-key header is required"),
        ({"x-api-key": "wrong"}, 401, "authentication_error", "invalid x-api-key"),
        ({"authorization": "Bearer wrong"}, 401, "authentication_error", "invalid x-api-key"),
        (
            {"x-api-key": "wrong", "authorization": "Bearer test-key"},
            401,
            "authentication_error",
            "invalid x-api-key",
        ),
    ],
)
def test_a_missing_or_wrong_key_is_refused(
    sim: Simulator, headers: dict[str, str], status: int, kind: str, words: str
) -> None:
    heard = send(sim, "/v1/messages", claude(), {**headers, "anthropic-version": VERSION})
    assert (heard.status, heard.error) == (status, {"type": kind, "message": words})


def test_the_version_of_the_api_must_be_named(sim: Simulator) -> None:
    heard = send(sim, "/v1/messages", claude(), {"x-api-key": "test-key"})
    assert (heard.status, heard.error["message"]) == (400, "anthropic-version: header is required")
    assert ask_claude(sim, claude(), version="2031-01-01").status == 400


def test_an_unknown_model_is_not_found(sim: Simulator) -> None:
    heard = ask_claude(sim, claude(model="claude-none"))
    assert (heard.status, heard.error) == (404, {"type": "not_found_error", "message": "model: claude-none"})
    assert ask_claude(sim, claude(model="gpt-5.4")).status == 404


@pytest.mark.parametrize("raw", [b"{", b"", b"[1]", b'{"model": "\xff"}', b'"x"'])
def test_malformed_json_is_refused(sim: Simulator, raw: bytes) -> None:
    heard = ask_claude(sim, raw)
    assert (heard.status, heard.error["type"]) == (400, "invalid_request_error")
    assert "not valid JSON" in heard.error["message"]


def test_a_body_that_is_too_large_is_refused() -> None:
    with Simulator(largest_body=1000) as sim:
        heard = ask_claude(sim, claude(user("x" * 1000)))
        assert (heard.status, heard.error["type"]) == (413, "request_too_large")
        assert sim.refusals[0].status == 413


def test_a_prompt_beyond_the_window_is_refused_with_both_figures() -> None:
    with Simulator(brain=lambda request: say("Fine."), window=1000) as sim:
        assert ask_claude(sim, claude(user("x" * 3200))).status == 200
        heard = ask_claude(sim, claude(user("x" * 3201)))
        assert (heard.status, heard.error["type"]) == (400, "invalid_request_error")
        assert heard.error["message"] == "prompt is too long: 1001 tokens > 1000 maximum"


def test_counting_tokens_counts_what_the_window_counts(sim: Simulator) -> None:
    body = without(claude(user("x" * 3201), system="y" * 32), "max_tokens")
    heard = ask_claude(sim, body, path="/v1/messages/count_tokens")
    assert heard.body == {"input_tokens": 1011}
    assert sim.requests == []
    heard = ask_claude(sim, claude(), path="/v1/messages/count_tokens")
    assert heard.error["message"] == "max_tokens: Extra inputs are not permitted"


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/v1/messages", 405), ("POST", "/v1/messages/x", 404)]
)
def test_other_doors_are_closed(sim: Simulator, method: str, path: str, status: int) -> None:
    headers = {"x-api-key": "test-key", "anthropic-version": VERSION}
    heard = send(sim, path, claude(), headers, method)
    assert heard.status == status
    assert heard.body["type"] == "error"


def thought_and_call(sim: Simulator, **more: Any) -> list[dict[str, Any]]:
    """The content of a first answer that thinks and calls."""
    heard = ask_claude(sim, claude(user("x"), **more))
    content: list[dict[str, Any]] = heard.body["content"]
    assert [block["type"] for block in content] == ["thinking", "tool_use"]
    return content


def follow_up(content: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    answers = [result(block["id"]) for block in content if block["type"] == "tool_use"]
    return claude(user("x"), {"role": "assistant", "content": content}, user(*answers), **more)


def test_thinking_comes_back_as_it_was_sent_or_is_refused() -> None:
    older = {"model": "claude-opus-5"}
    with Simulator(script=[think("hm") + call("bash", command="ls"), say("ok")]) as sim:
        content = thought_and_call(sim, **older)
        altered = [{**content[0], "thinking": "hm!"}, content[1]]
        heard = ask_claude(sim, follow_up(altered, **older))
        assert heard.error["message"] == "messages.1.content.0: Invalid `signature` in `thinking` block"
        heard = ask_claude(sim, follow_up(content[1:], **older))
        assert "blocks in the latest assistant message cannot be modified" in heard.error["message"]
        assert ask_claude(sim, follow_up(content, **older)).status == 200
        sim.verify()


def test_thinking_may_be_dropped_once_thinking_is_off_or_the_turn_is_over() -> None:
    with Simulator(brain=lambda request: think("hm") + call("bash", command="ls")) as sim:
        content = thought_and_call(sim)
        assert ask_claude(sim, follow_up(content[1:], thinking={"type": "disabled"})).status == 200
        later = follow_up(content[1:])
        later["messages"] += [assistant("done"), user("and more?")]
        assert ask_claude(sim, later).status == 200
        assert sim.refusals == []


def test_with_a_budget_the_last_turn_with_calls_starts_with_thinking() -> None:
    more = {"model": OLD_CLAUDE, "thinking": BUDGET, "max_tokens": 2000}
    with Simulator(brain=lambda request: call("bash", command="ls")) as sim:
        content = thought_and_call(
            sim, **more
        )  # thinking that the script left out: with a budget there always is some
        body = follow_up([use("t1")], **more)
        heard = ask_claude(sim, body)
        assert heard.error["message"].startswith(
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."
        )
        body = follow_up(content, **more)
        heard = ask_claude(sim, body)
        assert [block["type"] for block in heard.body["content"]] == ["tool_use"]  # the same turn goes on
        body["messages"] += [assistant(*heard.body["content"]), user(result(heard.body["content"][0]["id"]))]
        assert ask_claude(sim, body).status == 200


def test_thinking_that_another_simulator_signed_is_known_by_its_key() -> None:
    with Simulator(brain=lambda request: think("hm") + call("bash", command="ls")) as sim:
        content = thought_and_call(sim)
    with Simulator(brain=lambda request: say("ok")) as same:
        assert ask_claude(same, follow_up(content)).status == 200
    with Simulator(brain=lambda request: say("ok"), key=None) as other:
        assert "Invalid `signature`" in ask_claude(other, follow_up(content)).error["message"]


def test_hidden_thinking_is_signed_too() -> None:
    shown = {"thinking": {"type": "adaptive", "display": "omitted"}}
    with Simulator(script=[think("hm") + call("bash", command="ls"), say("ok")]) as sim:
        content = thought_and_call(sim, **shown)
        assert content[0]["thinking"] == ""
        assert ask_claude(sim, follow_up(content, **shown)).status == 200


def test_the_model_is_called_by_its_name(sim: Simulator) -> None:
    assert ask_claude(sim, claude()).body["model"] == CLAUDE
