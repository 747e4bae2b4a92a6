"""Commands that outlived the process of their session, and what to do with them."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Literal

from outlive.agent.commands.started import StartedCommands
from outlive.errors import StoreError
from outlive.stores.logs.protocol import LogStore
from outlive.tools.permissions.asking import PermissionQuestion
from outlive.tools.processes.orphan import Orphan
from outlive.tools.processes.process_table import mark, running
from outlive.tools.processes.session_commands import Processes

OrphanChoice = Literal["stop", "wait", "adopt"]
"""`adopt` turns the command into a background command of this session."""


def orphans_of(session: str, started: StartedCommands, logs: LogStore) -> list[Orphan]:
    """Commands that a dead session and its sub-agents left running."""
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


def orphan_question(orphans: Iterable[Orphan]) -> PermissionQuestion:
    """Asks what becomes of commands that still run: yes stops them, no leaves them in the background."""
    subject = "\n".join(f"{orphan.text} (process group {orphan.pid})" for orphan in orphans)
    return PermissionQuestion("still running:", subject, yes="stop it", no="leave it running in the background")


async def became(orphan: Orphan, choice: OrphanChoice, processes: Processes) -> str:
    """Apply the choice to an orphan; return a sentence that says what happened to it."""
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
