"""One attempt at a task: from the claim to its completion, or to the reason why it ended before.

The task's lease, the session's lease, the fence of the repository and the token in the fleet's documents each refuse
an attempt that was replaced, so one that wakes up too late changes nothing.
"""

import asyncio
import time
from contextlib import suppress
from functools import partial
from typing import Any

from outlive.errors import ConfigError, LeaseError, OutliveError, StoreError
from outlive.events import AssistantSaid
from outlive.messages import call_label, tool_calls
from outlive.printable import one_line
from outlive.result import RunResult
from outlive.stores.logs.names import new_session_id
from outlive.stores.logs.protocol import SessionBusy
from outlive.stores.tasks.records import Task
from outlive.work.attempts import brief
from outlive.work.attempts.checks import failing
from outlive.work.attempts.endings import (
    AttemptEnded,
    AttemptStopped,
    LeaseLost,
    TaskCancelled,
    TaskWaits,
    ending_of,
)
from outlive.work.attempts.held import HeldTask
from outlive.work.attempts.keeping import WorkInProgress
from outlive.work.attempts.landing import MAX_REPORT_CHARS, land
from outlive.work.attempts.opening import TaskAgent, open_agent
from outlive.work.attempts.places import open_place
from outlive.work.parts import WorkerParts, in_thread
from outlive.work.repository.git import GitError, GitUnreachable, WorkLost
from outlive.work.repository.worktree import Worktree
from outlive.work.shared.records import PERSON, TaskRun

DEATHS_PER_FAILURE = 3
"""An attempt that died may have died with its machine, so it takes more of them to give up."""
MAX_REASON_CHARS = 500  # of why a task is held; the question itself is kept whole
MAX_ACTIVITY_CHARS = 120  # a line of `outlive fleet`
MAX_ENDING_CHARS = 300  # of an earlier attempt, in the prompt of the next
ANSWERED = {"question": "", "answer": "", "waits_for": (), "failed": 0, "died": 0}
"""What changes in the record once the agent has read an answer."""


