"""The workspace that a server answers for. Each store is opened when it is first needed."""

import os
import secrets
import time
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from outlive.config import Workspace, default_actor, default_owner
from outlive.errors import OutliveError
from outlive.stores.logs.names import followed_id

if TYPE_CHECKING:
    from outlive.mcp.sessions import Sessions
    from outlive.memory.memories import Memories
    from outlive.memory.search import Finder
    from outlive.secrets import Masker
    from outlive.stores import Stores
    from outlive.tasks.graph import TaskGraph

CLAUDE_SESSION = "CLAUDE_CODE_SESSION_ID"
"""Claude Code tells its MCP servers here in which session they were started."""


class Backend:
    """Opens the stores of a workspace. Used by one thread at a time."""

    def __init__(self, *, store: str | None = None, shared: bool = False) -> None:
        self._store = store
        self._shared = shared
        """Several clients use this server, so a claim is proved by its token alone."""
        self._owner = default_owner() or f"mcp-{secrets.token_hex(4)}"
        self.tokens: dict[int, int] = {}
        """Tokens of the tasks that this server's only client holds."""
        self._started = time.time()
        self._asking = ""
        """The id of our log of the session that asks, as far as it is known."""
        self.asked_by("claude-code", os.environ.get(CLAUDE_SESSION))

    def owner(self, *, claiming: bool) -> str:
        """The owner of the tasks that the client claims."""
        return f"mcp-{secrets.token_hex(4)}" if claiming and self._shared else self._owner

    def holds(self, task: int, token: int) -> None:
        """Remember a claim, unless several clients could use it."""
        if not self._shared:
            self.tokens[task] = token

    def asked_by(self, client: str, session: object) -> None:
        """Take note of the session that this server's only client is in now."""
        if not self._shared and isinstance(session, str) and session:
            self._asking = followed_id(client, session)

    def asking_session(self) -> str:
        """The id of our log of the session that asks; empty if it is not known."""
        return self._asking

    @cached_property
    def workspace(self) -> Workspace:
        return Workspace.find(store=self._store)

    @cached_property
    def stores(self) -> "Stores":
        from outlive.stores import open_stores

        return open_stores(**self.workspace.store)

    @cached_property
    def graph(self) -> "TaskGraph":
        from outlive.tasks.graph import TaskGraph

        return TaskGraph(self.stores.tasks, actor=default_actor() or self._owner)

    @cached_property
    def sessions(self) -> "Sessions":
        from outlive.mcp.sessions import Sessions

        return Sessions(self.stores.logs, self.workspace.project, asking=self.asking_session, since=self._started)

    @cached_property
    def memories(self) -> "Memories":
        from outlive.memory.memories import Memories

        return Memories.open(**self.workspace.store, actor=default_actor() or self._owner)

    @cached_property
    def finder(self) -> "Finder":
        from outlive.memory.search import Finder

        return Finder(self.memories)

    @cached_property
    def mask(self) -> "Masker":
        from outlive.config.dotenv import DotEnv
        from outlive.secrets import Masker

        return Masker(DotEnv(self.workspace).secrets)

    def close(self) -> None:
        """Close what was opened."""
        with suppress(OutliveError):
            for name in ("finder", "memories", "stores"):
                if opened := self.__dict__.pop(name, None):
                    opened.close()
