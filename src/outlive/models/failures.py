"""Maps error responses of any provider to the errors of `outlive.models.errors`."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from email.utils import parsedate_to_datetime
from time import time

from msgspec import Struct

from outlive.models.errors import ModelError, ModelNotSetUp, ModelUnavailable, PromptTooLong, RequestRefused
from outlive.models.too_long import read_too_long

MAX_NAMES = 8  # that an error suggests
MAX_NAME_CHARS, MAX_COMPARED = 100, 500
"""Characters of a name, and number of names, that are compared to suggest a model."""
TEMPORARY_STATUSES = frozenset({408, 409, 425, 429, 499})
OVERLOADED_STATUSES = frozenset({429, 503, 529})
OVERLOADED_KINDS = frozenset({"overloaded_error", "rate_limit_error", "rate_limit_exceeded", "server_is_overloaded"})
PERMANENT_KINDS = frozenset({"invalid_request_error", "authentication_error", "permission_error", "not_found_error"})
"""Kinds of errors inside a stream, which have no status, that a retry does not help; others are temporary."""
BILLING_CODES = frozenset({"insufficient_quota", "billing_error", "billing_not_active", "billing_hard_limit_reached"})
TOO_LONG_CODES = frozenset({"exceed_context_size_error", "context_length_exceeded", "request_too_large"})
_CREDIT = re.compile(r"credit balance is too low|exceeded your current quota", re.IGNORECASE)
_ADVICE = {
    401: "the key is not accepted: check {key}",
    403: "the key may not use this: check what {key} is allowed to do",
}


class Failure(Struct, frozen=True):
    """An error response: status (0 inside a stream), the message, and the provider's names for the kind."""

    status: int
    message: str
    kind: str = ""
    code: str = ""
    headers: Mapping[str, str] = {}
    actual: int = 0
    limit: int = 0

    @property
    def names(self) -> set[str]:
        return {self.kind, self.code}


def error_for(failure: Failure, model: str, key: str) -> ModelError:
    """The error to raise. `key` is the variable with the API key."""
    text = f"{model}: {failure.message or f'status {failure.status}'}"
    too_long = read_too_long(failure.message, 400 if failure.status in (0, 422) else failure.status)
    if too_long or failure.names & TOO_LONG_CODES or failure.status == 413:
        figures = too_long if too_long and too_long.limit else failure
        return PromptTooLong(text, figures.actual, figures.limit)
    if failure.names & BILLING_CODES or failure.status == 402 or _CREDIT.search(failure.message):
        return ModelNotSetUp(f"{text} (the account behind {key} cannot pay for this: add credit or use another key)")
    if failure.status in _ADVICE:
        return ModelNotSetUp(f"{text} ({_ADVICE[failure.status].format(key=key)})")
    if failure.status == 404:
        return ModelNotSetUp(text)
    passing = (
        failure.status in TEMPORARY_STATUSES
        or failure.status >= 500
        or not (failure.status or failure.names & PERMANENT_KINDS)
    )
    if not passing:
        return RequestRefused(text)
    overloaded = failure.status in OVERLOADED_STATUSES or bool(failure.names & OVERLOADED_KINDS)
    return ModelUnavailable(text, retry_after(failure.headers), overloaded=overloaded)


def nearest(wanted: str, names: Iterable[str]) -> str:
    """A few of the names, those most similar to `wanted` first."""
    known = sorted({name[:MAX_NAME_CHARS] for name in names})[:MAX_COMPARED]
    close = get_close_matches(wanted[:MAX_NAME_CHARS], known, n=MAX_NAMES, cutoff=0.0)
    return ", ".join(close) or "none"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait according to the headers, which have milliseconds, seconds, or a date."""
    with suppress(KeyError, ValueError):
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    given = headers.get("retry-after", "")
    with suppress(ValueError):
        return max(0.0, float(given))
    with suppress(ValueError):
        return max(0.0, parsedate_to_datetime(given).timestamp() - time())
    return None


def said_in(body: object) -> dict[str, object]:
    """The innermost object with a message in the body of an error."""
    while isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if not isinstance(body, dict):
        return {"message": body} if isinstance(body, str) else {}
    if not isinstance(body.get("message"), str):
        return body | {"message": str(body.get("error") or body.get("detail") or "")}
    return body
