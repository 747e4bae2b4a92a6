"""Work in progress is kept outside of the machine: a snapshot after each batch of edits."""

import asyncio
from contextlib import suppress
from typing import Any

from outlive.events import ToolFinished
from outlive.work.attempts.held import HeldTask
from outlive.work.parts import in_thread
from outlive.work.repository.git import GitUnreachable
from outlive.work.repository.worktree import Worktree

PAUSE_SECONDS = 2.0
"""Seconds between two snapshots at least."""


class WorkInProgress:
    """Keeps the worktree of a held task. Use `watching` while its agent runs."""

    def __init__(self, held: HeldTask, worktree: Worktree) -> None:
        self._held = held
        self._worktree = worktree
        self._changed = asyncio.Event()
        self._lock = asyncio.Lock()

    def saw(self, happened: object) -> None:
        """Look again soon if the agent may have changed files."""
        if isinstance(happened, ToolFinished):
            self._changed.set()

    async def run(self) -> None:
        """Keep what changes until cancelled. Raises Fenced if another machine has the session now."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            with suppress(GitUnreachable):  # the next one stores it all
                await self.keep()
            await asyncio.sleep(PAUSE_SECONDS)

    async def keep(self, *, take_over: bool = False) -> None:
        """Store everything as it is now. With `take_over`, whoever had the session can store nothing more."""
        held, worktree = self._held, self._worktree
        async with self._lock:
            label = f"Work in progress on task {held.id} by {held.parts.options.owner}, lease {held.token}"
            commit = await in_thread(worktree.take_over if take_over else worktree.snapshot, label)
            if commit is None:
                return
            fields: dict[str, Any] = {"wip": commit}
            if held.parts.needs_bundles:
                bundle = await in_thread(worktree.bundle)
                fields["bundle"] = await in_thread(held.parts.logs.put_blob, bundle)
            await held.update(**fields)
