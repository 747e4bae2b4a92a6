"""The prompt caches, seen through the usage that is reported."""

from collections.abc import Iterator
from typing import Any

import pytest

from outlive.testing import Simulator, say
from outlive.testing.simulator import ReportedUsage
from tests.testing.simulator.talking import TOOL, ask_claude, ask_gpt, assistant, claude, gpt, text, user

BREAK: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
HOUR: dict[str, Any] = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
THOUSAND = "x" * 3200
"""A text of 1,000 tokens."""


class Watch:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def sim(watch: Watch) -> Iterator[Simulator]:
    with Simulator(brain=lambda request: say("x" * 16), clock=watch) as simulator:
        yield simulator


def cost(sim: Simulator, body: dict[str, Any]) -> tuple[int, int, int]:
    """Plain, written and read tokens of a request."""
    usage = ask_claude(sim, body).body["usage"]
    return usage["input_tokens"], usage["cache_creation_input_tokens"], usage["cache_read_input_tokens"]


def talk(*words: str, marked: int = -1, **more: Any) -> dict[str, Any]:
    """A conversation of many messages with one breakpoint."""
    blocks = [text(word) for word in words]
    blocks[marked] |= BREAK
    turns = [{"role": "assistant" if index % 2 else "user", "content": [one]} for index, one in enumerate(blocks)]
    return claude(*turns, *([] if len(turns) % 2 else [user("go")]), **more)


def test_without_a_breakpoint_nothing_is_cached(sim: Simulator) -> None:
    body = claude(user(THOUSAND * 2))
    assert [cost(sim, body), cost(sim, body)] == [(2000, 0, 0), (2000, 0, 0)]


def test_a_prefix_is_written_once_and_then_read(sim: Simulator) -> None:
    body = claude(user(text(THOUSAND * 2, **BREAK), "y" * 32))
    assert [cost(sim, body), cost(sim, body)] == [(10, 2000, 0), (10, 0, 2000)]
    assert sim.usage == ReportedUsage(input=20, cache_write=2000, cache_read=2000, output=10)
    assert sim.requests[1].usage == ReportedUsage(10, 0, 2000, 5)


def test_a_growing_conversation_reads_what_it_had_and_writes_what_is_new(sim: Simulator) -> None:
    assert cost(sim, talk(THOUSAND * 2)) == (0, 2000, 0)
    assert cost(sim, talk(THOUSAND * 2, "y" * 320, "z" * 320)) == (0, 200, 2000)
    assert cost(sim, talk(THOUSAND * 2, "y" * 320, "z" * 320, "a" * 32, "b" * 32)) == (0, 20, 2200)


def test_a_change_before_the_breakpoint_breaks_the_cache(sim: Simulator) -> None:
    cost(sim, talk(THOUSAND * 2))
    assert cost(sim, talk("X" + THOUSAND * 2)) == (0, 2001, 0)
    assert cost(sim, talk(THOUSAND * 2, model="claude-opus-5-5")) == (0, 2000, 0)


def test_another_output_format_breaks_the_cache(sim: Simulator) -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    wanted = {"format": {"type": "json_schema", "schema": schema}}
    body = claude(user(text(THOUSAND * 2, **BREAK)))
    assert cost(sim, body)[1:] == (2000, 0)
    assert cost(sim, {**body, "output_config": wanted})[1:] == (2000, 0)
    assert cost(sim, {**body, "output_config": {**wanted, "effort": "low"}})[1:] == (0, 2000)
    strict = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema, "strict": True}}
    asked = gpt({"role": "user", "content": THOUSAND * 2})
    for more, cached in (({}, False), ({"response_format": strict}, False), ({"response_format": strict}, True)):
        usage = ask_gpt(sim, {**asked, **more}).body["usage"]
        assert bool(usage["prompt_tokens_details"]["cached_tokens"]) is cached


def test_what_is_too_short_is_not_cached(sim: Simulator) -> None:
    assert [cost(sim, talk("x" * 3273)) for _ in range(2)] == [(1023, 0, 0)] * 2
    assert [cost(sim, talk("x" * 3276)) for _ in range(2)] == [(0, 1024, 0), (0, 0, 1024)]


def test_a_prefix_lives_for_five_minutes_after_its_last_use(sim: Simulator, watch: Watch) -> None:
    body = talk(THOUSAND * 2)
    cost(sim, body)
    watch.now = 299.0
    assert cost(sim, body) == (0, 0, 2000)
    watch.now = 598.0
    assert cost(sim, body) == (0, 0, 2000)
    watch.now = 898.0
    assert cost(sim, body) == (0, 2000, 0)


