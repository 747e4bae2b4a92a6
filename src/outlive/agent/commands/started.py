"""The commands that a session started, according to its log."""

from dataclasses import dataclass, field
from typing import Any

from outlive.events import AssistantSaid, Checkpointed, Event, Forked, Process, ToolFinished, ToolStarted
from outlive.messages import call_label, tool_calls
from outlive.tools.processes.process_table import living

SUBAGENT_LABEL = "subagent"
"""Label of checkpoints that link a sub-agent's session to its parent."""
SHELL_LABEL = "user_shell"
"""Label of the checkpoints that record a command that the user typed, when it starts and when it ends."""


@dataclass(slots=True)
class StartedCommands:
    """Collects commands from the events of one log, undone ones included: a process is not undone."""

    commands: dict[int, tuple[str, str, Process]] = field(default_factory=dict)
    """Process group to (call, label, process)."""
    unanswered: set[str] = field(default_factory=set)
    """Calls of the newest answer that started and have not returned."""
    children: list[str] = field(default_factory=list)
    """Sessions of the sub-agents started since that answer."""
    _labels: dict[str, str] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        match event:
            case AssistantSaid():
                self._labels = {call.id: call_label(call) for call in tool_calls(event.blocks)}
                self.unanswered.clear()
                self.children.clear()
            case ToolStarted():
                self.unanswered.update(event.calls)
                if (process := event.process) is not None:
                    call = event.calls[0]
                    self.commands[process.group] = call, self._labels.get(call, call), process
            case ToolFinished():
                self.unanswered.discard(event.call_id)
            case Checkpointed() if event.label == SUBAGENT_LABEL:
                self.children.append(str(event.data.get("session")))
            case Checkpointed() if event.label == SHELL_LABEL:
                self._user_command(event.data)
            case Forked():
                self.commands.clear()  # they belong to the session that this one was forked from
            case _:
                pass

    def _user_command(self, about: dict[str, Any]) -> None:
        """The start or the end of a command that the user typed."""
        call = str(about.get("call"))
        self._labels[call] = f"!{about.get('command')}"
        if "text" in about:
            self.unanswered.discard(call)

    def runs(self, group: str) -> bool | None:
        """Whether a process group that was started here still runs; None for an unknown group."""
        found = self.commands.get(int(group)) if group.isascii() and group.isdecimal() else None
        return None if found is None else bool(living(found[2]))
