"""Forks: a session whose log begins with a reference to another session's log; nothing is copied."""

import time
from collections.abc import Callable

from outlive.context.errors import ContextError
from outlive.events import Forked
from outlive.stores.logs.names import is_shortened, new_session_id
from outlive.stores.logs.protocol import LogStore
from outlive.stores.logs.reading import full_log


class CannotFork(ContextError):
    """The event to fork at does not exist, or the name cannot be used."""


def fork(
    store: LogStore, session: str, *, at: int = 0, name: str = "", clock: Callable[[], float] = time.time
) -> str:
    """Start a session that continues another one from event `at` (default: its last). Returns the new id."""
    events = full_log(store, session).events
    last = events[-1].id if events else 0
    at = at or last
    if not events or not events[0].id <= at <= last:
        raise CannotFork(f"session {session!r} has no event {at}; its last is {last}")
    new = name or new_session_id(clock())
    if is_shortened(new):
        raise CannotFork(f"{new[:40]!r}… is too long for the name of a session")
    with store.create(new) as writer:
        writer.append([Forked(id=at + 1, time=clock(), parent=at, session=session, at=at)])
    return new
