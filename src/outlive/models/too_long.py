"""Detects errors that say the prompt is too long. Narrow on purpose: a wrong guess compacts for nothing."""

import re

from msgspec import Struct

_PATTERNS = (
    re.compile(r"prompt is too long: (?P<actual>[\d,]+) tokens? > (?P<limit>[\d,]+) maximum", re.IGNORECASE),
    re.compile(
        r"maximum context length is (?P<limit>[\d,]+) tokens.{0,80}?\((?P<actual>[\d,]+) in the messages",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(
        r"maximum context length is (?P<limit>[\d,]+) tokens.{0,80}?(?P<actual>[\d,]+) (?:input )?tokens",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(r"\(?(?P<actual>[\d,]+) tokens\)? exceeds the available context size \((?P<limit>[\d,]+) tokens\)"),
    re.compile(
        r"input token count \(?(?P<actual>[\d,]+)\)? exceeds the maximum number of tokens allowed "
        r"\(?(?P<limit>[\d,]+)",
        re.IGNORECASE,
    ),
    re.compile(r"maximum prompt length is (?P<limit>[\d,]+) but the request contains (?P<actual>[\d,]+) tokens"),
    re.compile(
        r"prompt contains (?P<actual>[\d,]+) tokens.{0,80}?too large for model with (?P<limit>[\d,]+) maximum",
        re.IGNORECASE,
    ),
    re.compile(
        r"input length and `max_tokens` exceed context limit: (?P<actual>[\d,]+) \+ [\d,]+ > (?P<limit>[\d,]+)"
    ),
)
_BARE = re.compile(
    r"\bcontext_length_exceeded\b|\bprompt is too long\b|\bexceeds the context window\b"
    r"|\bexceeds the available context size\b|\binput is too long for requested model\b",
    re.IGNORECASE,
)

MAX_MESSAGE_CHARS = 4_000
"""Characters of an error message that are read."""


class TooLong(Struct, frozen=True):
    """Tokens that the provider counted and allows; 0 if it did not say."""

    actual: int = 0
    limit: int = 0


def read_too_long(message: str, status: int = 400) -> TooLong | None:
    """The figures of a "prompt is too long" error; None for any other error."""
    if status not in (400, 413):
        return None
    message = message[:MAX_MESSAGE_CHARS]
    for pattern in _PATTERNS:
        if found := pattern.search(message):
            return TooLong(_number(found["actual"]), _number(found["limit"]))
    return TooLong() if _BARE.search(message) else None


def _number(text: str) -> int:
    return int(text.replace(",", ""))
