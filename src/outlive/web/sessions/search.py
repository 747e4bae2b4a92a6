"""Words in all logs of a workspace: the newest session first, as far as a budget of time goes, and on from there."""

import time
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from outlive.context.log.pieces import call_text
from outlive.errors import OutliveError
from outlive.events import AssistantSaid, Event, GoalSet, Noted, ToolFinished, UserQueued, UserSaid
from outlive.messages import Text, Thinking, ToolCall
from outlive.printable import one_line
from outlive.stores.logs.protocol import LogStore, SessionInfo
from outlive.web.api import bad_request
from outlive.web.sessions.summary import LONGEST_TITLE

BUDGET_SECONDS = 1.5  # then the page shows what there is, and the search goes on from there if asked to
MOST_HITS = 40  # of one answer
HITS_OF_SESSION = 5  # so that one long session does not fill the page
AROUND = 90  # characters before a hit, and twice as many after
LONGEST_QUERY = 200  # each log is searched for each word


class LogHit(msgspec.Struct, frozen=True):
    """An event that holds all words."""

    session: str
    title: str
    event: int
    time: float
    kind: str
    text: str
    more: bool = False
    """Whether the session has more places than are shown; at its last one."""


class LogSearchPage(msgspec.Struct, frozen=True):
    """What was found, and how far the search got."""

    hits: tuple[LogHit, ...]
    searched: int
    """Sessions that were read, those of earlier pages included."""
    total: int
    skipped: tuple[str, ...]
    """Sessions that cannot be read, and why."""
    next: str | None
    """Where to go on; None when all were read."""


def search_sessions(store: LogStore, query: str, start: str = "") -> LogSearchPage:
    """`start`: the `next` of an earlier page."""
    words = query[:LONGEST_QUERY].casefold().split()
    sessions = sorted(store.sessions(), key=_place)
    after = _parsed(start)
    todo = [info for info in sessions if after is None or _place(info) > after]
    hits: list[LogHit] = []
    skipped: list[str] = []
    deadline = time.monotonic() + BUDGET_SECONDS
    done = len(sessions) - len(todo)
    last: SessionInfo | None = None
    for info in todo if words else ():
        if last is not None and (len(hits) >= MOST_HITS or time.monotonic() > deadline):
            break
        try:
            hits += _hits(store, info, words)
        except OutliveError as error:
            skipped.append(one_line(str(error), 200))
        done += 1
        last = info
    more = _encoded(last) if last is not None and done < len(sessions) else None
    return LogSearchPage(tuple(hits), done, len(sessions), tuple(skipped), more)


def _place(info: SessionInfo) -> tuple[float, str]:
    return -info.updated, info.id


def _encoded(info: SessionInfo) -> str:
    return f"{info.updated!r} {info.id}"


def _parsed(start: str) -> tuple[float, str] | None:
    if not start:
        return None
    updated, _, id = start.partition(" ")
    try:
        return -float(updated), id
    except ValueError:
        raise bad_request("from must be the `next` of an earlier answer") from None


def _hits(store: LogStore, info: SessionInfo, words: list[str]) -> list[LogHit]:
    """The newest events of a session that hold all words."""
    found: list[LogHit] = []
    for event in reversed(store.read(info.id).events):
        for kind, text in _texts(event):
            folded = text.casefold()
            if all(word in folded for word in words):
                if len(found) == HITS_OF_SESSION:
                    return [*found[:-1], replace(found[-1], more=True)]
                around = _around(text, folded.find(words[0]))
                found.append(LogHit(info.id, one_line(info.title, LONGEST_TITLE), event.id, event.time, kind, around))
                break
    return found


def _around(text: str, at: int) -> str:
    start = max(0, at - AROUND)
    shown = one_line(text[start : at + 2 * AROUND], 3 * AROUND)
    return f"…{shown}" if start else shown


def _texts(event: Event) -> Iterator[tuple[str, str]]:
    match event:
        case UserSaid() | AssistantSaid():
            own = "user" if isinstance(event, UserSaid) else "assistant"
            for block in event.blocks:
                match block:
                    case Text() | Thinking():
                        yield own, block.text
                    case ToolCall():
                        yield "call", call_text(block)
                    case _:
                        pass
        case ToolFinished():
            yield "result", event.text
        case Noted() | UserQueued():
            yield "note", event.text
        case GoalSet():
            yield "goal", event.goal
        case _:
            pass
