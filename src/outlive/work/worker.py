"""A worker: claims ready tasks into its slots, says that it is alive, and ends without losing anything."""

import asyncio
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta

from msgspec.structs import replace

from outlive.errors import ConfigError, LeaseError, NothingReady, OutliveError, UnknownTask
from outlive.stores.tasks.protocol import Fit
from outlive.stores.tasks.records import Task
from outlive.tasks.waiting import until
from outlive.work.attempts.attempt import Attempt
from outlive.work.attempts.endings import AttemptEnded, AttemptStopped, LeaseLost, TaskCancelled
from outlive.work.parts import WorkerParts, in_thread
from outlive.work.reaper import reap
from outlive.work.shared.budgets import TaskCosts, spent_labels
from outlive.work.shared.keys import LABEL as KEY
from outlive.work.shared.keys import keys_of
from outlive.work.shared.records import WorkerRecord
from outlive.work.shared.schedules import LABEL as SCHEDULE
from outlive.work.shared.schedules import make_due

WAIT_SECONDS = 2.0
"""How long one look for a ready task takes at most; a worker that is to end waits for it."""
SETTLE_SECONDS = 1.0
"""Between two looks at whether held tasks were cancelled, however often the store changes."""
FIRST_PAUSE, MAX_PAUSE = 2.0, 120.0
"""Seconds without claims after something outside of the task has failed."""
OUTSIDE = ("model", "remote", "store", "checkout")
"""Endings that are no fault of the task: the next task would meet the same."""
FORGET_AFTER = timedelta(days=1)
"""A worker that was killed is shown for this long."""
REAP_SECONDS = 3600.0  # leftovers cost disk space only
THREADS, THREADS_PER_SLOT = 8, 4
"""At most; they are made when they are needed."""
MAX_READY_LOOKED_AT = 200  # their labels are read before each claim; later ones come once these are taken


