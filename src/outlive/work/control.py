"""Commands of a person to the fleet: drain, cancel, retry, answer, budgets, take over."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from outlive.errors import ConflictError, OutliveError
from outlive.stores.logs.protocol import LogStore, UnknownSession
from outlive.stores.tasks.records import Task
from outlive.tasks.graph import TaskGraph
from outlive.tasks.refs import Ref
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.budgets import KINDS
from outlive.work.shared.records import ATTACHED, PERSON, FleetBudget, TaskRun, WorkerRecord


class UnknownWorker(OutliveError):
    pass


class FleetControl:
    """Runs them on one store."""

    def __init__(self, graph: TaskGraph, board: FleetBoard, logs: LogStore) -> None:
        self.graph = graph
        self.board = board
        self.logs = logs

    def drain(self, worker: str, grace: timedelta) -> WorkerRecord:
        """Stop a worker from taking tasks; those it has not finished after `grace` are released."""

        def work(old: WorkerRecord | None, now: datetime) -> WorkerRecord:
            if old is None or old.expires <= now:
                raise UnknownWorker(f"no worker called {worker!r} is running", hint="the overview lists them")
            return replace(old, drain_by=now + grace)

        found = self.board.change(WorkerRecord, worker, work, announce=True)
        assert found is not None  # noqa: S101 - `work` returns one
        return found

    def cancel(self, ref: Ref, reason: str | None = None) -> Task:
        """Cancel a task; the worker that has it is told at once."""
        task = self.graph.get(ref)
        if task.finished:
            raise ConflictError(f"task {task.id} is {task.status} already")
        return self.graph.cancel(ref, reason=reason).task

    def answer(self, ref: Ref, text: str) -> Task:
        """Answer the question for which a task waits; it is ready again."""
        task = self.graph.get(ref)
        if not text.strip():
            raise ConflictError("the answer is empty")
        if task.owner != PERSON or self.board.run(task.id).phase != "waiting":
            raise ConflictError(f"task {task.id} waits for no answer")
        self._change(task, answer=text, phase="", failed=0, died=0)
        return self.graph.release(task.id, force=True)

    def retry(self, ref: Ref) -> Task:
        """Make a task ready for workers again: one that waits for a person, or is finished."""
        task = self.graph.get(ref)
        if task.lease is not None:
            raise ConflictError(f"task {task.id} is being worked on by {task.owner}")
        self._change(task, question="", answer="", phase="", failed=0, died=0, landing="")
        if task.finished:
            return self.graph.reopen(task.id)
        return self.graph.release(task.id, force=True) if task.status == "in_progress" else task

    def budget(self, name: str, dollars: float | None) -> None:
        """Set a budget, or remove it with None. Names: `day`, `total`, `task`, `task:ID`, `label:NAME`."""
        kind, _, rest = name.partition(":")
        if not (name in KINDS or (kind == "label" and rest) or (kind == "task" and rest.isdigit())):
            raise ConflictError(
                f"there is no budget {name!r}; budgets are {', '.join(KINDS)}, task:ID and label:NAME"
            )
        new = None if dollars is None else FleetBudget(dollars=dollars)
        self.board.change(FleetBudget, name, lambda _old, _now: new, announce=True)

    def session_of(self, ref: Ref) -> str:
        """The session of a task. Raises UnknownSession."""
        task = self.graph.get(ref)
        if not (session := self.board.run(task.id).session):
            raise UnknownSession(f"nobody has worked on task {task.id} yet", code="no_session")
        return session

    def take_over(self, ref: Ref, *, owner: str, machine: str) -> Task:
        """Give a task to a person, also if a worker has it: it stays in progress, without a lease, until released."""
        task = self.graph.get(ref)
        if task.finished:
            raise ConflictError(f"task {task.id} is {task.status}", hint="reopen it first")
        if task.lease is None and task.status == "pending":
            task = self.graph.claim(task.id, owner=owner)
        if task.lease is not None:
            task = self.graph.hold(task.id, owner=owner, token=task.lease.token, reason="taken over")
        else:
            task = self.graph.update(task.id, owner=owner)
        self._change(task, worker=owner, machine=machine, token=task.revision, phase=ATTACHED, question="")
        return task

    def give_back(self, task: Task, **fields: object) -> Task:
        """Return a task that was taken over to the workers."""
        self._change(task, phase="", **fields)
        return self.graph.release(task.id, force=True)

    def _change(self, task: Task, **fields: object) -> None:
        self.board.change(TaskRun, str(task.id), lambda old, _now: replace(old or TaskRun(), **fields), announce=True)
