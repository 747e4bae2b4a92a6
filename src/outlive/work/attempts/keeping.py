"""Stores work in progress where other machines can get it: a snapshot before the log tells of a change."""

from contextlib import suppress
from typing import Any

from outlive.events import ToolFinished
from outlive.tools.runner import HookAnswer, Hooks
from outlive.tools.toolbox import Toolbox
from outlive.work.attempts.endings import TaskWaits
from outlive.work.attempts.held import HeldTask
from outlive.work.parts import in_thread
from outlive.work.repository.git import GitUnreachable
from outlive.work.repository.worktree import Worktree

MAX_BUNDLE_BYTES = 64 * 2**20
"""Stored in the database, for machines without a remote; above this the task waits for a person."""
_TOO_LARGE = (
    "the repository has {:.0f} MB, and the store takes {:.0f} MB of one: work in progress cannot reach other "
    "machines. Give it a git remote that they share"
)


class WorkInProgress:
    """Stores the files of a held task's worktree."""

    def __init__(self, held: HeldTask, worktree: Worktree) -> None:
        self._held = held
        self._worktree = worktree
        self._changed = False

    def saw(self, happened: object) -> None:
        if isinstance(happened, ToolFinished):
            self.touched()

    def touched(self) -> None:
        """Take note that a call may have changed files."""
        self._changed = True

    async def keep_changes(self) -> None:
        """Store the files if they may have changed. Raises Fenced if another machine has the session now."""
        if self._changed:
            with suppress(GitUnreachable):  # the next one stores it all
                await self.keep()

    async def keep(self, *, take_over: bool = False) -> None:
        """Store everything as it is now. With `take_over`, a process that had the session before is fenced out."""
        held, worktree = self._held, self._worktree
        label = f"Work in progress on task {held.id} by {held.parts.options.owner}, lease {held.token}"
        commit = await in_thread(worktree.take_over if take_over else worktree.snapshot, label)
        self._changed = False
        if commit is None:
            return
        fields: dict[str, Any] = {"wip": commit}
        if held.parts.needs_bundles:
            bundle = await in_thread(worktree.bundle)
            if len(bundle) > MAX_BUNDLE_BYTES:
                raise TaskWaits("too_large", _TOO_LARGE.format(len(bundle) / 2**20, MAX_BUNDLE_BYTES / 2**20))
            fields["bundle"] = await in_thread(held.parts.logs.put_blob, bundle)
        await held.update(**fields)


class KeepingHooks:
    """Fires the user's hooks. What a call has changed is stored before its result is logged, so that no log tells of
    files which are nowhere: a session that goes on elsewhere would not make them again."""

    def __init__(self, hooks: Hooks, keeping: WorkInProgress, toolbox: Toolbox) -> None:
        self._hooks = hooks
        self._keeping = keeping
        self._harmless = {tool.name for tool in toolbox if tool.effect not in ("edit", "run")}

    async def fire(self, event: str, **about: Any) -> HookAnswer:
        answer = await self._hooks.fire(event, **about)
        if event == "PostToolUse" and about["tool"] not in self._harmless:
            self._keeping.touched()
            await self._keeping.keep_changes()
        return answer
