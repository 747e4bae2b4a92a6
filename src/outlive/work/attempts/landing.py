"""Brings the work on a task to the target branch: one at a time, on top of what is there, checked, fast-forward."""

import asyncio
import random

from outlive.agent.runtime import Runtime
from outlive.work.attempts import brief
from outlive.work.attempts.checks import failing
from outlive.work.attempts.endings import TaskWaits
from outlive.work.attempts.held import HeldTask
from outlive.work.parts import in_thread
from outlive.work.repository.git import InTheWay, Moved
from outlive.work.repository.worktree import Worktree

MAX_REPORT_CHARS = 8_000  # it becomes the task's result
PAUSE_SECONDS = 0.5
"""Seconds between two looks at the queue, on average."""


async def land(held: HeldTask, worktree: Worktree, runtime: Runtime, summary: str, *, hold: bool = False) -> str:
    """Land what was changed, if anything was; returns what the agent has to do first, else empty.

    With `hold`, nobody else lands after a conflict until the agent has resolved it: a task that touches what all
    others touch, too, would perhaps never land.
    """
    branch = held.parts.repository.branch
    if names := await in_thread(worktree.unresolved):
        return brief.conflicting(branch, names)
    message = commit_message(held, summary)
    await in_thread(worktree.commit, message)
    key = f"landing:{branch}"
    while key not in held.keys and not await held.take_key(key):
        await asyncio.sleep(PAUSE_SECONDS * random.uniform(0.5, 1.5))
    keeps_key = False
    try:
        checked = await in_thread(lambda: worktree.tree)
        while True:
            if names := await in_thread(worktree.rebase, message):
                keeps_key = hold
                return brief.conflicting(branch, names)
            if not await in_thread(lambda: worktree.ahead):
                if not await in_thread(held.parts.repository.landed, held.record.landing):
                    await held.update(landing="", report="")
                return ""
            tree = await in_thread(lambda: worktree.tree)
            if tree != checked and (wrong := await failing(held, runtime)):
                return brief.failed_checks(wrong)
            checked = tree
            head = await in_thread(lambda: worktree.head)
            await held.update(phase="landing", landing=head, report=summary[:MAX_REPORT_CHARS])
            try:
                await in_thread(worktree.land)
            except Moved:
                await asyncio.sleep(PAUSE_SECONDS * random.random())
                continue
            except InTheWay as error:
                raise TaskWaits("in_the_way", str(error)) from None
            return ""
    finally:
        if not keeps_key:
            await held.let_go(key)


def commit_message(held: HeldTask, summary: str) -> str:
    """Subject of the task, what the agent reported, and where it came from."""
    trailers = f"Task: {held.id}\nSession: {held.record.session}"
    return "\n\n".join(filter(None, [held.task.subject, summary.strip(), trailers]))
