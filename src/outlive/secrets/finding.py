"""Secrets by their format and by the words around them. No rule looks beyond the next line."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from outlive.secrets import forms, judging

JUDGED_CHARS = 256
"""Characters of a value that decide whether it is a secret; all of it is masked."""
MAX_MATCHED_CHARS = 1_024
"""Characters of a key that are matched before it counts as one, however long it is."""
LOOK_BACK_CHARS = 1_200
"""Characters before a secret that rules may look at."""
_ESCAPES = (("\r", "\n"), ("\\n", "  "), ("\\r", "  "), ("\\t", "  "), ('\\"', '""'))


class Secret(NamedTuple):
    """The place of a secret in a text, and its kind."""

    start: int
    end: int
    kind: str
    label: str | None = None
    """The replacement, if it is not the kind."""

    @property
    def shown(self) -> str:
        return f"[masked {self.kind}]" if self.label is None else self.label


def plain(text: str) -> str:
    """The text with JSON escapes replaced by white space and quotes of the same length."""
    for escape, meaning in _ESCAPES:
        if escape in text:
            text = text.replace(escape, meaning)
    return text


def by_form(text: str, start: int) -> Iterator[Secret]:
    """Keys with a format of their own that begin at `start` or later."""
    if forms.MIN_KEY.search(text, start) is None:
        return
    begins, groups = forms.beginnings()
    done = start
    for hit in begins.finditer(text, start):
        if hit.start() < done:
            continue
        for form in groups[hit[0]]:
            if text.startswith(form.mark, hit.start()) and (end := _key_end(text, hit.start(), form)):
                yield Secret(hit.start(), end, form.kind)
                done = end
                break
    for form in forms.marked():
        for at in _places(text, form.mark, start):
            for begin in (at - length for length in form.lengths if at - length >= start):
                head = _tried(form.head.fullmatch, text, begin, at)
                if head and not text[begin - 1 : begin].isalnum() and (end := _key_end(text, at, form)):
                    yield Secret(begin, end, form.kind)


def _key_end(text: str, at: int, form: forms.Form) -> int:
    """The end of the key whose mark is at `at`; 0 for ordinary words and placeholders."""
    begin = at + len(form.mark)
    match = _tried(form.rest.match, text, begin, begin + MAX_MATCHED_CHARS)
    if match is None:
        return 0
    key = text[at : min(match.end(), at + JUDGED_CHARS)]
    if judging.ORDINARY.fullmatch(key) or judging.PLACEHOLDER.fullmatch(key):
        return 0
    whole = _tried(form.rest.match, text, begin) if match.end() == begin + MAX_MATCHED_CHARS else match
    return (whole or match).end()


def by_words(text: str, lowered: str, start: int) -> Iterator[Secret]:
    """Values after a name such as password, token or key. Names are searched from `start`."""
    for at in _places(text, "://", start):
        if (match := _tried(forms.URL.match, text, at)) and not judging.PLACEHOLDER.fullmatch(
            match[1][:JUDGED_CHARS]
        ):
            yield Secret(match.start(1), match.end(1), "password in a URL")
    yield from _in_headers(text, lowered, start)
    for at in _places(lowered, "aws", start):
        if not text[at - 1 : at].isalnum() and (match := _tried(forms.AWS.match, text, at + 3)):
            yield Secret(match.start(1), match.end(1), "AWS secret key")
    for at in (at for word in ("PASS", "SECRET", "TOKEN") for at in _places(text, word, start)):
        if (match := _tried(forms.PHRASE.match, text, at)) and not forms.MESSAGE.search(match["value"]):
            yield Secret(match.start("value"), match.end("value"), "pass phrase")
    yield from _assigned(text, lowered, start)
    for rule in forms.SPOKEN:
        yield from _spoken(rule, text, lowered, start)


def _in_headers(text: str, lowered: str, start: int) -> Iterator[Secret]:
    for scheme in ("bearer", "basic"):
        for at in _places(lowered, scheme, start):
            if not text[at - 1 : at].isalnum() and (match := _tried(forms.TOKEN.match, text, at)):
                value = match[1][:JUDGED_CHARS]
                if judging.is_presented(value, scheme) and not judging.PLACEHOLDER.fullmatch(value):
                    yield Secret(match.start(1), match.end(1), "authorization header")
    for at in (at for name in ('"auth"', '"_auth"') for at in _places(text, name, start)):
        if (match := _tried(forms.AUTH.match, text, at)) and judging.holds_a_pair(match[1]):
            yield Secret(match.start(1), match.end(1), "registry login")


def _assigned(text: str, lowered: str, start: int) -> Iterator[Secret]:
    for name in forms.NAMES:
        done = start
        for at in _places(lowered, name, start):
            if at < done or not (head := _tried(forms.ASSIGNED.match, text, at)) or _in_label(text, at):
                continue
            value = _tried(forms.VALUE.match, text, head.end(), head.end() + JUDGED_CHARS)
            quoted = bool(head["quote"])
            if value is None or (
                quoted and len(value[0]) < JUDGED_CHARS and not text.startswith(head["quote"], value.end())
            ):
                continue
            done = value.end()
            known = value[0] if quoted else judging.bare(value[0])
            in_prose = not quoted and head["sign"].lower().rstrip(":") in ("is", "was", "ist", "war")
            if (
                judging.is_said(head["name"], known)
                if in_prose
                else judging.worth_hiding(head["name"], known, quoted)
            ):
                long = len(value[0]) == JUDGED_CHARS and _tried(forms.VALUE.match, text, head.end())
                done = long.end() if long else head.end() + len(known)
                yield Secret(head.end(), done, "password or key")


def _spoken(rule: forms.SpokenValue, text: str, lowered: str, start: int) -> Iterator[Secret]:
    for at in (at for hint in rule.hints for at in _places(lowered, hint, start)):
        found = _tried(rule.after.match, text, at)
        if found and rule.before:
            line = max(
                0, at - forms.CHARS_BEFORE_HINT, text.rfind("\n", max(0, at - forms.CHARS_BEFORE_HINT), at) + 1
            )
            before = _tried(rule.before.match, text, line, at)
            found = found if before and found.lastgroup else before  # some rules have the value first
        if found is None or found.lastgroup is None or _in_label(text, at):
            continue
        begin, end = found.span(found.lastgroup)
        value = judging.bare(text[begin : min(end, begin + JUDGED_CHARS)])
        if judging.PLACEHOLDER.fullmatch(value) or judging.PATH.fullmatch(value) or len(value) < 4:
            continue
        mixed = found.lastgroup == "strong" or judging.kinds(value) >= 3
        if found.lastgroup == "value" or (mixed and judging.is_strong(value)):
            yield Secret(begin, end if end - begin > JUDGED_CHARS else begin + len(value), rule.kind)


def _in_label(text: str, at: int) -> bool:
    """Whether this is inside the replacement of a masked secret."""
    begins = text.rfind("[masked ", max(0, at - 40), at)
    return begins >= 0 and "]" not in text[begins:at]


def _places(text: str, hint: str, start: int) -> Iterator[int]:
    at = text.find(hint, start)
    while at >= 0:
        yield at
        at = text.find(hint, at + len(hint))


def _tried(attempt: Callable[..., re.Match[str] | None], text: str, *where: int) -> re.Match[str] | None:
    """Every pattern match goes through here, so that a test can count them."""
    return attempt(text, *where)
