"""Secrets in text: found before they are written, masked before they are shown.

The detectors of detect-secrets know the keys of most providers; the rules here add what they miss (keys of model
providers, fine-grained tokens, passwords in plain sentences) and drop what is only long (hashes, uuids, paths).
The library is loaded when a text has something in it that could be a secret, so a look at ordinary text costs little.
"""

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import msgspec

from outlive.errors import OutliveError


class SecretFound(OutliveError):
    """A text has a secret in it and was not written. The message names the kind, never the value."""


class Secret(msgspec.Struct, frozen=True):
    """Where a secret stands in a text, and what it looks like."""

    start: int
    end: int
    kind: str


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

LONGEST_LINE = 4_000
BEFORE, BEHIND = 60, 2_000
"""Characters: of a longer line, what stands around a hint is looked at, so that the time grows with the text only."""

_KEYS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (kind, tuple(starts.split()), re.compile(rf"(?<![A-Za-z0-9_]){pattern}"))
    for kind, starts, pattern in (
        ("Anthropic API key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,}"),
        ("OpenAI API key", "sk-", r"sk-(?:proj|svcacct|admin|or-v1|None)-[A-Za-z0-9_-]{16,}"),
        (
            "OpenAI API key",
            "sk-",
            r"sk-(?=[A-Za-z]*[0-9])(?=[0-9a-z]*[A-Z]|[0-9A-Za-z]{32})[A-Za-z0-9]{20,}(?![A-Za-z0-9-])",
        ),
        ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,}"),
        ("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
        ("GitLab token", "glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
        ("AWS access key", "AKIA ASIA ABIA ACCA", r"A[A-Z]{3}[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("Slack token", "xox", r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}"),
        ("Slack token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{10,}"),
        ("Google API key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
        ("Google OAuth token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
        ("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
        ("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
        ("Groq API key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
        ("xAI API key", "xai-", r"xai-[A-Za-z0-9]{40,}"),
        ("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_[a-z]{4}_[A-Za-z0-9]{16,}"),
        ("age secret key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
        ("JSON web token", "eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?"),
    )
)
"""What it is, how it begins, all of it. A pattern is tried only where a beginning stands."""
_BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_URL = re.compile(r"(?<=[A-Za-z0-9+.-])://[^\s/:@\"'`]*:([^\s/@\"'`]+)@")
_AWS = re.compile(r"(?i)\baws\w{0,30}[\"']?\s*[:=]\s*[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")
_BEARER = re.compile(r"\b(?:bearer|basic)\s+([A-Za-z0-9+/_.=~-]{16,})", re.IGNORECASE)
_BEFORE_KEY = "|".join(rf"(?<={word})|(?<={word}[_ -])" for word in ("api", "access", "auth", "private"))
_NAME = rf"(?:(?<![A-Za-z])(?:pass|pwd)|pass(?:word|wd|phrase|code)|secret|token|(?:{_BEFORE_KEY})key|credentials?)"
_NAMES = ("pass", "pwd", "secret", "token", "key", "credential")
_ASSIGNED = re.compile(
    rf"{_NAME}(?:[_.-][A-Za-z0-9]+)*[\"'`\]]*\s*"
    r"(?P<sign>:=|=>|={1,3}|:|\bis\b|\bwas\b)\s*"
    r"(?P<quote>[\"'`]?)(?P<value>[^\s\"'`]{6,})(?P=quote)",
    re.IGNORECASE,
)
_HASH = re.compile(r"(?i)(?:sha\d+[:-])?(?:[0-9a-f]{7,40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})")
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_STAND_IN = re.compile(
    r"(?i)[*•.x_-]+|<.*>|\$.*|%.*%|\{.*|\[.*|\(.*|.*\(.*|.*(?:example|changeme|change-me|placeholder|redacted|masked|"
    r"your[_-]|dummy|sample|xxxx|\*\*\*).*|(?:os|process|env|config|settings|self)\..*|"
    r"password|passwd|secret|token|none|null|true|false|required|optional|undefined"
)
"""What stands where a secret would, and is none."""
_PATH = re.compile(r"(?:[~.]{0,2}/|[A-Za-z]:\\|https?://|file:|www\.)\S*|[\w.-]+(?:/[\w.-]+)+")

_DETECTORS = (
    *(("aws", "AWSKeyDetector"), ("azure_storage_key", "AzureStorageKeyDetector")),
    *(("github_token", "GitHubTokenDetector"), ("gitlab_token", "GitLabTokenDetector"), ("jwt", "JwtTokenDetector")),
    *(("mailchimp", "MailchimpDetector"), ("npm", "NpmDetector"), ("openai", "OpenAIDetector")),
    *(("private_key", "PrivateKeyDetector"), ("pypi_token", "PypiTokenDetector"), ("sendgrid", "SendGridDetector")),
    *(("slack", "SlackDetector"), ("square_oauth", "SquareOAuthDetector"), ("stripe", "StripeDetector")),
    ("telegram_token", "TelegramBotTokenDetector"),
)
"""Of detect-secrets: those that know a form. Left out are those that go by entropy alone, and by names in code."""


def find(text: str) -> list[Secret]:
    """All secrets in a text, in order, none within another."""
    lowered = text.lower()
    lowered = lowered if len(lowered) == len(text) else text
    found = [*_blocks(text), *_known(text), *_assigned(text, lowered), *_from_library(text, lowered)]
    apart: list[Secret] = []
    for secret in sorted(found, key=_by_place):
        if not apart or secret.start >= apart[-1].end:
            apart.append(secret)
        elif secret.end > apart[-1].end:
            apart[-1] = Secret(apart[-1].start, secret.end, apart[-1].kind)
    return apart


def refuse(text: str, what: str) -> None:
    """Raise SecretFound when there is one; `what` is the thing that was to be written."""
    kinds = list(dict.fromkeys(secret.kind for secret in find(text)))
    if kinds:
        raise SecretFound(
            f"{what} contains what looks like a secret ({', '.join(kinds)}); it was not written. "
            "Say where the secret is kept instead of the secret"
        )


def mask(text: str) -> str:
    """The text with each secret replaced by its kind. Masking twice changes nothing."""
    parts, end = [], 0
    for secret in find(text):
        parts += [text[end : secret.start], f"[masked {secret.kind}]"]
        end = secret.end
    return "".join([*parts, text[end:]]) if parts else text


def _parts(text: str, hints: Iterable[int]) -> Iterator[tuple[int, str]]:
    """The lines of a text that have a hint in them; of a long line, what stands around each hint."""
    done = 0
    for at in sorted(hints):
        if at < done:
            continue
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if end - start > LONGEST_LINE:
            start, end = max(start, at - BEFORE), min(end, at + BEHIND)
            done = end if end - at < BEHIND else at + BEHIND // 2
        else:
            done = end
        yield start, text[start:end]


def _places(text: str, hint: str) -> Iterator[int]:
    at = text.find(hint)
    while at >= 0:
        yield at
        at = text.find(hint, at + len(hint))


def _matches(pattern: re.Pattern[str], text: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    """What begins at one of these places, none within another."""
    done = 0
    for at in places:
        if at >= done and (match := pattern.match(text, at, at + LONGEST_LINE)):
            done = match.end()
            yield match


def _by_place(secret: Secret) -> tuple[int, int]:
    return secret.start, -secret.end


def _blocks(text: str) -> Iterator[Secret]:
    for match in _BLOCK.finditer(text):
        yield Secret(match.start(), match.end(), "private key")


def _known(text: str) -> Iterator[Secret]:
    for kind, starts, pattern in _KEYS:
        for start in starts:
            for match in _matches(pattern, text, _places(text, start)):
                if not _STAND_IN.fullmatch(match[0]):
                    yield Secret(match.start(), match.end(), kind)


def _assigned(text: str, lowered: str) -> Iterator[Secret]:
    """Values of things that are called a password, a token or a key."""
    for match in _matches(_URL, text, _places(text, "://")):
        if not _STAND_IN.fullmatch(match[1]):
            yield Secret(match.start(1), match.end(1), "password in a URL")
    for match in _matches(_AWS, text, _places(lowered, "aws")):
        yield Secret(match.start(1), match.end(1), "AWS secret key")
    for scheme in ("bearer", "basic"):
        for match in _matches(_BEARER, text, _places(lowered, scheme)):
            if _looks_random(match[1]) and not _STAND_IN.fullmatch(match[1]):
                yield Secret(match.start(1), match.end(1), "authorization header")
    for name in _NAMES:
        for match in _matches(_ASSIGNED, text, _places(lowered, name)):
            value = match["value"] if match["quote"] else match["value"].rstrip(".,;:!?)]}")
            if match["sign"].lower() in ("is", "was") and not match["quote"] and not _looks_random(value):
                continue
            if _worth_hiding(value, quoted=bool(match["quote"])):
                start = match.start("value")
                yield Secret(start, start + len(value), "password or key")


def _worth_hiding(value: str, *, quoted: bool) -> bool:
    if len(value) < 6 or _STAND_IN.fullmatch(value) or _PATH.fullmatch(value) or re.match(r"\d+:", value):
        return False
    kinds = sum(bool(re.search(kind, value)) for kind in ("[a-z]", "[A-Z]", "[0-9]", r"[^A-Za-z0-9_.-]"))
    if re.search("[0-9]", value):
        return kinds >= 2 or len(value) >= 12
    return kinds >= 3 or (quoted and kinds >= 2 and _entropy(value) > 3.2)


def _looks_random(value: str) -> bool:
    """Letters and digits mixed as people do not write them."""
    if len(value) < 8 or _PATH.fullmatch(value) or _HASH.fullmatch(value) or _UUID.fullmatch(value):
        return False
    return bool(re.search("[0-9]", value) and re.search("[A-Za-z]", value)) and _entropy(value) > 2.7


def _entropy(text: str) -> float:
    counts = [text.count(character) for character in set(text)]
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def _from_library(text: str, lowered: str) -> Iterator[Secret]:
    hints = [at for hint in _LIBRARY_HINTS for at in _places(text, hint)]
    hints += [at for word in _LIBRARY_WORDS for at in _places(lowered, word)]
    for start, part in _parts(text, hints):
        if _FOR_LIBRARY.search(part):
            for detector in _detectors():
                for value in detector.analyze_string(part):
                    yield from _placed(part, start, value, str(detector.secret_type))


def _placed(text: str, start: int, value: str, kind: str) -> Iterator[Secret]:
    """A find of the library, if it stands by itself: a part of a longer hash or word is none."""
    if not value or _STAND_IN.fullmatch(value) or _HASH.fullmatch(value) or _UUID.fullmatch(value):
        return
    for match in re.finditer(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", text):
        yield Secret(start + match.start(), start + match.end(), kind)


@lru_cache(maxsize=1)
def _detectors() -> tuple[Any, ...]:
    from importlib import import_module

    return tuple(getattr(import_module(f"detect_secrets.plugins.{module}"), name)() for module, name in _DETECTORS)
