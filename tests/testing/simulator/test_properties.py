"""Properties of what is accepted: requests made of whole units are, and stay so when caching is asked for."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlive.testing import Simulator, say
from outlive.testing.simulator.models import KNOWN
from outlive.testing.simulator.seen import Usage
from outlive.testing.simulator.signing import Signer
from outlive.testing.simulator.tokens import tokens_of
from tests.testing.simulator.talking import TOOL, ask_claude, assistant, claude, gpt, result, use, user

SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=400).filter(str.strip)


@pytest.fixture(scope="module")
def one() -> Iterator[Simulator]:
    with Simulator(brain=lambda request: say("Fine."), window=10**9, cache_minimum=1) as simulator:
        yield simulator


@st.composite
def conversations(draw: st.DrawFn) -> dict[str, Any]:
    """A request made of whole units, some of them consecutive turns of one side."""
    messages = [user(draw(WORDS))]
    for unit in range(draw(st.integers(0, 6))):
        ids = [f"t{unit}_{number}" for number in range(draw(st.integers(0, 3)))]
        said = draw(st.lists(WORDS, max_size=2 if ids else 0)) or ([] if ids else [draw(WORDS)])
        messages.append(assistant(*said, *(use(one) for one in ids)))
        results = draw(st.permutations([result(one, draw(WORDS)) for one in ids]))
        if draw(st.booleans()):
            messages += [user(one) for one in results]
        elif results:
            messages.append(user(*results))
        messages += [user(words) for words in draw(st.lists(WORDS, min_size=0 if ids else 1, max_size=2))]
    return claude(*messages, system=[{"type": "text", "text": draw(WORDS)}], tools=[TOOL])


def places(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Everything that may carry a breakpoint."""
    return [*body["tools"], *body["system"], *(block for message in body["messages"] for block in message["content"])]


@SLOW
@given(conversations(), st.data())
def test_whole_units_are_accepted_and_legal_breakpoints_change_nothing_but_the_bill(
    one: Simulator, body: dict[str, Any], data: st.DataObject
) -> None:
    plain = ask_claude(one, body)
    assert plain.status == 200, plain.body
    marked = copy.deepcopy(body)
    chosen = data.draw(st.lists(st.sampled_from(range(len(places(body)))), unique=True, max_size=4))
    for index in chosen:
        places(marked)[index]["cache_control"] = {"type": "ephemeral"}
    cached, again = ask_claude(one, marked), ask_claude(one, marked)
    assert (cached.status, again.status) == (200, 200)
    total = plain.body["usage"]["input_tokens"]
    for heard in (cached, again):
        usage = heard.body["usage"]
        kinds = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        assert sum(usage[kind] for kind in kinds) == total
        assert all(usage[kind] >= 0 for kind in kinds)
    assert again.body["usage"]["cache_creation_input_tokens"] == 0


@SLOW
@given(conversations(), st.data())
def test_taking_one_half_of_a_pair_away_is_refused(one: Simulator, body: dict[str, Any], data: st.DataObject) -> None:
    halves = [
        (message["content"], block)
        for message in body["messages"]
        for block in message["content"]
        if block["type"] in ("tool_use", "tool_result") and len(message["content"]) > 1
    ]
    if halves:
        content, block = data.draw(st.sampled_from(halves))
        content.remove(block)
        heard = ask_claude(one, body)
        assert heard.status == 400
        assert "tool_use" in heard.error["message"]


@SLOW
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(
        ["messages", "system", "tools", "tool_choice", "thinking", "max_tokens", "cache_control", "stream"]
    ),
    st.booleans(),
)
def test_nonsense_is_refused_and_never_breaks_the_simulator(
    one: Simulator, value: Any, name: str, deep: bool
) -> None:
    from tests.testing.simulator.talking import ask_gpt

    nested = [{"role": "user", "content": [value]}] if deep and name == "messages" else value
    for heard in (ask_claude(one, claude() | {name: nested}), ask_gpt(one, gpt() | {name: nested})):
        assert heard.status in (200, 400, 404), heard.raw
    one.verify()


@given(st.integers(0, 10**9))
def test_the_count_is_the_quotient_rounded_up(characters: int) -> None:
    assert tokens_of(characters) == -(-characters * 10 // 32)


@given(WORDS, WORDS)
def test_a_signature_fits_its_own_text_only(text: str, other: str) -> None:
    signer = Signer("key")
    signature = signer.sign(text, "n1")
    assert signer.valid(text, signature)
    assert signer.valid(other, signature) is (other == text)
    assert not Signer("another").valid(text, signature)


def test_usage_adds_up() -> None:
    assert Usage(1, 2, 3, 4, 1) + Usage(10, 20, 30, 40, 10) == Usage(11, 22, 33, 44, 11)
    assert Usage(1, 2, 3, 4).prompt == 6


def test_the_models_have_names_of_their_own() -> None:
    assert len({model.name for model in KNOWN}) == len(KNOWN)
