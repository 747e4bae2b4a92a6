"""Secrets in text: found before they are written, masked before they are shown.

The detectors of detect-secrets know the keys of most providers; the rules here add what they miss (keys of model
providers, fine-grained tokens, passwords in plain sentences) and drop what is only long (hashes, uuids, paths).
The library is loaded when a text has something in it that could be a secret, so a look at ordinary text costs little.
"""

import base64
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
        ("Stripe webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,}=*"),
        ("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"shp[a-z]{2}_[0-9a-fA-F]{32}"),
        ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
        ("Vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
        ("Linear API key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
        ("Notion token", "ntn_ secret_", r"(?:ntn|secret)_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{40,}"),
        ("Perplexity API key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
        ("Replicate token", "r8_", r"r8_[A-Za-z0-9]{36,}"),
        ("Databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
        ("Atlassian token", "ATATT3 ATCTT3", r"AT[AC]TT3[A-Za-z0-9_=-]{30,}"),
        ("Google OAuth secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,}"),
        ("Mailgun key", "key-", r"key-(?=[a-z]*[0-9])(?=[0-9]*[a-z])[0-9a-z]{32}(?![A-Za-z0-9])"),
        ("Twilio key", "SK", r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
        ("Firebase key", "APA91b", r"APA91b[A-Za-z0-9_-]{100,}"),
        ("Docker token", "dckr_pat_", r"dckr_pat_[A-Za-z0-9_-]{20,}"),
        ("Grafana token", "glsa_ glc_", r"gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}"),
        ("Sentry token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_]{32,}"),
        ("Supabase token", "sbp_", r"sbp_[0-9a-f]{40}"),
        ("Figma token", "figd_", r"figd_[A-Za-z0-9_-]{30,}"),
        ("Postman key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
        ("Doppler token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{32,}"),
        ("RubyGems key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
        ("New Relic key", "NRAK-", r"NRAK-[A-Z0-9]{27}"),
        ("PlanetScale token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,}"),
        ("Netlify token", "nfp_", r"nfp_[A-Za-z0-9]{36,}"),
        (
            "Discord webhook",
            "https://discord",
            r"https://discord(?:app)?\.com/api/webhooks/\d{15,}/[A-Za-z0-9_-]{50,}",
        ),
        ("PyPI token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{40,}"),
        ("Azure storage key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/]{40,}=*"),
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
_NAME = (
    r"(?:(?<![A-Za-z])(?:pass|pwd|pw)|pass(?:word|wd|phrase|code|wort)|kennwort|secret|token|"
    rf"(?:{_BEFORE_KEY})key|credentials?)"
)
_NAMES = ("pass", "pwd", "pw", "kennwort", "secret", "token", "key", "credential")
_WHERE = (
    r"(?:\s+\([^()\n]{1,40}\)|\s+(?:for|of|to|on|in|at|from|für|von|zu)(?:\s+[\w.'/@-]{1,40}){1,5}?"
    r"(?=\s+(?:is|was|ist|war)\b|\s*[:=]))?"
)
"""What a password is for may stand between its name and its value."""
_ASSIGNED = re.compile(
    rf"(?P<name>{_NAME}(?:[_.-][A-Za-z0-9]+)*)[\"'`\]]*{_WHERE}\s*"
    r"(?P<sign>:=|=>|={1,3}|:|\b(?:is|was|ist|war)\b:?)\s*"
    r"(?P<quote>[\"'`]?)(?P<value>[^\s\"'`]{6,})(?P=quote)",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    r"(?:PASS(?:WORD|WD|PHRASE)?|SECRET|TOKEN)\s*[:=]\s*([\"'])(?P<value>[a-z0-9]{3,}(?: [a-z0-9]{3,}){2,7})\1"
)
"""A constant whose value is several words: a pass phrase, unless it speaks as messages do."""
_MESSAGE = re.compile(
    r"\b(?:password|secret|token|must|should|your|enter|required|please|the|not|invalid|wrong|missing|too|and|for|with|are|has)\b"
)
_SPOKEN: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (kind, tuple(hints.split()), re.compile(pattern))
    for kind, hints, pattern in (
        (
            "password",
            "curl",
            r"\bcurl\b[^\n|;]{0,200}?\s(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'$]+:(?P<value>[^\s\"']{4,})",
        ),
        ("password", "sshpass", r"\bsshpass\s+-p\s*[\"']?(?P<value>[^\s\"']{4,})"),
        ("password", "mysql mariadb", r"\b(?:mysql\w*|mariadb\S*)\b[^\n|;]{0,200}?\s-p(?P<value>[^\s\"']{4,})"),
        ("password", "login", r"\blogin\s+[^\s:]+\s+password\s+(?P<value>[^\s\"']{4,})"),
        ("password", "docker", r"\bdocker login\b[^\n|;]{0,200}?\s-p[ =]?(?P<value>[^\s\"']{4,})"),
        ("password", "--pass", r"--pass(?:word|wd|phrase)?\s+[\"']?(?P<strong>[^\s\"']{6,})"),
        ("token", "--token --secret --api-key", r"--(?:token|secret|api-key)\s+[\"']?(?P<strong>[^\s\"']{8,})"),
        (
            "password",
            "pass",
            r"(?<!\S)[\"'`]?(?P<strong>[^\s\"'`]{6,64})[\"'`]? is (?:the|my|our) "
            r"(?:[\w-]{1,20} ){0,2}pass(?:word|phrase|code)\b",
        ),
        (
            "password",
            "log sign user credential",
            r"\b(?:[Ll]og ?in|[Ss]ign in|[Uu]ser(?:name)?|[Cc]redentials?)\b[^\n/]{1,40} / (?P<mixed>[^\s\"'`]{6,})",
        ),
        (
            "password or key",
            "token key",
            r"(?i)\b(?:auth|api|access|secret|private)[ _-](?:token|key)\s+"
            r"(?P<value>[0-9a-f]{32,}|(?=\S*\d)(?=\S*[A-Z])[\w-]{24,})(?!\S)",
        ),
    )
)
"""Said without a sign between name and value. A hint, in lower case, says which lines are looked at."""
_AUTH = re.compile(r"\"_?auth\"\s*:\s*\"([A-Za-z0-9+/]{8,}={0,2})\"")
_HASH = re.compile(r"(?i)(?:sha\d+[:-])?(?:[0-9a-f]{7,40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})")
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_STAND_IN = re.compile(
    r"(?i)[*•.x_-]+|<.*>?|%.*%|\[.*|\(.*|\{+|\{.*\}\W*|\{\w+:.*"
    r"|\$[({].*|\$[a-z_]\w*(?:(?:->|::|[.\[/:]).*)?|\$\d"
    r"|[a-z_$][\w.:<>\[\]-]*\((?:.*\)[\])};,:?!]*(?:(?:\.|\[|->).*)?|(?:[^)]*[(,=|])?|[^)0-9]*)"
    r"|.*(?:example|changeme|change-me|placeholder|redacted|masked|your[_-]|dummy|sample|xxxx|\*\*\*).*"
    r"|(?:os|process|env|config|settings|self|this|req|request|ctx|secrets|vars|var|data|local|module)\..*"
    r"|password|passwd|secret|token|none|null|true|false|required|optional|undefined"
)
"""What stands where a secret would, and is none."""
_TECHNICAL = re.compile(
    r"(?i)(?:sha|md|aes|rsa|hs|rs|es|ps|bcrypt|scrypt|argon|pbkdf|base|utf|oauth|ed|x|tls|ssl|hmac-?sha|ascii|iso|http|"
    r"ipv|win|ecdsa-?p?|chacha|blake|crc|uuid-?v?|v)[-_]?\d[\w.-]{0,8}(?:[-_][a-z]+)*(?::[0-9a-f]*)?"
    r"|[a-z]+(?:-[a-z]+)*[-@=~<>]+\d+(?:\.\d+)+|[a-z_]{3,}=[a-z0-9_-]+|[a-z]+-\d{1,3}|\d+[-_]?[a-z]{1,12}|1password"
)
"""Names of methods and formats, packages with their version, counts with their unit."""
_CODE = re.compile(
    r"[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)+[\[(),;]*|[A-Za-z_]\w*\[\w*\][),;]*|[A-Z][A-Za-z]+\[[^0-9]*"
    r"|_?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+){2,}|[a-z]+(?:_[a-z0-9]+){3,}|urn:[a-z].*"
)
"""An expression: a member of something, an element of something, a type, a long name."""
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
    found = [
        *_blocks(text),
        *_known(text),
        *_assigned(text, lowered),
        *_spoken(text, lowered),
        *_from_library(text, lowered),
    ]
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


def mask_value(value: Any, name: str = "") -> Any:
    """A value of JSON with every text in it masked, keys too; what is called a password is one at any depth."""
    if isinstance(value, str):
        head = f"{name}: "
        shown = mask(head + value) if name else mask(value)
        return shown.removeprefix(head) if name and shown.startswith(head) else mask(value)
    if isinstance(value, dict):
        return {mask(str(key)): mask_value(item, str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [mask_value(item, name) for item in value]
    return value


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
            if start not in text:
                continue
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
            if _is_presented(match[1], scheme) and not _STAND_IN.fullmatch(match[1]):
                yield Secret(match.start(1), match.end(1), "authorization header")
    for word in ("PASS", "SECRET", "TOKEN"):
        for match in _matches(_PHRASE, text, _places(text, word)):
            if not _MESSAGE.search(match["value"]):
                yield Secret(match.start("value"), match.end("value"), "pass phrase")
    yield from _named(text, lowered)


def _named(text: str, lowered: str) -> Iterator[Secret]:
    for name in _NAMES:
        if name not in lowered:
            continue
        for match in _matches(_ASSIGNED, text, _places(lowered, name)):
            quoted = bool(match["quote"])
            value = match["value"] if quoted else _bare(match["value"])
            said = match["sign"].lower().rstrip(":") in ("is", "was", "ist", "war")
            if _is_said(match["name"], value) if said and not quoted else _worth_hiding(match["name"], value, quoted):
                start = match.start("value")
                yield Secret(start, start + len(value), "password or key")


def _spoken(text: str, lowered: str) -> Iterator[Secret]:
    """What commands and sentences give away without a sign between name and value."""
    for kind, hints, pattern in _SPOKEN:
        there = [hint for hint in hints if hint in lowered]
        for start, part in _parts(text, (at for hint in there for at in _places(lowered, hint))) if there else ():
            for match in pattern.finditer(part):
                group = str(match.lastgroup)
                value = _bare(match[group])
                if _STAND_IN.fullmatch(value) or _PATH.fullmatch(value) or len(value) < 4:
                    continue
                if group == "value" or (_is_strong(value) and (group == "strong" or _kinds(value) >= 3)):
                    at = start + match.start(group)
                    yield Secret(at, at + len(value), kind)
    for match in _matches(_AUTH, text, (at for name in ('"auth"', '"_auth"') for at in _places(text, name))):
        if _holds_a_pair(match[1]):
            yield Secret(match.start(1), match.end(1), "registry login")


def _is_presented(value: str, scheme: str) -> bool:
    """Whether a header gives something away: a name and a password, a token; behind that word also in hexadecimal."""
    if scheme == "basic":
        return _holds_a_pair(value)
    return _looks_random(value) or bool(re.fullmatch(r"(?i)(?=.*\d)[0-9a-f-]{20,}", value))


def _holds_a_pair(value: str) -> bool:
    try:
        return ":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except ValueError:
        return False


def _bare(value: str) -> str:
    """Without what ends a sentence."""
    return value.rstrip(".,;:?)]}") if not re.search(r"[({\[]", value) else value.rstrip(".,;:?")


def _kinds(value: str) -> int:
    return sum(bool(re.search(kind, value)) for kind in ("[a-z]", "[A-Z]", "[0-9]", r"[^A-Za-z0-9_.-]"))


def _is_said(name: str, value: str) -> bool:
    """Whether a sentence tells the value, rather than something about it."""
    if _STAND_IN.fullmatch(value) or len(value) < 6:
        return False
    if name.lower().startswith(("pass", "pw", "kennwort")):
        return _is_strong(value) or bool(re.fullmatch("[a-z]{17,}", value))
    return _looks_random(value) and not _TECHNICAL.fullmatch(value)


def _is_strong(value: str) -> bool:
    """Letters and digits, or letters and signs within, as in a password; no name of a method, no path, no hash."""
    if len(value) < 6 or any(form.fullmatch(value) for form in (_TECHNICAL, _PATH, _HASH, _UUID, _CODE)):
        return False
    return bool(re.search("[0-9]", value) and re.search("[A-Za-z]", value)) or _kinds(value) >= 3


def _worth_hiding(name: str, value: str, quoted: bool) -> bool:
    if len(value) < 6 or any(form.fullmatch(value) for form in (_STAND_IN, _PATH, _TECHNICAL, _CODE)):
        return False
    if re.match(r"\d+:", value):
        return False
    kinds = _kinds(value)
    if re.search("[0-9]", value):
        return kinds >= 2 or len(value) >= 12
    if re.fullmatch("[a-z]{10,}", value):  # words written together, as people make pass phrases
        return len(value) >= 17 or name.isupper()
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
    hints = [at for hint in _LIBRARY_HINTS if hint in text for at in _places(text, hint)]
    hints += [at for word in _LIBRARY_WORDS if word in lowered for at in _places(lowered, word)]
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
