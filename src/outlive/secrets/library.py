"""The detectors of detect-secrets, loaded when a text has something in it that could be for them."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from outlive.secrets.judging import HASH, STAND_IN, UUID
from outlive.secrets.places import Secret, parts, places

_FOR_LIBRARY = re.compile(
    r"A3T|A[KSB]IA|ACCA|(?i:aws|authtoken)|AccountKey=|gh[pousr]_|gl[a-z]{2,6}-|GR1348941|eyJ|-us[0-9]|T3BlbkFJ|pypi-AgE"
    r"|PRIVATE KEY|PuTTY-User-Key|SG\.|(?i:xox[a-z]-|hooks\.slack)|sq0csp-|k_live_|[0-9]{8}:[0-9A-Za-z_-]{35}"
)
"""How the forms that the library knows begin. It is loaded, and asked about a line, where one of these stands."""
_LIBRARY_HINTS = (
    *("A3T", "AKIA", "ASIA", "ABIA", "ACCA", "AccountKey=", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "GR1348941"),
    *("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glcbt-", "glimt-", "glptt-", "glagent-", "gloas-", "-us"),
    *("eyJ", "T3BlbkFJ", "pypi-AgE", "PRIVATE KEY", "PuTTY-User-Key", "SG.", "sq0csp-", "k_live_", ":AA"),
)
_LIBRARY_WORDS = ("aws", "authtoken", "xox", "hooks.slack")
"""In whatever case. Looking for plain text is many times faster than looking for a pattern."""

_DETECTORS = (
    *(("aws", "AWSKeyDetector"), ("azure_storage_key", "AzureStorageKeyDetector")),
    *(("github_token", "GitHubTokenDetector"), ("gitlab_token", "GitLabTokenDetector"), ("jwt", "JwtTokenDetector")),
    *(("mailchimp", "MailchimpDetector"), ("npm", "NpmDetector"), ("openai", "OpenAIDetector")),
    *(("private_key", "PrivateKeyDetector"), ("pypi_token", "PypiTokenDetector"), ("sendgrid", "SendGridDetector")),
    *(("slack", "SlackDetector"), ("square_oauth", "SquareOAuthDetector"), ("stripe", "StripeDetector")),
    ("telegram_token", "TelegramBotTokenDetector"),
)
"""Of detect-secrets: those that know a form. Left out are those that go by entropy alone, and by names in code."""


def from_library(text: str, lowered: str) -> Iterator[Secret]:
    hints = [at for hint in _LIBRARY_HINTS if hint in text for at in places(text, hint)]
    hints += [at for word in _LIBRARY_WORDS if word in lowered for at in places(lowered, word)]
    for start, part in parts(text, hints):
        if _FOR_LIBRARY.search(part):
            for detector in _detectors():
                for value in detector.analyze_string(part):
                    yield from _placed(part, start, value, str(detector.secret_type))


def _placed(text: str, start: int, value: str, kind: str) -> Iterator[Secret]:
    """A find of the library, if it stands by itself: a part of a longer hash or word is none."""
    if not value or STAND_IN.fullmatch(value) or HASH.fullmatch(value) or UUID.fullmatch(value):
        return
    for match in re.finditer(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", text):
        yield Secret(start + match.start(), start + match.end(), kind)


@lru_cache(maxsize=1)
def _detectors() -> tuple[Any, ...]:
    from importlib import import_module

    return tuple(getattr(import_module(f"detect_secrets.plugins.{module}"), name)() for module, name in _DETECTORS)
