"""A session as it happens: a stream whose ids are the ids of log events, so that it can go on exactly where it ended.

A reader that begins reads the log itself, once the follower of the log has begun; from then on all readers get the
same messages of the follower. So nothing is missing, whatever the reader had read before. The first of them may begin
before the point to which it has read, and then repeats items that the reader has, as they are now.
"""

from collections.abc import AsyncGenerator

from starlette.requests import Request

from outlive.stores.logs.protocol import UnknownSession
from outlive.web.api import number
from outlive.web.hub import Hub
from outlive.web.live import ServerEvent, messages_of
from outlive.web.sessions.growth import BEGUN, grown
from outlive.web.workspaces import ServedWorkspace, Workspaces


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
            return grown(log, after)

    with hub.log(workspace, session).reader() as mailbox:
        async for message in messages_of(mailbox, lambda message: message):
            told: ServerEvent | None = message
            if message is BEGUN:
                try:
                    told = await workspaces.run(read)
                except UnknownSession:
                    told = ServerEvent({}, "ended")
            elif message.event == "grown" and (message.id or 0) <= after:
                told = None  # it was read before
            if told is not None:
                after = after if told.id is None else told.id
                yield told
