"""Secrets by their form and by the words around them. No rule looks across more than the end of one line."""

import re
from collections.abc import Callable, Iterator

import msgspec

from outlive.secrets.forms import (
    ASSIGNED,
    AUTH,
    AWS,
    BEFORE,
    MESSAGE,
    NAMES,
    PHRASE,
    SAID,
    SHORTEST_KEY,
    TOKEN,
    URL,
    VALUE,
    Form,
    SpokenValue,
    beginnings,
    marked,
)
from outlive.secrets.judging import (
    ORDINARY,
    PATH,
    STAND_IN,
    bare,
    holds_a_pair,
    is_presented,
    is_said,
    is_strong,
    kinds,
    worth_hiding,
)

JUDGED = 256
"""Characters of a value that decide whether it is a secret; the rest of it is hidden with them."""
LONGEST_FORM = 1_024
"""Characters after which a key is one, however long it goes on."""
LOOK_BACK = 1_200
"""Characters before a secret that may have a say in whether it is one."""
_ESCAPES = (("\r", "\n"), ("\\n", "  "), ("\\r", "  "), ("\\t", "  "), ('\\"', '""'))


class Secret(msgspec.Struct, frozen=True):
    """Where a secret is in a text, and what it looks like."""

    start: int
    end: int
    kind: str
    label: str | None = None
    """Shown in its place, when not its kind."""

    @property
    def shown(self) -> str:
        return f"[masked {self.kind}]" if self.label is None else self.label


def plain(text: str) -> str:
    """The text with escapes of JSON as the white space and the quotes that they mean, letter for letter as long."""
    for escape, meaning in _ESCAPES:
        if escape in text:
            text = text.replace(escape, meaning)
    return text


def by_form(text: str, start: int) -> Iterator[Secret]:
    """Bare keys that begin at `start` or later."""
    if SHORTEST_KEY.search(text, start) is None:
        return
    begins, groups = beginnings()
    done = start
    for hit in begins.finditer(text, start):
        if hit.start() < done:
            continue
        for form in groups[hit[0]]:
            if text.startswith(form.mark, hit.start()) and (end := _key_end(text, hit.start(), form)):
                yield Secret(hit.start(), end, form.kind)
                done = end
                break
    for form in marked():
        for at in _places(text, form.mark, start):
            for begin in (at - length for length in form.lengths if at - length >= start):
                head = _tried(form.head.fullmatch, text, begin, at)
                if head and not text[begin - 1 : begin].isalnum() and (end := _key_end(text, at, form)):
                    yield Secret(begin, end, form.kind)


def _key_end(text: str, at: int, form: Form) -> int:
    """Where a key ends whose mark is here, or 0. Words and stand-ins are not keys."""
    begin = at + len(form.mark)
    match = _tried(form.rest.match, text, begin, begin + LONGEST_FORM)
    if match is None:
        return 0
    key = text[at : min(match.end(), at + JUDGED)]
    if ORDINARY.fullmatch(key) or STAND_IN.fullmatch(key):
        return 0
    whole = _tried(form.rest.match, text, begin) if match.end() == begin + LONGEST_FORM else match
    return (whole or match).end()


def by_words(text: str, lowered: str, start: int) -> Iterator[Secret]:
    """Values of what is called a password, a token or a key. `start` is where names are looked for from."""
    yield from _in_urls(text, start)
    yield from _in_headers(text, lowered, start)
    for at in _places(lowered, "aws", start):
        if not text[at - 1 : at].isalnum() and (match := _tried(AWS.match, text, at + 3)):
            yield Secret(match.start(1), match.end(1), "AWS secret key")
    for at in (at for word in ("PASS", "SECRET", "TOKEN") for at in _places(text, word, start)):
        if (match := _tried(PHRASE.match, text, at)) and not MESSAGE.search(match["value"]):
            yield Secret(match.start("value"), match.end("value"), "pass phrase")
    yield from _assigned(text, lowered, start)
    for rule in SAID:
        yield from _said(rule, text, lowered, start)


def _in_urls(text: str, start: int) -> Iterator[Secret]:
    for at in _places(text, "://", start):
        if (match := _tried(URL.match, text, at)) and not STAND_IN.fullmatch(match[1][:JUDGED]):
            yield Secret(match.start(1), match.end(1), "password in a URL")


def _in_headers(text: str, lowered: str, start: int) -> Iterator[Secret]:
    for scheme in ("bearer", "basic"):
        for at in _places(lowered, scheme, start):
            if not text[at - 1 : at].isalnum() and (match := _tried(TOKEN.match, text, at)):
                value = match[1][:JUDGED]
                if is_presented(value, scheme) and not STAND_IN.fullmatch(value):
                    yield Secret(match.start(1), match.end(1), "authorization header")
    for at in (at for name in ('"auth"', '"_auth"') for at in _places(text, name, start)):
        if (match := _tried(AUTH.match, text, at)) and holds_a_pair(match[1]):
            yield Secret(match.start(1), match.end(1), "registry login")


def _assigned(text: str, lowered: str, start: int) -> Iterator[Secret]:
    for name in NAMES:
        done = start
        for at in _places(lowered, name, start):
            if at < done or not (head := _tried(ASSIGNED.match, text, at)) or _in_label(text, at):
                continue
            value = _tried(VALUE.match, text, head.end(), head.end() + JUDGED)
            quoted = bool(head["quote"])
            if value is None or (
                quoted and len(value[0]) < JUDGED and not text.startswith(head["quote"], value.end())
            ):
                continue
            done = value.end()
            known = value[0] if quoted else bare(value[0])
            told = not quoted and head["sign"].lower().rstrip(":") in ("is", "was", "ist", "war")
            if is_said(head["name"], known) if told else worth_hiding(head["name"], known, quoted):
                long = len(value[0]) == JUDGED and _tried(VALUE.match, text, head.end())
                done = long.end() if long else head.end() + len(known)
                yield Secret(head.end(), done, "password or key")


def _said(rule: SpokenValue, text: str, lowered: str, start: int) -> Iterator[Secret]:
    for at in (at for hint in rule.hints for at in _places(lowered, hint, start)):
        found = _tried(rule.after.match, text, at)
        if found and rule.before:
            line = max(0, at - BEFORE, text.rfind("\n", max(0, at - BEFORE), at) + 1)
            before = _tried(rule.before.match, text, line, at)
            found = found if before and found.lastgroup else before  # in some the value comes first
        if found is None or found.lastgroup is None or _in_label(text, at):
            continue
        begin, end = found.span(found.lastgroup)
        value = bare(text[begin : min(end, begin + JUDGED)])
        if STAND_IN.fullmatch(value) or PATH.fullmatch(value) or len(value) < 4:
            continue
        if found.lastgroup == "value" or (is_strong(value) and (found.lastgroup == "strong" or kinds(value) >= 3)):
            yield Secret(begin, end if end - begin > JUDGED else begin + len(value), rule.kind)


def _in_label(text: str, at: int) -> bool:
    """Whether this is a part of what masking put in the place of a secret."""
    begins = text.rfind("[masked ", max(0, at - 40), at)
    return begins >= 0 and "]" not in text[begins:at]


def _places(text: str, hint: str, start: int) -> Iterator[int]:
    at = text.find(hint, start)
    while at >= 0:
        yield at
        at = text.find(hint, at + len(hint))


def _tried(attempt: Callable[..., re.Match[str] | None], text: str, *where: int) -> re.Match[str] | None:
    """Every pattern is tried through here."""
    return attempt(text, *where)
