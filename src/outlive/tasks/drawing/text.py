"""Text in pictures: measured, shortened, wrapped."""

import unicodedata
from collections.abc import Callable, Iterator

Measure = Callable[[str], float]

ELLIPSIS = "…"
_JOINER = "\u200d"
_EMOJI_FORM = "\ufe0f"
_NARROW = frozenset("iljtfrI.,:;'|!()[]{}/\\` ")
_BROAD = frozenset("mwMW@%")


def cells(text: str) -> int:
    """Return the number of terminal columns that the text takes."""
    if text.isascii():
        return len(text)
    return sum(1 if part == _EMOJI_FORM else _cells(part) for part in _visible(text))


def pixels(text: str) -> float:
    """Estimate the width in a sans-serif font of size 1; errors are on the wide side."""
    return sum(_em(part) for part in _visible(text))


def shorten(text: str, room: float, measure: Measure = cells) -> str:
    """Cut the text with an ellipsis if it does not fit."""
    if measure(text) <= room:
        return text
    kept, used = 0, measure(ELLIPSIS)
    for end in range(1, len(text) + 1):
        used += measure(text[end - 1 : end])
        if used > room:
            break
        kept = end
    while kept and measure(text[:kept] + ELLIPSIS) > room:
        kept -= 1
    return text[:kept].rstrip(" " + _JOINER) + ELLIPSIS


def wrap(text: str, room: float, lines: int, measure: Measure = cells) -> list[str]:
    """Split the text into at most `lines` lines; the last one is cut if it does not fit."""
    result: list[str] = []
    rest = text
    while rest and len(result) < lines - 1 and measure(rest) > room:
        line = _fitting(rest, room, measure)
        result.append(line.rstrip())
        rest = rest[len(line) :].lstrip()
    return [*result, shorten(rest, room, measure)] if rest else result


def _fitting(text: str, room: float, measure: Measure) -> str:
    """Return the longest prefix that fits, ending at a word boundary if possible; at least one character."""
    used = 0.0
    word_end = 0
    for place, char in enumerate(text):
        if char == " ":
            word_end = place
        before = text[max(place - 1, 0) : place]  # what a character adds depends on the one before it
        used += measure(before + char) - measure(before)
        if used > room:
            place -= char == _EMOJI_FORM  # it belongs to the character before it
            return text[: word_end or max(place, 1)]
    return text


def _visible(text: str) -> Iterator[str]:
    """Yield the characters that take room, without combining marks and joined characters."""
    before, widens = "", False
    for char in text:
        if char == _EMOJI_FORM:
            visible = widens
        else:
            visible = before != _JOINER and unicodedata.category(char) not in ("Mn", "Me", "Cf")
        if visible:
            yield char
        widens = visible and char != _EMOJI_FORM and _cells(char) == 1
        before = char


def _cells(char: str) -> int:
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _em(char: str) -> float:
    if char == _EMOJI_FORM:
        return 0.5
    if not char.isascii():
        wide = unicodedata.east_asian_width(char)
        return (1.35 if ord(char) > 0xFFFF else 1.0) if wide in ("W", "F") else 0.68
    if char in _NARROW:
        return 0.34
    if char in _BROAD:
        return 0.92
    return 0.7 if char.isupper() else 0.58
