"""One event of a client, and the stores, memories and log that answer it."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from outlive.config import Workspace
    from outlive.memory.memories import Memories
    from outlive.replay.follow import Followed
    from outlive.stores import Stores

    OpenLog = Callable[["HookCall"], AbstractContextManager[Followed]]

LOG_WAIT_SECONDS = 3.0
"""How long to wait for another hook of the same session that is writing."""
LOG_RETRY_SECONDS = 0.05  # hooks hold a log for milliseconds
COMMON_NAMES = {"BeforeAgent": "UserPromptSubmit", "sessionStart": "SessionStart"}
"""What Gemini CLI and Cursor call an event, and what the others call it."""


class ClientAnswer:
    """The answer that the client gets."""

    def __init__(self, context: str = "", message: str = "", replacement: "Any" = None) -> None:
        self.context = context
        """For the model."""
        self.message = message
        """For the user."""
        self.replacement = replacement
        """In place of a tool's result, in the shape of that tool."""


class HookCall:
    """One event of a client, with the stores that its answer needs."""

    def __init__(self, client: str, event: "dict[str, Any]", open_log: "OpenLog | None" = None) -> None:
        """`open_log` opens one of the logs that a server keeps between its calls."""
        self.client = client
        self.event = event
        self._open_log = open_log
        self._keeps_stores = False
        name = str(event.get("hook_event_name"))
        self.name = COMMON_NAMES.get(name, name)
        self.session = str(event.get("session_id") or event.get("conversation_id") or "")

    @cached_property
    def workspace(self) -> "Workspace":
        from outlive.config import Workspace

        roots = self.event.get("workspace_roots")
        folder = self.event.get("cwd") or (roots[0] if isinstance(roots, list) and roots else ".")
        workspace = Workspace.find(Path(str(folder)), for_client=True)
        workspace.remember_apart()
        return workspace

    @cached_property
    def stores(self) -> "Stores":
        from outlive.stores import open_stores

        return open_stores(**self.workspace.store)

    def mask(self) -> Callable[[str], str]:
        from outlive.secrets import Masker

        folders = (self.workspace.root, self.workspace.project)
        if not any(os.path.lexists(folder / ".env") for folder in folders):
            return Masker()
        from outlive.config.dotenv import DotEnv

        return Masker(DotEnv(self.workspace).secrets)

    @contextmanager
    def memories(self) -> Iterator["Memories | None"]:
        """The memories of this workspace; None if there is no folder of them, because opening them takes time."""
        from outlive.config.home import home

        folders = (self.workspace.base / ".memory", home() / "memory")
        if self.workspace.store_url.startswith("files:") and not any(folder.exists() for folder in folders):
            yield None
            return
        from outlive.memory.memories import Memories

        memories = Memories.open(**self.workspace.store, heal=False)
        try:
            yield memories
        finally:
            memories.close()

    @property
    def transcript(self) -> Path:
        return Path(str(self.event.get("transcript_path")))

    @contextmanager
    def log(self) -> Iterator["Followed"]:
        """Our log of the client's session, as it is now. Waits while another hook writes to it."""
        from outlive.stores.logs.protocol import SessionBusy

        with ExitStack() as stack:
            until = time.monotonic() + LOG_WAIT_SECONDS
            while True:
                try:
                    log = stack.enter_context(self._open_log(self) if self._open_log else self.new_log())
                    break
                except SessionBusy:
                    if time.monotonic() > until:
                        raise
                    time.sleep(LOG_RETRY_SECONDS)
            yield log

    def new_log(self) -> "Followed":
        """Our log of the client's session, read from its file. Raises SessionBusy."""
        from outlive.replay.follow import Followed

        folder = str(self.workspace.root)
        return Followed(self.stores.logs, self.client, self.session, folder=folder, mask=self.mask())

    def keep_stores(self) -> None:
        """Leave the stores open after the call."""
        self._keeps_stores = True

    def close(self) -> None:
        """Close the stores, unless a log that is kept open uses them."""
        if "stores" in self.__dict__ and not self._keeps_stores:
            self.stores.close()

    @contextmanager
    def followed(self) -> Iterator["Followed"]:
        """Our log of the client's session, in step with its transcript."""
        with self.log() as log:
            log.follow(self.transcript)
            yield log


def recall_hint(call: HookCall) -> str:
    """How a model reads a handle of this session."""
    from outlive.stores.logs.names import followed_id

    return f"outlive's `recall` tool, or: outlive recall @hN --session {followed_id(call.client, call.session)}"
