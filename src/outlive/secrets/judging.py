"""Whether a candidate is a secret: hashes, paths, code and placeholders are not."""

import math
import re
from typing import Any, cast


class _Lazy:
    """A pattern that is compiled on first use, so that commands start faster."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        pattern = re.compile(self._source, self._flags)
        self.match, self.search, self.fullmatch = pattern.match, pattern.search, pattern.fullmatch
        return getattr(pattern, name)


def lazy(source: str, flags: int = 0) -> re.Pattern[str]:
    """Like `re.compile`, but on first use."""
    return cast(re.Pattern[str], _Lazy(source, flags))


HASH = lazy(r"(?i)(?:sha\d+[:-])?(?:[0-9a-f]{7,40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})")
UUID = lazy(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
PLACEHOLDER = lazy(
    r"(?i)[*•.x_-]+|<.*>?|%.*%|\[.*|\(.*|\{+|\{.*\}\W*|\{\w+:.*"
    r"|\$[({].*|\$[a-z_]\w*(?:(?:->|::|[.\[/:]).*)?|\$\d"
    r"|[a-z_$][\w.:<>\[\]-]*\((?:.*\)[\])};,:?!]*(?:(?:\.|\[|->).*)?|(?:[^)]*[(,=|])?|[^)0-9]*)"
    r"|.*(?:example|changeme|change-me|placeholder|redacted|masked|your[_-]|dummy|sample|xxxx|\*\*\*).*"
    r"|(?:os|process|env|config|settings|self|this|req|request|ctx|secrets|vars|var|data|local|module)\..*"
    r"|password|passwd|secret|token|none|null|true|false|required|optional|undefined"
)
"""Placeholders: text in the place of a secret."""
TECHNICAL = lazy(
    r"(?i)(?:sha|md|aes|rsa|hs|rs|es|ps|bcrypt|scrypt|argon|pbkdf|base|utf|oauth|ed|x|tls|ssl|hmac-?sha|ascii|iso|http|"
    r"ipv|win|ecdsa-?p?|chacha|blake|crc|uuid-?v?|v)[-_]?\d[\w.-]{0,8}(?:[-_][a-z]+)*(?::[0-9a-f]*)?"
    r"|[a-z]+(?:-[a-z]+)*[-@=~<>]+\d+(?:\.\d+)+|[a-z_]{3,}=[a-z0-9_-]+|[a-z]+-\d{1,3}|\d+[-_]?[a-z]{1,12}|1password"
)
"""Names of algorithms and formats, packages with versions, counts with units."""
CODE = lazy(
    r"[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)+[\[(),;]*|[A-Za-z_]\w*\[\w*\][),;]*|[A-Z][A-Za-z]+\[[^0-9]*"
    r"|_?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+){2,}|[a-z]+(?:_[a-z0-9]+){3,}|urn:[a-z].*"
)
"""Code: attribute access, indexing, a type, a long name."""
ORDINARY = lazy(r"[a-z]+(?:[-_.][a-z]+)+|[A-Z]+(?:[-_.][A-Z]+)+")
"""Words of one case joined by punctuation."""
PATH = lazy(r"(?:[~.]{0,2}/|[A-Za-z]:\\|https?://|file:|www\.)\S*|[\w.-]+(?:/[\w.-]+)+")


def is_presented(value: str, scheme: str) -> bool:
    """Whether the value of an authorization header is a credential: user and password, or a token."""
    if scheme == "basic":
        return holds_a_pair(value)
    return looks_random(value) or bool(re.fullmatch(r"(?i)(?=.*\d)[0-9a-f-]{20,}", value))


def holds_a_pair(value: str) -> bool:
    import base64

    try:
        return ":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except ValueError:
        return False


def bare(value: str) -> str:
    """The value without punctuation at its end."""
    return value.rstrip(".,;:?)]}") if not re.search(r"[({\[]", value) else value.rstrip(".,;:?")


def kinds(value: str) -> int:
    return sum(bool(re.search(kind, value)) for kind in ("[a-z]", "[A-Z]", "[0-9]", r"[^A-Za-z0-9_.-]"))


def is_said(name: str, value: str) -> bool:
    """Whether the word after `is` in a sentence is the value itself."""
    if PLACEHOLDER.fullmatch(value) or len(value) < 6:
        return False
    if name.lower().startswith(("pass", "pw", "kennwort")):
        return is_strong(value) or bool(re.fullmatch("[a-z]{17,}", value))
    return looks_random(value) and not TECHNICAL.fullmatch(value)


def is_strong(value: str) -> bool:
    """Whether it mixes letters with digits or punctuation like a password, and is not a path, hash or code."""
    if len(value) < 6 or any(form.fullmatch(value) for form in (TECHNICAL, PATH, HASH, UUID, CODE)):
        return False
    return bool(re.search("[0-9]", value) and re.search("[A-Za-z]", value)) or kinds(value) >= 3


def worth_hiding(name: str, value: str, quoted: bool) -> bool:
    if len(value) < 6 or re.match(r"\d+:", value):
        return False
    mixed = kinds(value)
    if re.search("[0-9]", value):
        hidden = mixed >= 2 or len(value) >= 12
    elif re.fullmatch("[a-z]{10,}", value):  # a pass phrase without spaces
        hidden = len(value) >= 17 or name.isupper()
    else:
        hidden = mixed >= 3 or (quoted and mixed >= 2 and _entropy(value) > 3.2)
    return hidden and not any(form.fullmatch(value) for form in (PLACEHOLDER, PATH, TECHNICAL, CODE))


def looks_random(value: str) -> bool:
    """Whether it mixes letters and digits with high entropy."""
    if len(value) < 8 or PATH.fullmatch(value) or HASH.fullmatch(value) or UUID.fullmatch(value):
        return False
    return bool(re.search("[0-9]", value) and re.search("[A-Za-z]", value)) and _entropy(value) > 2.7


def _entropy(text: str) -> float:
    counts = [text.count(character) for character in set(text)]
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
