"""Commands that a session started, by its log, and what becomes of those that outlived its process."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from outlive.errors import StoreError
from outlive.events import AssistantSaid, Checkpointed, Event, Forked, Process, ToolFinished, ToolStarted
from outlive.messages import call_label, tool_calls
from outlive.stores.logs.protocol import LogStore
from outlive.tools.processes.orphan import Orphan
from outlive.tools.processes.process_table import living, mark, running
from outlive.tools.processes.session_commands import Processes

OrphanChoice = Literal["stop", "wait", "adopt"]
"""Adopted, a command is one in the background."""


LINK = "subagent"
"""Checkpoints of this label say which session works for which."""


@dataclass(slots=True)
class StartedCommands:
    """Takes in the events of one log, those that were taken back as well: a process is not undone."""

    commands: dict[int, tuple[str, str, Process]] = field(default_factory=dict)
    """By process group: the call, what it is in a few words, and the process."""
    unanswered: set[str] = field(default_factory=set)
    """Calls of the newest answer that started and have not come back."""
    children: list[str] = field(default_factory=list)
    """Sessions of the sub-agents that were sent since that answer."""
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
            case Checkpointed() if event.label == LINK:
                self.children.append(str(event.data.get("session")))
            case Forked():
                self.commands.clear()  # they belong to the session that this one was forked from
            case _:
                pass

    def runs(self, group: str) -> bool | None:
        """Whether a group that was started here still runs; None when none of that number was."""
        found = self.commands.get(int(group)) if group.isascii() and group.isdecimal() else None
        return None if found is None else bool(living(found[2]))


def orphans_of(session: str, started: StartedCommands, logs: LogStore) -> list[Orphan]:
    """What a session that died left running, and after it what its sub-agents did."""
    found = list(_living(session, started))
    for child in started.children:
        theirs = StartedCommands()
        try:
            for event in logs.read(child).events:
                theirs.take(event)
        except StoreError:  # its log was never written, or cannot be read
            continue
        found += _living(child, theirs)
    return found


def _living(session: str, started: StartedCommands) -> Iterator[Orphan]:
    groups = {row.group for row in running()}
    for call, what, process in started.commands.values():
        unanswered = call in started.unanswered
        if unanswered or process.group in groups:
            orphan = Orphan(call, what, process, mark(session, call), unanswered=unanswered)
            if orphan.running:
                yield orphan


async def became(orphan: Orphan, choice: OrphanChoice, processes: Processes) -> str:
    """Do with it what was chosen; a sentence that says what became of it."""
    where = f"{orphan.text} (process group {orphan.pid})"
    if choice == "adopt":
        return (
            f"{where} still runs, as {processes.keep(orphan)}: bash_output says when it has ended, and ends it with "
            "kill. Do not start it a second time"
        )
    if choice == "wait":
        await orphan.finished()
        return f"{where} ran on, was waited for and has ended; its output and its exit code are lost"
    await asyncio.to_thread(orphan.end)
    if orphan.running:
        return f"{where} still runs and could not be stopped"
    return f"{where} was still running when the session was resumed, and was stopped then"
