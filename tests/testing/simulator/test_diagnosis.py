"""Cache diagnosis: the API says where a request differs from the one before it."""

import copy
from collections.abc import Callable
from typing import Any

import anthropic
import pytest

from outlive.testing import Simulator
from outlive.testing.simulator.anthropic import diagnosis as remembering
from tests.testing.simulator.talking import CLAUDE, TOOL, ask_claude, assistant, claude, system, text, user

TEN = "x" * 32
"""A text of 10 tokens."""


def asking(previous: str | None, **changes: Any) -> dict[str, Any]:
    """A request of 10 tokens of system and 30 of messages, after another one or the first."""
    body = claude(user(TEN), assistant(TEN), user(TEN), system=[text(TEN)], tools=[TOOL])
    return body | {"diagnostics": {"previous_message_id": previous}} | changes


def diagnosis(sim: Simulator, change: Callable[[dict[str, Any]], Any], beta: str = "") -> Any:
    """What is said of a second request that differs so from the first."""
    first = ask_claude(sim, asking(None))
    assert first.body["diagnostics"] is None
    body = copy.deepcopy(asking(first.body["id"]))
    body["messages"] += [assistant("Fine."), user("more")]
    change(body)
    heard = ask_claude(sim, body, beta=beta)
    assert heard.status == 200, heard.body
    return heard.body["diagnostics"]


def reason(kind: str, tokens: int | None = None) -> Any:
    more = {} if tokens is None else {"cache_missed_input_tokens": tokens}
    return {"cache_miss_reason": {"type": kind, **more}}


def tokens_of_the_first(sim: Simulator) -> int:
    counted = {name: value for name, value in asking(None).items() if name not in ("max_tokens", "diagnostics")}
    count: int = ask_claude(sim, counted, path="/v1/messages/count_tokens").body["input_tokens"]
    return count


def test_a_request_that_only_grew_has_no_diagnosis(sim: Simulator) -> None:
    assert diagnosis(sim, lambda body: None) is None


def test_breakpoints_and_the_form_of_texts_are_no_change(sim: Simulator) -> None:
    def change(body: dict[str, Any]) -> None:
        body["system"] = [text(TEN, cache_control={"type": "ephemeral"})]
        body["messages"][0] = {"role": "user", "content": TEN}

    assert diagnosis(sim, change) is None


def test_the_earliest_change_is_named_with_the_tokens_that_it_cost(sim: Simulator) -> None:
    whole = tokens_of_the_first(sim)
    changes: list[tuple[Callable[[dict[str, Any]], Any], Any]] = [
        (lambda body: body.update(model="claude-opus-5-5"), reason("model_changed", whole)),
        (lambda body: body.update(speed="fast"), reason("model_changed", whole)),
        (lambda body: body.update(tools=[]), reason("tools_changed", whole)),
        (lambda body: body.update(system="y"), reason("system_changed", 40)),
        (lambda body: body.update(system="y", tools=[]), reason("tools_changed", whole)),
        (lambda body: body["messages"].__setitem__(0, user("y")), reason("messages_changed", 30)),
        (lambda body: body["messages"].__setitem__(2, user("y")), reason("messages_changed", 10)),
        (lambda body: body["messages"].__delitem__(slice(2)), reason("messages_changed", 20)),
        (lambda body: body["messages"].__delitem__(slice(1, None)), reason("messages_changed", 20)),
        (lambda body: body["messages"].insert(1, system("z")), reason("messages_changed", 20)),
    ]
    for change, expected in changes:
        assert diagnosis(sim, change) == expected


@pytest.mark.parametrize(
    ("more", "beta"),
    [
        ({"thinking": {"type": "disabled"}}, ""),
        ({"tool_choice": {"type": "auto"}}, ""),
        ({"output_config": {"effort": "low"}}, ""),
        ({}, "cache-diagnosis-2026-04-07"),
    ],
)
def test_another_parameter_of_the_prompt_makes_it_unavailable(
    sim: Simulator, more: dict[str, Any], beta: str
) -> None:
    assert diagnosis(sim, lambda body: body.update(more), beta) == reason("unavailable")


def test_only_requests_that_ask_are_remembered(sim: Simulator) -> None:
    body = asking(None)
    del body["diagnostics"]
    unasked = ask_claude(sim, body).body
    assert unasked["diagnostics"] is None
    for previous in (unasked["id"], "msg_none", ""):
        heard = ask_claude(sim, asking(previous))
        assert heard.body["diagnostics"] == reason("previous_message_not_found")


def test_the_last_messages_are_remembered(sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    assert remembering.MAX_REMEMBERED == 1000
    monkeypatch.setattr(remembering, "MAX_REMEMBERED", 5)
    first = ask_claude(sim, claude(diagnostics={"previous_message_id": None})).body["id"]
    for _ in range(4):
        ask_claude(sim, claude(diagnostics={}))
    again = claude(diagnostics={"previous_message_id": first})
    assert ask_claude(sim, again).body["diagnostics"] is None
    assert ask_claude(sim, again).body["diagnostics"] == reason("previous_message_not_found")


@pytest.mark.parametrize(
    ("diagnostics", "words"),
    [
        ({"previous_message_id": 1}, "diagnostics.previous_message_id: Input should be a valid string"),
        ({"previous": None}, "diagnostics.previous: Extra inputs are not permitted"),
        ("yes", "diagnostics: Input should be a valid dictionary"),
    ],
)
def test_the_field_is_checked(sim: Simulator, diagnostics: Any, words: str) -> None:
    assert ask_claude(sim, claude(diagnostics=diagnostics)).error["message"] == words


def test_the_sdk_reads_it_from_a_stream(sim: Simulator) -> None:
    with anthropic.Anthropic(base_url=sim.url, api_key="test-key") as client:
        common: Any = {"model": CLAUDE, "max_tokens": 99, "messages": [user(TEN)]}
        first = client.messages.create(**common, diagnostics={"previous_message_id": None})
        asked: Any = {"previous_message_id": first.id}
        with client.messages.stream(**common, system="new", diagnostics=asked) as stream:
            found = stream.get_final_message().diagnostics
    assert found is not None
    assert found.cache_miss_reason is not None
    assert found.cache_miss_reason.type == "system_changed"
    assert found.cache_miss_reason.cache_missed_input_tokens == 10
