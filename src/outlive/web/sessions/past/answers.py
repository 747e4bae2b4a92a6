"""Answers that need the engine: the view at a request, a pass. The engine has followed the log and is locked."""

from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import asdict
from starlette.requests import Request

from outlive.context.log.pages import handle
from outlive.events import Compacted
from outlive.web.api import HttpProblem, number
from outlive.web.sessions.past.kept_lines import kept_lines
from outlive.web.sessions.past.pairs import RowPair, sent_pairs
from outlive.web.sessions.past.passes import PassComparison, compare
from outlive.web.sessions.past.replay import replayed, rows_before
from outlive.web.sessions.past.rows import ViewRow, sent
from outlive.web.sessions.receipt_kinds import receipt_kinds
from outlive.web.sessions.served_log import ServedLog
from outlive.web.sessions.texts import text_page

T = TypeVar("T")
ROWS, MOST_ROWS = 100, 400
MOST_LEFT = 1_000
"""Units that are named of those that left in a pass, the largest first."""
MOST_CACHED = 8  # answers; moving along the timeline asks for the same ones again


def _cached(cache: "OrderedDict[int, object]", key: int, make: Callable[[], T]) -> T:
    """What was made for an event. Events do not change, so it stays true."""
    if key not in cache:
        cache[key] = make()
        if len(cache) > MOST_CACHED:
            cache.popitem(last=False)
    cache.move_to_end(key)
    return cache[key]  # type: ignore[return-value] # each kind of thing has a cache of its own


def view_answer(log: ServedLog, request: Request) -> object:
    """The view at a request, counted from 1, or the newest."""
    columns = log.window.columns
    asked = number(request, "request", len(columns))
    if not 1 <= asked <= len(columns):
        raise HttpProblem(404, f"there is no request {asked}; there were {len(columns)}", code="unknown_request")
    column = columns[asked - 1]
    rows = _view(log, column.event)
    skip, limit = number(request, "skip"), number(request, "limit", ROWS, most=MOST_ROWS)
    kinds: dict[str, int] = {}
    for row in rows:
        kinds[row.kind] = kinds.get(row.kind, 0) + row.tokens
    return {
        "request": asked,
        "requests": len(columns),
        "event": column.event,
        "time": column.time,
        "tokens": column.tokens,
        "counted": column.counted,
        "estimated": sum(kinds.values()),
        "kinds": kinds,
        "total": len(rows),
        "rows": [sent(row, skip + at) for at, row in enumerate(rows[skip : skip + limit])],
        "next": skip + limit if skip + limit < len(rows) else None,
    }


def _view(log: ServedLog, event: int) -> list[ViewRow]:
    def make() -> list[ViewRow]:
        taken_back = log.talk.taken_back.covers(event)
        return rows_before(log.events, event) if taken_back else log.past.rows_before(event)

    return _cached(log.past.views, event, make)


def view_row_text(log: ServedLog, request: Request) -> object:
    """A row of a view as a whole, as the model was shown it."""
    rows = _view(log, log.event(number(request, "event")).id)
    at = number(request, "row")
    if at >= len(rows):
        raise HttpProblem(404, f"the view has {len(rows)} rows", code="unknown_row")
    return text_page(rows[at].text, number(request, "from"))


def _comparison(log: ServedLog, request: Request) -> PassComparison:
    event = _pass(log, request)

    def make() -> PassComparison:
        return compare(log.events, log.past, event, taken_back=log.talk.taken_back.covers(event.id))

    return _cached(log.past.comparisons, event.id, make)


def _pass(log: ServedLog, request: Request) -> Compacted:
    event = log.event(int(request.path_params["event"]))
    if not isinstance(event, Compacted):
        raise HttpProblem(404, f"event {event.id} is not a pass", code="unknown_pass")
    return event


def pass_answer(log: ServedLog, request: Request) -> object:
    """Receipt, what left, and the first rows of the view before and after."""
    found = _comparison(log, request)
    event, receipt = found.event, found.event.receipt
    before, after = receipt_kinds(event)
    largest = sorted(found.left, key=lambda unit: unit["after"] - unit["before"])[:MOST_LEFT]  # type: ignore[operator]
    return {
        "event": event.id,
        "time": event.time,
        "focus": event.focus[:1000],
        "undone": log.talk.taken_back.holds(event.id),
        "newest": log.past.newest_pass == event.id,
        "receipt": asdict(receipt)
        | {"handles": [handle(page) for page in receipt.handles], "kinds_before": before, "kinds_after": after},
        "left": sorted(largest, key=lambda unit: unit["unit"]),  # type: ignore[arg-type,return-value]
        "left_total": len(found.left),
    }


def pass_rows(log: ServedLog, request: Request) -> object:
    """A page of the view before and after, side by side."""
    found = _comparison(log, request)
    limit = number(request, "limit", ROWS, most=MOST_ROWS)
    return sent_pairs(found.pairs, number(request, "skip"), limit, request.query_params.get("change", ""))


def pass_row_text(log: ServedLog, request: Request) -> object:
    """A block before or after a pass as a whole, as the model was shown it."""
    pairs = _comparison(log, request).pairs
    at = number(request, "row")
    pair = pairs[at] if at < len(pairs) else RowPair("same", None, None)
    row = pair.after if request.query_params.get("side") == "after" else pair.before
    if row is None:
        raise HttpProblem(404, f"the pass has no such row; it has {len(pairs)}", code="unknown_row")
    return text_page(row.text, number(request, "from"))


def kept_in_pass(log: ServedLog, request: Request) -> object:
    """Which lines a pass kept, and why."""
    event = _pass(log, request)
    return _cached(log.past.kept, event.id, lambda: kept_lines(replayed(log.events, event.id), event))
