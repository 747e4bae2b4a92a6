"""The commands of a session, in the foreground and in the background. All end with the session."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from threading import Thread

from outlive.events import Process
from outlive.secrets import Masker, mask
from outlive.tools.errors import ToolError
from outlive.tools.permissions.sandbox import Launch
from outlive.tools.processes.command import RunningCommand
from outlive.tools.processes.orphan import Orphan
from outlive.tools.processes.output import Spool
from outlive.tools.processes.process_table import MARK
from outlive.tools.processes.programs import careful

PROVIDER_KEYS = frozenset({"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"})
"""Hidden from commands: these keys pay for the model."""
MOST = 32
"""Background commands at once."""
SPOOLS = ".task_outputs/commands"


class Processes:
    """Starts commands and tracks those that still run. `mask` masks their output before it is kept or shown."""

    def __init__(self, *, mask: Masker = mask) -> None:
        self._mask = mask
        self._running: set[RunningCommand | Orphan] = set()
        self._handles: dict[str, RunningCommand | Orphan] = {}

    def start(
        self,
        launch: Launch,
        text: str,
        root: Path,
        *,
        marked: str,
        timeout: float | None,
        live: Callable[[bytes], None] | None,
        record: Callable[[Process], object],
    ) -> RunningCommand:
        """Run a command in `root` until it ends or the session does, with or without a handle.

        Its environment is `marked`; `record` is called with its process before it does anything.
        """
        ended = {command for command in self._running if not (command.running or command.left_behind)}
        for gone in ended:
            gone.forget()
        self._running -= ended
        shown = {name: value for name, value in os.environ.items() if name not in PROVIDER_KEYS}
        command = RunningCommand(
            launch,
            text=text,
            cwd=root,
            env=careful(shown) | {MARK: marked},
            timeout=timeout,
            spool=Spool(root / SPOOLS / f"{secrets.token_hex(6)}.txt"),
            mask=self._mask,
            live=live,
            record=record,
        )
        self._running.add(command)
        return command

    def check_room(self) -> None:
        """Raise ToolError if too many commands run in the background."""
        running = [handle for handle, command in self._handles.items() if command.running]
        if len(running) >= MOST:
            raise ToolError(f"{MOST} commands run in the background already: {', '.join(running)}; end one of them")

    def keep(self, command: RunningCommand | Orphan) -> str:
        """Give the command a handle; it ends with the session."""
        self._running.add(command)
        handle = f"bg{len(self._handles) + 1}"
        self._handles[handle] = command
        return handle

    def get(self, handle: str) -> RunningCommand | Orphan:
        """The command of a handle. Raises ToolError with the known handles."""
        command = self._handles.get(handle.strip())
        if command is None:
            known = ", ".join(self._handles)
            raise ToolError(
                f"there is no command {handle!r} in this session; "
                + (f"the handles are: {known}" if known else "none was started in the background")
            )
        return command

    @property
    def background(self) -> dict[str, RunningCommand | Orphan]:
        """All commands with a handle, running or not."""
        return dict(self._handles)

    def close(self) -> None:
        """End everything that still runs."""
        ending = [Thread(target=command.end) for command in self._running if command.running or command.left_behind]
        for thread in ending:
            thread.start()
        for thread in ending:
            thread.join()
        for command in self._running:
            command.forget()
        self._running.clear()