class Attempt:
    """Runs once. `stop` and `beat` may be called while it runs."""

    def __init__(self, parts: WorkerParts, task: Task) -> None:
        self.parts = parts
        self.held = HeldTask(parts, task)
        self._beaten = time.monotonic()
        self._activity = ""
        self._worktree: Worktree | None = None
        self._agent: TaskAgent | None = None
        self._keeping: WorkInProgress | None = None
        self._stop: AttemptEnded | None = None
        self._running: asyncio.Task[None] | None = None

    def stop(self, ending: AttemptEnded) -> None:
        """End it soon; the first reason counts."""
        if self._stop is None:
            self._stop = ending
            if self._running is not None:
                self._running.cancel()

    def silent_for(self) -> float:
        """Seconds since the store has last extended the lease."""
        return time.monotonic() - self._beaten

    def beat(self) -> None:
        """Extend what it holds. Blocks. Raises LeaseError or UnknownTask if the task is lost."""
        now, agent = time.monotonic(), self._agent
        if agent is None:
            self.held.beat()
        else:
            with suppress(SessionBusy):  # its next append is refused, too
                agent.runtime.session.renew_lease()
            self.held.beat(activity=self._activity)
        self._beaten = now

    async def run(self) -> str:
        """Work on the task; returns how that ended: `completed`, or a reason."""
        self._running = asyncio.ensure_future(self._whole())
        try:
            await self._running
            return "completed"
        except asyncio.CancelledError:
            if self._stop is None:
                raise
            ending = self._stop
        except Exception as error:  # noqa: BLE001 - a defect ends this attempt, and the reason is seen
            ending = ending_of(error)
            if self._stop is not None and not isinstance(ending, LeaseLost):
                ending = self._stop
        finally:
            await self._let_keys_go()
        try:
            await self._end(ending)
        finally:
            if self._worktree is not None:
                self._worktree.leave()
        return ending.why

    # -- its course

    async def _whole(self) -> None:
        parts, held = self.parts, self.held
        earlier = await held.begin()
        if earlier.question and not earlier.answer:
            raise TaskWaits("asks", earlier.question)
        is_landed = await in_thread(parts.repository.landed, earlier.landing)
        if is_landed:
            await self._complete(earlier.report, earlier.landing)
            return
        self._refuse_to_go_on_for_ever()
        worktree = await self._open_worktree(earlier)
        keeping = self._keeping = WorkInProgress(held, worktree)
        await keeping.keep(take_over=True)
        agent = self._agent = await in_thread(open_agent, held, keeping, worktree.path)
        agent.runtime.watch(self._saw)
        async with agent.closing():
            words = await self._words(agent, worktree, earlier)
            result = await self._work(agent, worktree, keeping, words)
            await self._complete(result, self.held.record.landing, worktree)

    def _refuse_to_go_on_for_ever(self) -> None:
        run, limit = self.held.record, self.parts.options.attempts
        if run.failed < limit and run.died < limit * DEATHS_PER_FAILURE:
            return
        ends = "\n".join(
            f"- {end.at:%Y-%m-%d %H:%M} {end.worker}: {one_line(f'{end.why}: {end.text}', MAX_ENDING_CHARS)}"
            for end in run.endings
        )
        raise TaskWaits(
            "gave_up", f"{run.failed} attempts failed and {run.died} died; what shall be done? The last ones:\n{ends}"
        )

    async def _open_worktree(self, earlier: TaskRun) -> Worktree:
        """The worktree of the task's session: the one on this machine, else a new one with the stored files."""
        parts, held = self.parts, self.held
        session = earlier.session or new_session_id(time.time())
        new = parts.options.worktrees / f"task-{held.id}-{session}.{held.token}"
        try:
            base = earlier.base or await in_thread(parts.repository.tip)
            await held.update(session=session, base=base)
            opening = partial(open_place, parts.repository, parts.logs, earlier, new, session=session, base=base)
            self._worktree = tree = await in_thread(opening)
        except GitUnreachable:
            raise
        except WorkLost as error:
            await held.update(wip="", bundle="")
            raise TaskWaits("work_lost", f"{error}. With your answer it begins again") from None
        except (GitError, ConfigError) as error:  # whatever the task is, this checkout cannot begin it
            raise AttemptStopped("checkout", str(error)) from None
        await held.update(worktree=str(tree.path))
        return tree

    async def _words(self, agent: TaskAgent, worktree: Worktree, earlier: TaskRun) -> str:
        """What to say to the agent; nothing means that it goes on in the middle of its turn."""
        parts, task = self.parts, self.held.task
        others = {number: await in_thread(parts.graph.get, number) for number in task.depends_on}
        if agent.is_new:
            before = list(others.values())
            return brief.task_words(task, before, parts.repository.branch, parts.options.checks)
        if self.held.record.died > earlier.died:
            agent.runtime.session.note(brief.moved(parts.machine, earlier.machine))
        if earlier.answer:
            return brief.answered(earlier.question, earlier.answer)
        if earlier.waits_for:
            done = brief.parts_done(others[number] for number in earlier.waits_for if number in others)
            return "\n\n".join(filter(None, [done, await self._catch_up(worktree)]))
        if agent.runtime.unfinished:
            return ""
        last = earlier.endings[-1] if earlier.endings else None
        return brief.go_on(task, f"{last.why} {last.text}" if last else "")

    async def _catch_up(self, worktree: Worktree) -> str:
        """Bring what others have landed into the worktree; returns what the agent has to resolve."""
        message = f"Work in progress on task {self.held.id}"
        await in_thread(worktree.commit, message)
        names = await in_thread(worktree.rebase, message)
        return brief.conflicting(self.parts.repository.branch, names) if names else ""

    async def _work(self, agent: TaskAgent, worktree: Worktree, keeping: WorkInProgress, words: str) -> str:
        """Run the agent, check and land, and again with what was wrong, until the work has landed; returns what the
        agent said last."""
        for left in reversed(range(self.parts.options.rounds + 1)):
            result = await self._run(agent, keeping, words)
            await self.held.update(phase="checking")
            if wrong := await failing(self.held, agent.runtime):
                words, why = brief.failed_checks(wrong), "checks"
            else:
                hold = left == 1
                words, why = await land(self.held, worktree, agent.runtime, result.text, hold=hold), "landing"
            if not words:
                return result.text
            if not left:
                break
            await self.held.update(phase="working")
        raise AttemptEnded(why, words)

    async def _run(self, agent: TaskAgent, keeping: WorkInProgress, words: str) -> RunResult:
        """Run the agent to the end of its turn. Raises how the attempt ends if it is not done."""
        result = await agent.say(words)
        await keeping.keep_changes()
        record, held = self.held.record, self.held
        if record.answer or record.waits_for:
            await held.update(**ANSWERED)
        await in_thread(agent.costs.settle)
        if agent.person.question:
            raise TaskWaits("asks", agent.person.question)
        if result.limit == agent.costs.name:
            raise AttemptStopped("budget", result.detail)
        if result.stop_reason != "done":
            raise AttemptEnded(result.limit or result.stop_reason, result.detail)
        task = await in_thread(self.parts.graph.get, held.id)
        if task.blocked_by:
            await held.update(waits_for=task.blocked_by)
            raise AttemptStopped("split", f"waits for {', '.join(f'#{number}' for number in task.blocked_by)}")
        return result

    async def _complete(self, text: str, landed: str, worktree: Worktree | None = None) -> None:
        held = self.held
        result = "\n\n".join(filter(None, [text[:MAX_REPORT_CHARS], f"commit {landed}" if landed else ""]))
        done = await in_thread(
            partial(self.parts.graph.complete, held.id, token=held.token, result=result or "no changes")
        )
        with suppress(LeaseError, StoreError):  # the graph says that it is done
            await held.update(phase="done", activity="")
        if worktree is not None:
            with suppress(GitError):  # the next look at old worktrees finds it
                await in_thread(worktree.remove)
        unblocked = [task.id for task in done.unblocked]
        self.parts.log.say("completed", task=held.id, commit=landed, unblocked=unblocked)

    # -- its end

    async def _end(self, ending: AttemptEnded) -> None:
        """Keep what was done, say why it ended, and give the task back. What is lost is left alone."""
        held, graph = self.held, self.parts.graph
        self.parts.log.say("ended", task=held.id, why=ending.why, text=ending.text)
        if isinstance(ending, LeaseLost):
            return
        try:
            if self._agent is not None:
                await in_thread(self._agent.costs.settle)
            if self._keeping is not None:
                await self._keeping.keep()
        except (OutliveError, OSError) as error:
            self.parts.log.say("not_kept", task=held.id, text=str(error))
        try:
            if isinstance(ending, TaskCancelled):
                await held.end(ending.why, ending.text, counts=False, phase="cancelled")
            elif isinstance(ending, TaskWaits):
                waiting: dict[str, Any] = {"phase": "waiting", "question": ending.text}
                await held.end(ending.why, ending.text, counts=False, **waiting)
                reason = ending.text[:MAX_REASON_CHARS]
                await in_thread(partial(graph.hold, held.id, owner=PERSON, token=held.token, reason=reason))
            else:
                await held.end(ending.why, ending.text, counts=ending.counts)
                await in_thread(partial(graph.release, held.id, token=held.token))
        except (OutliveError, OSError) as error:  # the lease expires, and the next attempt sees that
            self.parts.log.say("not_given_back", task=held.id, text=str(error))

    async def _let_keys_go(self) -> None:
        for name in tuple(self.held.keys):
            with suppress(StoreError):
                await self.held.let_go(name)

    def _saw(self, happened: object) -> None:
        if isinstance(happened, AssistantSaid) and (calls := list(tool_calls(happened.blocks))):
            self._activity = call_label(calls[-1])[:MAX_ACTIVITY_CHARS]
