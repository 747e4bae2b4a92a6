"""The rules that the library does not have: keys of model providers, passwords in settings and in sentences."""

from collections.abc import Iterator

from outlive.secrets.forms import ASSIGNED, AUTH, AWS, BEARER, BLOCK, KEYS, MESSAGE, NAMES, PHRASE, SPOKEN, URL
from outlive.secrets.judging import (
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
from outlive.secrets.places import Secret, matches, parts, places


def blocks(text: str) -> Iterator[Secret]:
    for match in BLOCK.finditer(text):
        yield Secret(match.start(), match.end(), "private key")


def known(text: str) -> Iterator[Secret]:
    for kind, starts, pattern in KEYS:
        for start in starts:
            if start not in text:
                continue
            for match in matches(pattern, text, places(text, start)):
                if not STAND_IN.fullmatch(match[0]):
                    yield Secret(match.start(), match.end(), kind)


def assigned(text: str, lowered: str) -> Iterator[Secret]:
    """Values of things that are called a password, a token or a key."""
    for match in matches(URL, text, places(text, "://")):
        if not STAND_IN.fullmatch(match[1]):
            yield Secret(match.start(1), match.end(1), "password in a URL")
    for match in matches(AWS, text, places(lowered, "aws")):
        yield Secret(match.start(1), match.end(1), "AWS secret key")
    for scheme in ("bearer", "basic"):
        for match in matches(BEARER, text, places(lowered, scheme)):
            if is_presented(match[1], scheme) and not STAND_IN.fullmatch(match[1]):
                yield Secret(match.start(1), match.end(1), "authorization header")
    for word in ("PASS", "SECRET", "TOKEN"):
        for match in matches(PHRASE, text, places(text, word)):
            if not MESSAGE.search(match["value"]):
                yield Secret(match.start("value"), match.end("value"), "pass phrase")
    yield from _named(text, lowered)


def _named(text: str, lowered: str) -> Iterator[Secret]:
    for name in NAMES:
        if name not in lowered:
            continue
        for match in matches(ASSIGNED, text, places(lowered, name)):
            quoted = bool(match["quote"])
            value = match["value"] if quoted else bare(match["value"])
            said = match["sign"].lower().rstrip(":") in ("is", "was", "ist", "war")
            if is_said(match["name"], value) if said and not quoted else worth_hiding(match["name"], value, quoted):
                start = match.start("value")
                yield Secret(start, start + len(value), "password or key")


def spoken(text: str, lowered: str) -> Iterator[Secret]:
    """What commands and sentences give away without a sign between name and value."""
    for kind, hints, pattern in SPOKEN:
        there = [hint for hint in hints if hint in lowered]
        for start, part in parts(text, (at for hint in there for at in places(lowered, hint))) if there else ():
            for match in pattern.finditer(part):
                group = str(match.lastgroup)
                value = bare(match[group])
                if STAND_IN.fullmatch(value) or PATH.fullmatch(value) or len(value) < 4:
                    continue
                if group == "value" or (is_strong(value) and (group == "strong" or kinds(value) >= 3)):
                    at = start + match.start(group)
                    yield Secret(at, at + len(value), kind)
    for match in matches(AUTH, text, (at for name in ('"auth"', '"_auth"') for at in places(text, name))):
        if holds_a_pair(match[1]):
            yield Secret(match.start(1), match.end(1), "registry login")
