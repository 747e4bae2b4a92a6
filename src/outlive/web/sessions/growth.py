"""How a session grows: what is new or other since an event, read and encoded once for all who watch."""

import threading
from collections.abc import Callable

import msgspec

from outlive.web.live import ServerEvent
from outlive.web.sessions.served_log import ServedLog
from outlive.web.workspaces import ServedWorkspace

FOLLOW_SECONDS = 0.1
"""Between two looks at a log."""
MOST_ITEMS = 300
"""In one message; a reader that is further behind reads the newest page again."""


BEGUN = ServerEvent({}, "begun")
"""The first message of a follower: from now on it sends whatever comes."""


def follow(
    workspace: ServedWorkspace, session: str, stop: threading.Event, send: Callable[[ServerEvent], None]
) -> None:
    """Send what happens in a session until `stop` is set."""
    logs = workspace.session_logs
    with logs.kept(session):
        with logs.open(session) as log:
            last = log.talk.last_event
        send(BEGUN)
        while not stop.wait(FOLLOW_SECONDS):
            with logs.open(session) as log:
                message, last = grown(log, last), log.talk.last_event
            if message is not None:
                send(message)


def grown(log: ServedLog, after: int) -> ServerEvent | None:
    """All items and columns that are new or other since an event; None if there are none."""
    last = log.talk.last_event
    if last == after:
        return None
    items = log.talk.changed(after, MOST_ITEMS) if after < last else None
    if items is None:  # far behind, or the log was put in place again
        return ServerEvent({"last_event": last}, "reload", last)
    data = {
        "last_event": last,
        "items": items,
        "columns": log.window.since(after),
        "taken_back": log.talk.taken_back,
    }
    return ServerEvent(msgspec.Raw(msgspec.json.encode(data)), "grown", last)
