"""Secrets in text: detected before text is written, masked before it is shown. All of it is linear in the text.

forms.py     patterns: key formats of providers, and the words that precede passwords
judging.py   tells a secret from a hash, a path, code or a placeholder
finding.py   applies both to a text
scanning.py  scans a whole text or a stream, and tracks multi-line private keys
"""

import re
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from outlive.errors import OutliveError
from outlive.secrets.finding import LOOK_BACK_CHARS, Secret
from outlive.secrets.scanning import MAX_HELD_LINE_CHARS, KeyLines, Scan

__all__ = ["KeyLines", "MaskedStream", "Masker", "SecretFound", "find", "mask", "mask_value", "refuse", "shown"]
MIN_VALUE_CHARS = 8
"""Characters of a known value. Shorter values may be ordinary words, whose masking would make a log unreadable."""
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|DSN", re.IGNORECASE)


class SecretFound(OutliveError):
    """A text contains a secret and was not written. The message names the kind, never the value."""


class Masker:
    """Masks texts that look like secrets, and the values of environment variables with names such as API_KEY."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        named = {name: value for name, value in (environment or {}).items() if _SECRET_NAME.search(name)}
        self._known = {
            line.strip(): name
            for name, value in named.items()
            for line in value.splitlines()
            if len(line.strip()) >= MIN_VALUE_CHARS
        }
        self._clean = ("", "")

    def find(self, text: str, *, inside: bool = False) -> list[Secret]:
        """All secrets in a text, in order, without overlaps. `inside`: the text begins within a private key."""
        return Scan(self._values, inside=inside).settle(text, 0, final=True)[0]

    def __call__(self, text: str) -> str:
        """The text with each secret replaced by its kind or its variable. Masking twice changes nothing."""
        if any(text is clean for clean in self._clean):
            return text
        text = shown(text, self.find(text))
        self._clean = (self._clean[-1], text)
        return text

    def lines(self, lines: Sequence[str], of_keys: Container[int] = (), *, longest: int | None = None) -> list[str]:
        """Consecutive lines, masked and then cut to `longest`. `of_keys` are indexes of lines of private keys."""
        text = "\n".join(lines)
        secrets, found, at = deque(self.find(text)), [], 0
        for number, line in enumerate(lines):
            end = len(line) if longest is None else min(len(line), longest)
            here: list[Secret] = []
            while secrets and secrets[0].start <= at + len(line):
                here.append(secrets.popleft())
            if number in of_keys:
                found.append(shown(line, self.find(line, inside=True), 0, end))
            else:
                found.append(shown(text, here, at, at + end))
            at += len(line) + 1
            if here and here[-1].end > at:
                secrets.appendleft(here[-1])
        return found

    def stream(self) -> "MaskedStream":
        return MaskedStream(Scan(self._values), [value for value in self._known if any(map(str.isspace, value))])

    def _values(self, text: str) -> Iterator[Secret]:
        present = [value for value in self._known if value in text]
        if present:
            either = re.compile("|".join(map(re.escape, sorted(present, key=len, reverse=True))))
            for match in either.finditer(text):
                name = self._known[match[0]]
                yield Secret(match.start(), match.end(), name, f"[{name}]")


class MaskedStream:
    """Masks a text that arrives in pieces; the result is the same as for the whole text."""

    def __init__(self, scan: Scan, spaced: Sequence[str] = ()) -> None:
        """`spaced` are known values of several words."""
        self._scan = scan
        self._spaced = spaced
        self._text = ""
        self._start = 0
        self._more: list[str] = []
        self._waiting = 0

    def feed(self, text: str) -> str:
        """Add a piece and return what can be shown now; an unfinished line is held back, within bounds."""
        self._more.append(text)
        self._waiting += len(text)
        ends = "\n" in text or "\r" in text
        return self._settle(final=False) if ends or self._waiting > MAX_HELD_LINE_CHARS else ""

    def release(self) -> str:
        """Return the complete words of the unfinished line."""
        return self._settle(final=False, words=True)

    def finish(self) -> str:
        """Return the rest. More pieces may follow."""
        return self._settle(final=True)

    def _settle(self, *, final: bool, words: bool = False) -> str:
        text = self._text + "".join(self._more)
        upto = self._whole_words(text) if words else 0
        found, end = self._scan.settle(text, self._start, final=final, upto=upto)
        masked = shown(text, found, self._start, end)
        kept = max(0, end - LOOK_BACK_CHARS)
        self._text, self._start, self._more = text[kept:], end - kept, []
        self._waiting = len(text) - end
        return masked

    def _whole_words(self, text: str) -> int:
        """Where the last whole word ends that cannot be the beginning of a known value."""
        end = max(text.rfind(space, self._start) for space in " \t\n") + 1
        for value in self._spaced:
            first = max(self._start, len(text) - len(value) + 1)
            begins = (at for at in range(first, end) if value.startswith(text[at:]))
            end = next(begins, end)
        return end


def shown(text: str, secrets: Iterable[Secret], start: int = 0, end: int | None = None) -> str:
    """The part `text[start:end]` with its secrets masked, including those that cross its ends."""
    end = len(text) if end is None else end
    parts, at = [], start
    for secret in secrets:
        if secret.end > start and secret.start < end:
            parts += [text[at : secret.start], secret.shown]
            at = secret.end
    return "".join([*parts, text[at:end]]) if parts else text[start:end]


def refuse(text: str, what: str) -> None:
    """Raise SecretFound if the text contains a secret; `what` names the thing to be written."""
    kinds = list(dict.fromkeys(secret.kind for secret in find(text)))
    if kinds:
        raise SecretFound(
            f"{what} contains what looks like a secret ({', '.join(kinds)}); it was not written. "
            "Say where the secret is kept instead of the secret"
        )


mask = Masker()
find = mask.find


def mask_value(value: Any, name: str = "", *, by: Callable[[str], str] = mask) -> Any:
    """A JSON value with all strings masked, keys too. Everything below a key such as `password` counts as one."""
    if isinstance(value, str):
        head = f"{name}: "
        masked = by(head + value) if name else ""
        return masked.removeprefix(head) if name and masked.startswith(head) else by(value)
    if isinstance(value, (list, tuple)):
        return type(value)([mask_value(item, name, by=by) for item in value])
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for key, item in value.items():
        masked = unique = by(key) if isinstance(key, str) else key
        number = 1
        while unique in found:  # two keys are equal once masked
            number += 1
            unique = f"{masked} {number}"
        found[unique] = mask_value(item, str(key), by=by)
    return found