class Worker:
    """Runs once. `drain` and `stop` may be called from signal handlers of the event loop."""

    def __init__(self, parts: WorkerParts) -> None:
        self.parts = parts
        self._running: dict[asyncio.Task[str], Attempt] = {}
        self._idle, self._broke = "", ""
        """Why there was nothing to take: the code of an error, or the budget that is spent."""
        self._drain_by: float | None = None
        self._pause, self._paused_until = 0.0, 0.0
        self._heard = time.monotonic()
        self._woken = asyncio.Event()
        self._closing = False
        parts.metrics.gauges = self._gauges

    def drain(self, grace: float | None = None) -> None:
        """Take no more tasks, and give up after `grace` seconds those that are not finished."""
        seconds = self.parts.options.grace if grace is None else grace
        by = time.monotonic() + seconds
        if self._drain_by is None or by < self._drain_by:
            if self._drain_by is None:
                self.parts.log.say("draining", tasks=len(self._running), grace=f"{seconds:g}s")
            self._drain_by = by
        self._woken.set()

    async def run(self) -> str:
        """Work until it is drained; returns `drained`, `empty`, `budget`, or `stuck` if the tasks that are left
        wait for something else."""
        # Slots that wait for a remote must not keep signs of life from being given.
        threads = ThreadPoolExecutor(THREADS + THREADS_PER_SLOT * self.parts.options.slots, "worker")
        asyncio.get_running_loop().set_default_executor(threads)
        await in_thread(self._enroll)
        beats = asyncio.ensure_future(self._beat())
        listening = asyncio.ensure_future(self._listen())
        try:
            return await self._drain_the_graph()
        finally:
            self._closing = True
            for attempt in self._running.values():
                attempt.stop(AttemptStopped("stopped", "the worker has ended"))
            if self._running:
                await asyncio.wait(self._running)
            for task in (beats, listening):
                task.cancel()
            await asyncio.gather(beats, listening, return_exceptions=True)
            with suppress(OutliveError):
                await in_thread(reap, self.parts)
                await in_thread(self._sign_off)

    # -- claiming

    async def _drain_the_graph(self) -> str:
        parts, reaped = self.parts, -REAP_SECONDS
        while True:
            self._gather()
            if self._drain_by is not None:
                if not self._running:
                    return "drained"
                await self._wait(max(0.0, self._drain_by - time.monotonic()))
                if time.monotonic() >= self._drain_by:
                    for attempt in self._running.values():
                        attempt.stop(AttemptStopped("drained", "the worker was asked to end"))
                    await asyncio.wait(self._running)
                continue
            if time.monotonic() - reaped > REAP_SECONDS:
                reaped = time.monotonic()
                await in_thread(reap, parts)
            if (pause := self._paused_until - time.monotonic()) > 0 or len(self._running) >= parts.options.slots:
                await self._wait(pause if pause > 0 else None)
                continue
            if task := await self._claim():
                attempt = Attempt(parts, task)
                parts.log.say("claimed", task=task.id, subject=task.subject)
                self._running[asyncio.ensure_future(attempt.run())] = attempt
            elif not self._running:
                if parts.budget.exceeded():
                    return "budget"
                if parts.options.until_empty and (ended := await in_thread(self._is_over)):
                    return ended

    async def _claim(self) -> Task | None:
        """Claim a task; waits a while for one. None if there is none."""
        try:
            patience = 0.0 if self.parts.options.until_empty and not self._running else WAIT_SECONDS
            return await in_thread(until, self.parts.graph.store, self._take_or_leave, patience)
        except NothingReady:  # it was asked to end meanwhile
            return None
        except OutliveError as error:
            self.parts.log.say("store_failed", text=str(error))
            self._rest()
            return None

    def _take_or_leave(self) -> Task | None:
        if self._drain_by is not None or self._closing:
            raise NothingReady("the worker takes no more tasks")
        return self._take()

    def _take(self) -> Task | None:
        parts, options = self.parts, self.parts.options
        broke, self._broke = self._broke, parts.budget.exceeded() or TaskCosts(parts.board, 0, ()).exceeded(0.0)
        if self._broke:
            if not broke:
                parts.log.say("paused", why="budget", text=self._broke)
            return None
        make_due(parts.board, parts.graph)
        without = (*parts.keys.full(), *spent_labels(parts.board))
        fit = Fit(options.labels, self._capabilities(), without)
        try:
            task = parts.graph.claim(owner=options.owner, ttl=options.lease, fit=fit)
        except NothingReady as error:
            self._idle = error.code
            return None
        assert task.lease is not None  # noqa: S101 - it was claimed just now
        holder = f"{task.id}:{task.lease.token}"
        taken = [name for name in keys_of(task.labels) if parts.keys.take(name, holder)]
        if len(taken) == len(keys_of(task.labels)):
            return task
        for name in taken:
            parts.keys.release(name, holder)
        parts.graph.release(task.id, token=task.lease.token)
        return None

    def _capabilities(self) -> tuple[str, ...] | None:
        """What the worker can do, with the labels that are no demand on it."""
        able = self.parts.options.capabilities
        if able is None:
            return None
        ready = self.parts.graph.ready(Fit(self.parts.options.labels), limit=MAX_READY_LOOKED_AT)
        labels = {label for task in ready for label in task.labels if label.startswith((KEY, SCHEDULE))}
        return (*able, *sorted(labels))

    def _is_over(self) -> str:
        """Whether nothing is left that a worker could still do."""
        try:
            task = self._take()
        except OutliveError:
            return ""
        if task is not None:
            assert task.lease is not None  # noqa: S101 - it was claimed just now
            self.parts.graph.release(task.id, token=task.lease.token)
            return ""
        if self._broke:
            return "budget"
        if self._idle in ("nothing_open", "no_tasks"):
            return "empty"
        working = any(task.lease for task in self.parts.graph.find() if task.status == "in_progress")
        return "stuck" if not working and self._idle in ("all_blocked", "nothing_ready_yet", "nothing_fits") else ""

    def _gather(self) -> None:
        """Take note of attempts that have ended."""
        for running in [each for each in self._running if each.done()]:
            attempt = self._running.pop(running)
            if running.cancelled():
                continue
            if (error := running.exception()) is not None:
                self.parts.log.say("crashed", task=attempt.held.id, text=f"{type(error).__name__}: {error}")
                self._rest()
            elif running.result() in OUTSIDE:
                self._rest()
            else:
                self._pause = 0.0

    def _rest(self) -> None:
        self._pause = min(MAX_PAUSE, max(FIRST_PAUSE, self._pause * 2))
        self._paused_until = time.monotonic() + self._pause

    async def _wait(self, seconds: float | None) -> None:
        """Wait until an attempt ends, somebody calls, or the time is over."""
        self._woken.clear()
        woken = asyncio.ensure_future(self._woken.wait())
        try:
            await asyncio.wait([*self._running, woken], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            woken.cancel()

    # -- signs of life

    def _enroll(self) -> None:
        """Put the worker on the board. Raises ConfigError if another one with its name is alive."""
        parts, options = self.parts, self.parts.options

        def work(old: WorkerRecord | None, now: datetime) -> WorkerRecord:
            if old is not None and old.expires > now:
                raise ConfigError(
                    f"a worker called {options.owner!r} runs on {old.machine.partition('/')[0]} (process {old.pid})",
                    hint=f"choose another owner, or wait until {old.expires:%H:%M:%S} if it was killed",
                )
            return WorkerRecord(
                machine=parts.machine,
                pid=os.getpid(),
                slots=options.slots,
                started=now,
                expires=now + options.lease,
                folder=str(parts.workspace.project),
                capabilities=options.capabilities,
            )

        parts.board.change(WorkerRecord, options.owner, work, announce=True)
        self._forget_the_gone()
        repository, mode = parts.repository, options.agent.mode
        parts.log.say(
            "started",
            slots=options.slots,
            branch=repository.branch,
            remote=repository.remote,
            model=parts.model.name,
            mode=mode,
        )

    def _forget_the_gone(self) -> None:
        """Remove the records of workers that were killed long ago."""

        def work(old: WorkerRecord | None, now: datetime) -> WorkerRecord | None:
            return old if old is not None and now - old.expires < FORGET_AFTER else None

        now = self.parts.board.now()
        for name, each in self.parts.board.all(WorkerRecord).items():
            if now - each.expires >= FORGET_AFTER:
                self.parts.board.change(WorkerRecord, name, work)

    def _sign_off(self) -> None:
        self.parts.board.change(WorkerRecord, self.parts.options.owner, lambda _old, _now: None, announce=True)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self.parts.options.beat)
            try:
                await in_thread(self._sign)
                self._heard = time.monotonic()
            except OutliveError as error:
                self.parts.log.say("heartbeat_failed", text=str(error))
            await asyncio.gather(*(self._beat_for(attempt) for attempt in list(self._running.values())))

    async def _beat_for(self, attempt: Attempt) -> None:
        try:
            await in_thread(attempt.beat)
        except (LeaseError, UnknownTask) as error:
            await self._look(attempt, str(error))
        except OutliveError as error:
            self.parts.log.say("heartbeat_failed", task=attempt.held.id, text=str(error))
            if attempt.silent_for() > self.parts.options.lease.total_seconds():
                attempt.stop(LeaseLost("lost", f"the store was out of reach for longer than its lease: {error}"))

    def _sign(self) -> None:
        """Extend the record; another process may have written into it that the worker is to drain."""
        options = self.parts.options
        drain_by: list[timedelta] = []

        def work(old: WorkerRecord | None, now: datetime) -> WorkerRecord | None:
            if old is None or old.pid != os.getpid() or old.machine != self.parts.machine:
                return old
            drain_by[:] = [old.drain_by - now] if old.drain_by else []
            return replace(old, expires=now + options.lease)

        self.parts.board.change(WorkerRecord, options.owner, work)
        if drain_by:
            self.drain(max(0.0, drain_by[0].total_seconds()))

    async def _listen(self) -> None:
        """Look at what was asked of this worker whenever the store changes."""
        with self.parts.graph.store.watch() as watch:
            while not self._closing:
                with suppress(OutliveError):
                    if await in_thread(watch.wait, WAIT_SECONDS):
                        await self._hear()
                        await asyncio.sleep(SETTLE_SECONDS)
                        continue
                await asyncio.sleep(0.1)

    async def _hear(self) -> None:
        record = await in_thread(self.parts.board.get, WorkerRecord, self.parts.options.owner)
        if record is not None and record.drain_by is not None and self._drain_by is None:
            await in_thread(self._sign)
        held = {attempt.held.id: attempt for attempt in self._running.values()}
        found = await in_thread(self.parts.graph.store.read, lambda tx: tx.get(list(held))) if held else {}
        for number, attempt in held.items():
            task = found.get(number)
            if task is None or task.lease is None or task.lease.token != attempt.held.token:
                await self._look(attempt, "its lease is gone")

    async def _look(self, attempt: Attempt, why: str) -> None:
        """End an attempt whose task is no longer held, for the reason that the graph gives."""
        ending: AttemptEnded = LeaseLost("lost", why)
        with suppress(OutliveError):
            task = await in_thread(self.parts.graph.get, attempt.held.id)
            if task.status == "completed":
                return
            if task.status == "cancelled":
                ending = TaskCancelled("cancelled", task.result or "")
            elif task.owner != self.parts.options.owner:
                ending = LeaseLost("lost", f"{task.owner} has the task now" if task.owner else why)
        attempt.stop(ending)

    def _gauges(self) -> dict[str, float]:
        return {
            "outlive_slots": self.parts.options.slots,
            "outlive_slots_busy": len(self._running),
            "outlive_draining": self._drain_by is not None,
            "outlive_dollars_total": self.parts.budget.spent,
            "outlive_heartbeat_age_seconds": time.monotonic() - self._heard,
        }
