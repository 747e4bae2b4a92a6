"""The commands that a session started, according to its log."""

from dataclasses import dataclass, field

from outlive.events import AssistantSaid, Checkpointed, Event, Forked, Process, ToolFinished, ToolStarted
from outlive.messages import call_label, tool_calls
from outlive.tools.processes.process_table import living

SUBAGENT_LABEL = "subagent"
"""Label of checkpoints that link a sub-agent's session to its parent."""


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
            case Forked():
                self.commands.clear()  # they belong to the session that this one was forked from
            case _:
                pass

    def runs(self, group: str) -> bool | None:
        """Whether a process group that was started here still runs; None for an unknown group."""
        found = self.commands.get(int(group)) if group.isascii() and group.isdecimal() else None
        return None if found is None else bool(living(found[2]))
