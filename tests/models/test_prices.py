"""What is known of models, and what it costs."""

import pytest

from outlive.models.prices import KNOWN, ModelFacts, facts
from outlive.models.protocol import Price, Usage

ONE_OF_EACH = Usage(input=1_000_000, cache_write=1_000_000, cache_read=1_000_000, output=1_000_000)


def price(name: str) -> Price:
    found = facts(name).price
    assert found
    return found


def test_prices_are_those_of_the_providers() -> None:
    assert price("claude-opus-5").of(ONE_OF_EACH) == pytest.approx(5 + 6.25 + 0.5 + 25)
    assert price("claude-haiku-4-5").of(ONE_OF_EACH) == pytest.approx(1 + 1.25 + 0.1 + 5)
    assert price("gpt-4.1").of(Usage(input=1_000_000, cache_read=1_000_000, output=1_000_000)) == pytest.approx(10.5)


def test_a_long_prompt_costs_more_where_the_provider_says_so() -> None:
    assert price("claude-haiku-5-5").of(Usage(input=100_000, output=1_000)) == pytest.approx(0.0105)
    assert price("claude-haiku-5-5").of(Usage(input=60_000, cache_read=60_000)) == pytest.approx(0.033)
    assert price("gpt-5.4").of(Usage(input=300_000, output=1_000_000)) == pytest.approx(1.5 + 22.5)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-opus-4-0", "claude-opus-4"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("anthropic/claude-opus-5", "claude-opus-5"),
        ("claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("gpt-5.4-2026-03-05", "gpt-5.4"),
        ("openai/gpt-4o-2024-08-06", "gpt-4o"),
    ],
)
def test_a_dated_name_is_the_same_model(name: str, same: str) -> None:
    assert facts(name) == KNOWN[same]


@pytest.mark.parametrize(
    "name",
    ["", "qwen3:8b", "gpt-oss:20b", "gpt-5.9", "gpt-5-pro", "claude-opus-6", "claude-fable-5-2", "gpt-4o-audio"],
)
def test_of_an_unknown_model_nothing_is_made_up(name: str) -> None:
    assert facts(name) == ModelFacts(0, 0, None)


def test_every_known_model_has_a_window_that_its_answer_fits_into() -> None:
    for known in KNOWN.values():
        assert known.window > known.output > 0
        assert known.price
        assert 0 < known.price.cache_read < known.price.input <= known.price.cache_write < known.price.output
