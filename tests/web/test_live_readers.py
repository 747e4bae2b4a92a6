"""A session that many browsers watch: what happens is read and encoded once for all of them."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

from outlive.config import Workspace
from outlive.web.hub import Hub
from outlive.web.live import ServerEvent
from outlive.web.sessions.live import session_messages
from outlive.web.workspaces import ServedWorkspace, Workspaces
from tests.web.made import answer, started

READERS = 20


def test_all_readers_of_a_session_get_the_same_bytes(tmp_path: Path) -> None:
    workspace = ServedWorkspace(Workspace.find(tmp_path))
    workspaces, hub = Workspaces([workspace]), Hub()

    async def read() -> tuple[list[ServerEvent], list[ServerEvent]]:
        def watch() -> AsyncGenerator[ServerEvent, None]:
            return session_messages(workspaces, hub, workspace, "busy", 1)

        readers = [watch() for _ in range(READERS)]
        first = await asyncio.gather(*map(anext, readers))
        await workspaces.run(lambda: answer(session, 1))
        next_ = await asyncio.gather(*map(anext, readers))
        for reader in readers:
            await reader.aclose()
        return first, next_

    with started(tmp_path, "busy") as session:
        answer(session, 0)
        first, after = asyncio.run(read())
        hub.close()
    workspaces.close()
    assert {message.event for message in (*first, *after)} == {"grown"}
    assert all(message.data is after[0].data for message in after)
    assert min(message.id or 0 for message in after) > max(message.id or 0 for message in first)
