"""Which edits may have made a check fail: those since a check last passed."""

from dataclasses import dataclass, field

from outlive.context.ledger.checks import runs_of
from outlive.context.ledger.shell import command_of, read_line
from outlive.events import ToolFinished
from outlive.messages import ToolCall
from outlive.tools.files.call_diff import call_diff

MAX_EDITS = 50  # the newest edits; a check is usually run long before there are more


@dataclass(slots=True)
class Suspects:
    """Follows the calls of a session."""

    _edits: list[ToolCall] = field(default_factory=list)
    _new: bool = False
    """Whether there are edits that were not shown below a check."""

    def after(self, call: ToolCall, result: ToolFinished) -> tuple[ToolCall, ...]:
        """Take in a finished call; returns the edits to show with it, oldest first. None are shown twice in a row."""
        if not result.is_error and not result.exit_code and call_diff(call):
            self._edits = [*self._edits, call][-MAX_EDITS:]
            self._new = True
        elif result.exit_code is not None and runs_of(read_line(command_of(call))):
            if result.exit_code == 0:
                self._edits = []
            elif self._new:
                self._new = False
                return tuple(self._edits)
        return ()
