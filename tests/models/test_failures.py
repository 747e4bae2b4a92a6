"""From an answer that is none to what to do about it."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from outlive.models.errors import ModelNotSetUp, ModelUnavailable, PromptTooLong, RequestRefused
from outlive.models.failures import Failure, error_for, retry_after, said_in


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure(401, "invalid x-api-key"), ModelNotSetUp),
        (Failure(402, "pay"), ModelNotSetUp),
        (Failure(403, "forbidden"), ModelNotSetUp),
        (Failure(404, "no such model"), ModelNotSetUp),
        (Failure(429, "slow down", kind="rate_limit_error"), ModelUnavailable),
        (Failure(429, "spent", code="insufficient_quota"), ModelNotSetUp),
        (Failure(400, "bad", kind="api_error"), RequestRefused),
        (Failure(422, "bad"), RequestRefused),
        (Failure(400, "prompt is too long: 9 tokens > 5 maximum"), PromptTooLong),
        (Failure(413, "Request exceeds the maximum size"), PromptTooLong),
        (Failure(500, "x"), ModelUnavailable),
        (Failure(529, "x"), ModelUnavailable),
        (Failure(0, "Overloaded", kind="overloaded_error"), ModelUnavailable),
        (Failure(0, "bad", kind="invalid_request_error"), RequestRefused),
        (Failure(0, "?"), ModelUnavailable),
    ],
)
def test_each_failure_has_its_remedy(failure: Failure, kind: type[Exception]) -> None:
    error = error_for(failure, "anthropic:claude", "ANTHROPIC_API_KEY")
    assert type(error) is kind
    assert failure.message in str(error)
    assert "anthropic:claude" in str(error)


def test_how_long_to_wait_is_read_in_every_form() -> None:
    assert retry_after({"retry-after": "12"}) == 12
    assert retry_after({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    assert retry_after({"retry-after": "-3"}) == 0
    assert retry_after({}) is None
    assert retry_after({"retry-after": "soon", "retry-after-ms": "soon"}) is None
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 90 < (retry_after({"retry-after": date}) or 0) <= 100


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"type": "error", "error": {"type": "x", "message": "said"}}, "said"),
        ({"error": "said"}, "said"),
        ({"detail": "said"}, "said"),
        ({"message": "said"}, "said"),
        ("said", "said"),
    ],
)
def test_the_words_are_found_in_every_form(body: object, message: str) -> None:
    assert said_in(body)["message"] == message


@pytest.mark.parametrize("body", [None, [], 3])
def test_a_body_without_words_has_none(body: object) -> None:
    assert said_in(body) == {}
