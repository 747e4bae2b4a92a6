"""Every answer is bounded: by a limit that fits into the window, and by an end to repetition."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.models.answers.limit import MIN_ANSWER_TOKENS, UNKNOWN_MODEL_TOKENS, answer_limit
from outlive.models.answers.text import MAX_PERIOD, RUNAWAY_CHARS, AnswerSize, period
from outlive.models.errors import RequestRefused
from outlive.models.openai.model import OpenAIModel
from outlive.testing.simulator import say
from tests.models.quirky import chunk, quirky
from tests.models.talking import ask, asking, gpt, playing

DONE: tuple[int, Any] = (200, [chunk(content="Yes."), chunk("stop")])


def sent(*answers: tuple[int, Any], window: int = 0) -> list[dict[str, Any]]:
    with quirky(*answers) as server:
        ask(OpenAIModel("tiny", environment=server.environment, window=window), asking())
        return server.bodies


def test_a_request_always_says_how_long_the_answer_may_be() -> None:
    (body,) = sent(DONE)
    assert body["max_tokens"] == UNKNOWN_MODEL_TOKENS
    for name, option in (("gpt-4.1", "max_completion_tokens"), ("gpt-5.5", "max_completion_tokens")):
        with playing(say("hi")) as sim:
            ask(gpt(sim, name), asking())
            assert sim.requests[0].body[option] > 0
    with playing(say("hi")) as sim:
        ask(gpt(sim, "gpt-5.5", responses=True), asking())
        assert sim.requests[0].body["max_output_tokens"] > 0


def test_an_answer_fits_into_what_the_prompt_leaves_of_the_window() -> None:
    (body,) = sent(DONE, window=8_000)
    assert MIN_ANSWER_TOKENS < body["max_tokens"] < 8_000
    assert answer_limit(asking("x" * 30_000), 8_000, 16_000) == MIN_ANSWER_TOKENS


def test_a_limit_that_is_too_large_for_a_server_is_made_smaller() -> None:
    refused = {"error": {"message": "max_tokens is too large: this model supports at most 8000"}}
    bodies = sent((400, refused), DONE)
    assert [body["max_tokens"] for body in bodies] == [UNKNOWN_MODEL_TOKENS, UNKNOWN_MODEL_TOKENS // 4]


@given(st.text(min_size=1, max_size=MAX_PERIOD), st.integers(1, 4_000))
def test_an_answer_that_repeats_itself_is_stopped(part: str, step: int) -> None:
    size = AnswerSize()
    text = part * (3 * RUNAWAY_CHARS // len(part) + 1)

    def take() -> None:
        for at in range(0, len(text), step):
            size.add(text[at : at + step])

    with pytest.raises(RequestRefused, match="without end"):
        take()


def test_long_answers_with_anything_new_in_them_go_on() -> None:
    size = AnswerSize()
    for number in range(20_000):
        size.add(f"row {number}: 0, 0, 0, 0\n")
    for number in range(10):
        size.add("=" * (RUNAWAY_CHARS // 2) + str(number))


def test_the_period_of_a_text() -> None:
    assert period("ab" * 1_000) == 2
    assert period("ab" * 1_000 + "c") == 0
