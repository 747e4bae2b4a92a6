"""The channels of a server: changes of each workspace, and the growth of each log that somebody reads."""

from collections.abc import AsyncGenerator, Callable

from outlive.web.changes import Change, watch
from outlive.web.live import Channel, ServerEvent, messages_of
from outlive.web.sessions.growth import follow
from outlive.web.workspaces import ServedWorkspace


class Hub:
    """All channels of a server."""

    def __init__(self) -> None:
        self._changes: dict[str, Channel[Change]] = {}
        self._logs: dict[tuple[str, str], Channel[ServerEvent]] = {}
        self._on_close: list[Callable[[], None]] = []

    def changes(self, workspace: ServedWorkspace) -> Channel[Change]:
        """What changes in the stores of a workspace."""
        name = f"changes of {workspace.name}"
        return self._changes.setdefault(
            workspace.id, Channel(lambda *given: watch(workspace, *given), name, greets=True)
        )

    async def change_messages(self, workspace: ServedWorkspace) -> AsyncGenerator[ServerEvent, None]:
        """`{"what": "tasks"}` and the like, after a first message that the watch has begun."""
        with self.changes(workspace).reader() as mailbox:
            async for message in messages_of(mailbox, _change_message):
                yield message

    def log(self, workspace: ServedWorkspace, session: str) -> Channel[ServerEvent]:
        """What happens in a session, from the moment somebody reads it."""
        name = f"log of {session}"
        key = workspace.id, session
        return self._logs.setdefault(
            key, Channel(lambda *given: follow(workspace, session, *given), name, greets=True)
        )

    def on_close(self, end: Callable[[], None]) -> None:
        """Call this when the server ends, for streams that are not channels."""
        self._on_close.append(end)

    def close(self) -> None:
        for end in self._on_close:
            end()
        for changes in self._changes.values():
            changes.close()
        for log in self._logs.values():
            log.close()


def _change_message(change: Change) -> ServerEvent:
    return ServerEvent(change, "changed") if change.what else ServerEvent({}, "watching")
