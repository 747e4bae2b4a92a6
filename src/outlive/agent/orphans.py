"""Commands that outlived the process of their session, and what becomes of them."""

import asyncio
from collections.abc import Iterator
from typing import Literal

from outlive.agent.started import StartedCommands
from outlive.errors import StoreError
from outlive.stores.logs.protocol import LogStore
from outlive.tools.processes.orphan import Orphan
from outlive.tools.processes.process_table import mark, running
from outlive.tools.processes.session_commands import Processes

OrphanChoice = Literal["stop", "wait", "adopt"]
"""Adopted, a command is one in the background."""


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
