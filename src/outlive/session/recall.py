"""Exact text by handle, and search over sessions. Reads the log alone, so it works on any session at any time."""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from outlive.context.pages import Page, Pages, describe, handle
from outlive.context.past import Past
from outlive.errors import OutliveError
from outlive.events import Event

AROUND = 100


class BadPattern(OutliveError):
    """A pattern or range that makes no sense."""


class Hit(Struct, frozen=True):
    """One line that was found."""

    session: str
    handle: str
    event: int
    line: int
    what: str
    text: str


def pages_of(events: Iterable[Event]) -> Pages:
    """All pages of a session. They depend on the log alone, so every reader numbers them alike."""
    past = Past()
    for event in events:
        past.append(event)
    return past.pages


def lines_of(text: str, span: tuple[int, int] | None = None, pattern: str = "") -> str:
    """A part of a text: lines A to B, counted from 1, and of these the ones that match. Line ends stay."""
    if span is None and not pattern:
        return text
    lines = text.splitlines(keepends=True)
    if span is not None:
        lines = lines[span[0] - 1 : span[1]]
    if pattern:
        try:
            wanted = re.compile(pattern)
        except re.error as error:
            raise BadPattern(f"--grep {pattern!r} is not a pattern: {error}") from None
        lines = [line for line in lines if wanted.search(line)]
    return "".join(lines)


def search(session: str, pages: Pages, text: str) -> Iterator[Hit]:
    """Every line that holds `text`, whatever its case, the newest page first."""
    wanted = text.casefold()
    for number in range(len(pages), 0, -1):
        yield from _in_page(session, pages.get(number), wanted)


def _in_page(session: str, page: Page, wanted: str) -> Iterator[Hit]:
    offset = 0
    for part in page.parts:
        offset += page.shared
        for number, line in enumerate(part.text.split("\n"), start=offset + 1):
            at = line.casefold().find(wanted)
            if at >= 0:
                start = max(0, at - AROUND)
                shown = line[start : at + len(wanted) + AROUND]
                yield Hit(session, handle(page.number), part.piece.event, number, describe(part.piece), shown)
        offset += part.text.count("\n") + 1
