"""The list of sessions: the newest first, with summaries; sub-agents below the session that started them."""

import time

import msgspec

from outlive.stores.logs.names import parent_of
from outlive.stores.logs.protocol import LogStore, SessionInfo
from outlive.web.sessions.summary import SessionSummary, Summaries, printable

MOST_CHILDREN = 50
"""Sub-agents of a session that are listed."""
BUDGET_SECONDS = 1.0
"""For reading logs in one answer. A session whose log was not read yet has its summary in a later answer."""


class ListedSession(msgspec.Struct, frozen=True):
    """A session with its sub-agents, the newest first."""

    info: SessionInfo
    summary: SessionSummary | None
    subagents: "tuple[ListedSession, ...]" = ()
    more_subagents: int = 0


class SessionPage(msgspec.Struct, frozen=True):
    """A part of the list."""

    total: int
    sessions: list[ListedSession]
    left_out: list[str]
    """What could not be read as a session."""
    incomplete: bool
    """Whether summaries are missing, for which there was no time."""


def list_sessions(store: LogStore, summaries: Summaries, words: str, skip: int, limit: int) -> SessionPage:
    """Sessions whose first words, id, folder or goal hold `words`, also those of a sub-agent."""
    everything = store.sessions()
    known = {info.id for info in everything}
    children: dict[str, list[SessionInfo]] = {}
    for info in everything:
        if (parent := parent_of(info.id)) in known:
            children.setdefault(parent, []).append(info)

    def matches(info: SessionInfo) -> bool:
        return words.casefold() in f"{info.title}\n{info.id}\n{info.folder}\n{summaries.goal(info.id)}".casefold()

    top = [info for info in everything if parent_of(info.id) not in known]
    found = [info for info in top if matches(info) or any(map(matches, children.get(info.id, ())))]
    deadline = time.monotonic() + BUDGET_SECONDS

    def listed(info: SessionInfo) -> ListedSession:
        own = children.get(info.id, [])
        summary = summaries.listed(info, may_read=time.monotonic() < deadline)
        below = tuple(map(listed, own[:MOST_CHILDREN]))
        return ListedSession(printable(info), summary, below, max(0, len(own) - MOST_CHILDREN))

    rows = list(map(listed, found[skip : skip + limit]))
    incomplete = any(row.summary is None or any(one.summary is None for one in row.subagents) for row in rows)
    return SessionPage(len(found), rows, store.left_out(), incomplete)
