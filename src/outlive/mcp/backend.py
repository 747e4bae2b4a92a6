"""The workspace that a server answers for. Everything is opened when it is first needed, and nothing before."""

import secrets
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from outlive.config import Workspace, default_actor, default_owner
from outlive.errors import OutliveError

if TYPE_CHECKING:
    from outlive.mcp.sessions import Sessions
    from outlive.memory.memories import Memories
    from outlive.memory.search import Finder
    from outlive.secrets import Masker
    from outlive.stores import Stores
    from outlive.tasks.graph import TaskGraph


class Backend:
    """Opens the stores of a workspace. Used by one thread at a time."""

    def __init__(self, *, store: str | None = None, shared: bool = False) -> None:
        self._store = store
        self._shared = shared
        """Several clients use this server, so a claim is proved by its token alone."""
        self._owner = default_owner() or f"mcp-{secrets.token_hex(4)}"
        self.tokens: dict[int, int] = {}
        """Tokens of the tasks that this server's only client holds."""

    def owner(self, *, claiming: bool) -> str:
        """In whose name tasks are worked on."""
        return f"mcp-{secrets.token_hex(4)}" if claiming and self._shared else self._owner

    def holds(self, task: int, token: int) -> None:
        """Remember a claim, unless several clients could use it."""
        if not self._shared:
            self.tokens[task] = token

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

        return Sessions(self.stores.logs, self.workspace.project)

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