def test_a_prefix_may_live_for_an_hour(sim: Simulator, watch: Watch) -> None:
    body = claude(user(text(THOUSAND * 2, **HOUR), text("y" * 320, **BREAK)))
    usage = ask_claude(sim, body).body["usage"]
    assert usage["cache_creation"] == {"ephemeral_1h_input_tokens": 2000, "ephemeral_5m_input_tokens": 100}
    watch.now = 3000.0
    assert cost(sim, body) == (0, 100, 2000)


def test_the_order_is_tools_system_messages(sim: Simulator) -> None:
    tools = [{**TOOL, "description": THOUSAND * 2, **BREAK}]
    system = [text(THOUSAND * 2, **BREAK)]
    _, written, _ = cost(sim, claude(user("one"), tools=tools, system=system))
    assert cost(sim, claude(user("two"), tools=tools, system=system)) == (1, 0, written)
    changed = [text("X" + THOUSAND * 2, **BREAK)]
    _, rewritten, read = cost(sim, claude(user("one"), tools=tools, system=changed))
    assert read + 2000 == written
    assert rewritten in (2000, 2001)


def test_thinking_and_tool_choice_break_the_cache_of_messages_only(sim: Simulator) -> None:
    body = claude(user(text(THOUSAND * 2, **BREAK)), system=[text(THOUSAND * 2, **BREAK)])
    assert cost(sim, body) == (0, 4000, 0)
    assert cost(sim, body | {"thinking": {"type": "disabled"}}) == (0, 2000, 2000)


def test_a_breakpoint_looks_back_twenty_blocks(sim: Simulator) -> None:
    cost(sim, claude(user(text(THOUSAND * 2, **BREAK))))
    near = claude(user(THOUSAND * 2, *["y" * 32] * 18, text("y" * 32, **BREAK)))
    far = claude(user(THOUSAND * 2, *["z" * 32] * 19, text("z" * 32, **BREAK)))
    assert cost(sim, near) == (0, 190, 2000)
    assert cost(sim, far) == (0, 2200, 0)


def test_the_breakpoint_of_the_request_moves_along(sim: Simulator) -> None:
    assert cost(sim, claude(user(THOUSAND * 2), **BREAK)) == (0, 2000, 0)
    assert cost(sim, claude(user(THOUSAND * 2), assistant("y" * 32), user("z" * 32), **BREAK)) == (0, 20, 2000)


def test_a_breakpoint_inside_of_a_result_counts(sim: Simulator) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "bash", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": [text(THOUSAND * 2, **BREAK)]}
    body = claude(user("x"), assistant(call), user(answer))
    plain, written, _ = cost(sim, body)
    assert cost(sim, body) == (plain, 0, written)


def test_asking_for_no_answer_only_warms_the_cache(sim: Simulator) -> None:
    body = claude(user(text(THOUSAND * 2, **BREAK)))
    heard = ask_claude(sim, body | {"max_tokens": 0})
    assert (heard.body["content"], heard.body["usage"]["cache_creation_input_tokens"]) == ([], 2000)
    assert heard.body["stop_reason"] == "max_tokens"
    assert cost(sim, body) == (0, 0, 2000)


def gpt_cost(sim: Simulator, *words: str) -> tuple[int, int]:
    usage = ask_gpt(sim, gpt(*({"role": "user", "content": word} for word in words))).body["usage"]
    return usage["prompt_tokens"], usage["prompt_tokens_details"]["cached_tokens"]


def test_openai_caches_by_itself_in_steps(sim: Simulator, watch: Watch) -> None:
    assert gpt_cost(sim, THOUSAND * 2) == (2000, 0)
    assert gpt_cost(sim, THOUSAND * 2, "y" * 320) == (2100, 1920)
    assert gpt_cost(sim, THOUSAND * 2, "y" * 320, "z" * 320) == (2200, 2048)
    assert gpt_cost(sim, "X" + THOUSAND * 2) == (2001, 0)
    watch.now = 301.0
    assert gpt_cost(sim, THOUSAND * 2) == (2000, 0)


def test_openai_does_not_cache_what_is_short(sim: Simulator) -> None:
    assert [gpt_cost(sim, THOUSAND) for _ in range(2)] == [(1000, 0)] * 2
