"""A session as it happens: a stream whose ids are the ids of log events, so that it can go on exactly where it ended.

A message holds all items and columns that are new or other since the one before. It is made from the log itself, read
after the reader was registered, so nothing is missing and nothing comes twice, whatever the reader had read before.
"""

from collections.abc import AsyncGenerator

from starlette.requests import Request

from outlive.stores.logs.protocol import UnknownSession
from outlive.web.api import number
from outlive.web.hub import Hub
from outlive.web.live import KEEP_ALIVE_SECONDS, ServerEvent
from outlive.web.sessions.served_log import ServedLog
from outlive.web.workspaces import ServedWorkspace, Workspaces

LOOK_AGAIN_SECONDS = 1.0
"""What was written before the follower of the log had begun wakes nobody, so the log is read again after this."""
MOST_ITEMS = 300
"""In one message; a reader that is further behind reads the newest page again."""


def resumed_after(request: Request) -> int:
    """The last event that the reader knows: by its own account, or by the browser's when it connects again."""
    given = request.headers.get("last-event-id", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 17 else number(request, "after")


async def session_messages(
    workspaces: Workspaces, hub: Hub, workspace: ServedWorkspace, session: str, after: int
) -> AsyncGenerator[ServerEvent, None]:
    """What happens in a session after an event, until the server ends."""

    def read() -> ServerEvent | None:
        with workspace.session_logs.open(session) as log:
            return _message(log, after)

    silent = 0.0
    with hub.log(workspace, session).reader() as mailbox:
        while True:
            try:
                message = await workspaces.run(read)
            except UnknownSession:
                yield ServerEvent({}, "ended")
                return
            if message is not None:
                after = message.id or 0
                yield message
            found = await mailbox.next(LOOK_AGAIN_SECONDS)
            if found is None:
                yield ServerEvent({}, "behind" if mailbox.overflowed else "ended")
                return
            silent = 0.0 if found else silent + LOOK_AGAIN_SECONDS
            if silent >= KEEP_ALIVE_SECONDS:
                silent = 0.0
                yield ServerEvent({}, "alive")


def _message(log: ServedLog, after: int) -> ServerEvent | None:
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
    return ServerEvent(data, "grown", last)
