"""The list of sessions: the newest first, sub-agents below the session that started them."""

import msgspec

from outlive.stores.logs.names import parent_of
from outlive.stores.logs.protocol import LogStore, SessionInfo

MOST_CHILDREN = 50
"""Sub-agents of a session that are listed."""


class ListedSession(msgspec.Struct, frozen=True):
    """A session with its sub-agents, the newest first."""

    info: SessionInfo
    subagents: tuple[SessionInfo, ...] = ()
    more_subagents: int = 0


def list_sessions(store: LogStore, words: str, skip: int, limit: int) -> dict[str, object]:
    """Sessions whose first words, id or folder hold `words`; a sub-agent's bring the session that started it."""
    everything = store.sessions()
    known = {info.id for info in everything}
    children: dict[str, list[SessionInfo]] = {}
    for info in everything:
        if (parent := parent_of(info.id)) in known:
            children.setdefault(parent, []).append(info)
    top = [info for info in everything if parent_of(info.id) not in known]
    found = [
        info
        for info in top
        if _matches(info, words) or any(_matches(one, words) for one in children.get(info.id, ()))
    ]
    listed = []
    for info in found[skip : skip + limit]:
        own = children.get(info.id, [])
        listed.append(ListedSession(info, tuple(own[:MOST_CHILDREN]), max(0, len(own) - MOST_CHILDREN)))
    return {"total": len(found), "sessions": listed, "left_out": store.left_out()}


def _matches(info: SessionInfo, words: str) -> bool:
    return words.casefold() in f"{info.title}\n{info.id}\n{info.folder}".casefold()
