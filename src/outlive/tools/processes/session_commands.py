"""The commands of a session, in the foreground and in the background. All end with the session."""

from threading import Thread

from outlive.tools.errors import ToolError
from outlive.tools.processes.command import RunningCommand
from outlive.tools.processes.orphan import Orphan

MAX_BACKGROUND = 32
"""Background commands at once."""


class Processes:
    """Tracks the commands that still run, with or without a handle."""

    def __init__(self) -> None:
        self._running: set[RunningCommand | Orphan] = set()
        self._handles: dict[str, RunningCommand | Orphan] = {}

    def add(self, command: RunningCommand) -> None:
        """The command ends with the session, if not before."""
        ended = {other for other in self._running if not (other.running or other.left_behind)}
        for other in ended:
            other.forget()
        self._running -= ended
        self._running.add(command)

    def check_room(self) -> None:
        """Raise ToolError if too many commands run in the background."""
        running = [handle for handle, command in self._handles.items() if command.running]
        if len(running) >= MAX_BACKGROUND:
            raise ToolError(
                f"{MAX_BACKGROUND} commands run in the background already: {', '.join(running)}; end one of them"
            )

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
