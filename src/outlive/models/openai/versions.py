"""What OpenAI's models can do, by their names."""

import re
from urllib.parse import urlsplit

OFFICIAL_HOST = "api.openai.com"
RESPONSES_FROM, BREAKPOINTS_FROM = (5, 0), (5, 6)
_GPT = re.compile(r"(?:^|[/.])gpt-(\d{1,2})(?:\.(\d{1,2}))?(?![\d.])")
_REASONING = re.compile(r"o\d(?:-|$)|codex-")
_CHAT_ONLY = re.compile(r"^o1-mini|^o1-preview|-chat\b|-oss\b|-audio|-search")
"""Models that the Responses API does not offer, or that do not reason."""


def is_official(address: str) -> bool:
    """Whether this is OpenAI's own address. Other servers may apply an output format to calls of tools as well."""
    host = urlsplit(address).hostname or ""
    return host == OFFICIAL_HOST or host.endswith(f".{OFFICIAL_HOST}")


def wants_responses(name: str, address: str) -> bool:
    """Whether a model offers tools with reasoning in the Responses API only: OpenAI's own, at OpenAI's address."""
    if not is_official(address) or _CHAT_ONLY.search(name):
        return False
    return _version(name) >= RESPONSES_FROM or _REASONING.match(name) is not None


def takes_breakpoints(name: str) -> bool:
    """Whether the prompt cache of a model is read at explicit breakpoints."""
    return _version(name) >= BREAKPOINTS_FROM


def _version(name: str) -> tuple[int, int]:
    """The version in a name like `gpt-5.6-sol`; (0, 0) without one."""
    found = _GPT.search(name)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)
