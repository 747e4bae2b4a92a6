"""Exact text by handle, and search over sessions. Needs only the log, so it works on any session at any time."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from outlive.context.log.history import History
from outlive.context.log.pages import Page, Pages, describe, handle
from outlive.errors import OutliveError
from outlive.events import Event

CONTEXT_CHARS = 100  # on each side of a hit
STEM_CHARS = 5  # words with the same beginning count as the same word when the best line is chosen


class InvalidPattern(OutliveError):
    """A pattern or range is invalid."""


class RecallHit(Struct, frozen=True):
    """A line that was found."""

    session: str
    handle: str
    event: int
    line: int
    what: str
    text: str


def history_of(events: Iterable[Event]) -> History:
    history = History()
    for event in events:
        history.append(event)
    return history


def pages_of(events: Iterable[Event]) -> Pages:
    """All pages of a session. They follow from the log alone, so every reader numbers them alike."""
    return history_of(events).pages


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
            raise InvalidPattern(f"{pattern!r} is not a pattern: {error}") from None
        lines = [line for line in lines if wanted.search(line)]
    return "".join(lines)


def search(session: str, pages: Pages, text: str) -> Iterator[RecallHit]:
    """Every line that contains `text`, ignoring case, newest page first."""
    wanted = text.casefold()
    for page in reversed(list(pages)):
        yield from _in_page(session, page, wanted)


def related(session: str, pages: Pages, text: str, limit: int) -> list[RecallHit]:
    """The pages most related to `text`, for words that share no line; of each page its best line."""
    from outlive.memory.retrieval import Entry, Retriever

    retriever = Retriever(dense=False)
    by_key = {str(page.number): page for page in pages if page.parts}
    retriever.update(Entry(key=key, name="", description="", body=page.text) for key, page in by_key.items())
    stems = [word[:STEM_CHARS] for word in re.findall(r"\w+", text.casefold()) if len(word) > 2]
    return [_best(session, by_key[hit.key], stems) for hit in retriever.search(text, limit)]


def hits_text(session: str, pages: Pages, query: str, limit: int, skip: int = 0) -> str:
    """Lines of a session that match, one a line with its handle: `limit` of them after the first `skip`."""
    end = skip + limit
    found = list(islice(search(session, pages, query), end + 1)) or related(session, pages, query, end)
    rows = [f"{hit.handle} line {hit.line} ({hit.what}): {hit.text}" for hit in found[skip:end]]
    if len(found) > end:
        rows.append(f"(more than {end} lines hold it; recall a handle, or search for more words)")
    return "\n".join(rows)


def _best(session: str, page: Page, stems: list[str]) -> RecallHit:
    """The line that contains the most words, compared by their stems."""
    lines = page.text.split("\n")
    best = max(range(len(lines)), key=lambda n: sum(stem in lines[n].casefold() for stem in stems))
    piece = page.parts[0].piece
    return RecallHit(
        session, handle(page.number), piece.event, best + 1, describe(piece), lines[best][: 2 * CONTEXT_CHARS]
    )


def _in_page(session: str, page: Page, wanted: str) -> Iterator[RecallHit]:
    offset = 0
    for part in page.parts:
        offset += page.shared
        for number, line in enumerate(part.text.split("\n"), start=offset + 1):
            at = line.casefold().find(wanted)
            if at >= 0:
                start = max(0, at - CONTEXT_CHARS)
                shown = line[start : at + len(wanted) + CONTEXT_CHARS]
                yield RecallHit(session, handle(page.number), part.piece.event, number, describe(part.piece), shown)
        offset += part.text.count("\n") + 1
