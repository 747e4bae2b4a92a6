"""`TaskGraph`: the operations on tasks. Each is one transaction of the store."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from datetime import timedelta
from typing import Any, Unpack

import msgspec
from msgspec.structs import replace

from outlive.errors import ConflictError, HasDependents, InvalidTask, LeaseError, NothingReady, StoreUnavailable
from outlive.printable import some
from outlive.stores.tasks.protocol import Fit, Problem, TaskQuery, TaskStore, TaskWriter
from outlive.stores.tasks.records import DEFAULT_PRIORITY, FINISHED, Lease, Status, Task, TaskChange
from outlive.tasks import rules, shape
from outlive.tasks.audit import Audit
from outlive.tasks.doctor import graph_problems
from outlive.tasks.draft import TaskDraft, checked, create
from outlive.tasks.edges import refuse_cycles, with_edges
from outlive.tasks.edit import EDGE_FIELDS, TaskEdit, applied, checked_edit
from outlive.tasks.queries import (
    OPEN_TASKS,
    any_open,
    closure,
    find_id,
    find_one,
    last_token,
    lock_one,
    lock_with_dependents,
    lost_task,
    nothing_ready,
)
from outlive.tasks.refs import Ref, unknown
from outlive.tasks.waiting import until

DEFAULT_TTL = timedelta(minutes=15)


class Completion(msgspec.Struct, frozen=True):
    """A finished or deleted task, and the tasks that became ready through it."""

    task: Task
    unblocked: tuple[Task, ...]


class TaskGraph:
    """The tasks of a store, for one actor."""

    def __init__(self, store: TaskStore, *, actor: str | None = None, origin: str | None = None) -> None:
        self.store = store
        self.given_back: list[int] = []
        """Tasks whose expired lease the last `ready` gave back."""
        self._audit = Audit(actor, origin)

    # -- looking ---------------------------------------------------------------------------------------

    def get(self, ref: Ref) -> Task:
        return self.store.read(lambda tx: find_one(tx, ref))

    def find(self, query: TaskQuery = OPEN_TASKS) -> list[Task]:
        return self.store.read(lambda tx: tx.find(query))

    def count(self, query: TaskQuery = OPEN_TASKS) -> int:
        return self.store.read(lambda tx: tx.count(query))

    def ready(self, fit: Fit | None = None, *, limit: int | None = None) -> list[Task]:
        """Return the tasks that can be started now. Tasks whose lease ran out are released first."""
        fit = fit or Fit()
        found, self.given_back = self.store.read(lambda tx: (tx.ready(fit, limit), tx.expired()))
        if not self.given_back:
            return found

        def collect(tx: TaskWriter) -> tuple[list[Task], list[int]]:
            expired = tx.expired()
            self._give_back(tx, expired)
            return tx.ready(fit, limit), expired

        try:
            found, self.given_back = self.store.write(collect)
        except StoreUnavailable:  # a read-only disk: expired tasks cannot be released
            self.given_back = []
        return found

    def wait_ready(
        self, fit: Fit | None = None, *, limit: int | None = None, timeout: float | None = None
    ) -> list[Task]:
        """Like `ready`, but waits until a task is ready. Returns an empty list on timeout."""
        return until(self.store, lambda: self.ready(fit, limit=limit), timeout)

    def history(self, ref: Ref | None = None) -> list[TaskChange]:
        if ref is None:
            return self.store.read(lambda tx: tx.history())
        number = self.store.read(lambda tx: find_id(tx, ref))
        changes = self.store.read(lambda tx: tx.history(number))
        if not changes:
            self.get(number)
        return changes

    def subtree(self, ref: Ref) -> list[Task]:
        """Return the task and everything it depends on, directly or not."""
        return self.store.read(lambda tx: closure(tx, ref, tx.depends_on))

    def unblocks(self, ref: Ref) -> list[Task]:
        """Return the open tasks that wait for this one, directly or not."""
        tasks = self.store.read(lambda tx: closure(tx, ref, tx.dependents))
        return [task for task in tasks[1:] if not task.finished]

    def critical_path(self, ref: Ref | None = None) -> list[Task]:
        """Return the longest chain of open tasks, first to last; with a ref, the one that ends there."""
        tasks = self.find() if ref is None else self.subtree(ref)
        open_tasks = {task.id: task for task in tasks if not task.finished}
        edges = {task.id: task.blocked_by for task in open_tasks.values()}
        if tasks and ref is not None:
            # Dependencies of a finished task do not block this one.
            edges = {number: edges[number] for number in shape.reachable(tasks[0].id, edges) if number in edges}
        return [open_tasks[number] for number in shape.longest_chain(edges)]

    def doctor(self) -> list[Problem]:
        """Find problems of the store and of the graph in it."""
        problems = self.store.check()
        tasks, now = self.store.read(lambda tx: (tx.find(TaskQuery(archived=True, sort="id")), tx.now))
        unreadable = {problem.task for problem in problems if not problem.lost}
        return [*problems, *graph_problems(tasks, unreadable, now)]

    # -- building --------------------------------------------------------------------------------------

    def create(
        self,
        subject: str,
        *,
        description: str = "",
        blocked_by: Iterable[Ref] = (),
        blocks: Iterable[Ref] = (),
        priority: int = DEFAULT_PRIORITY,
        labels: Iterable[str] = (),
        owner: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Task:
        draft = TaskDraft(
            subject=subject,
            description=description,
            blocked_by=tuple(blocked_by),
            blocks=tuple(blocks),
            priority=priority,
            labels=tuple(labels),
            owner=owner,
            metadata=metadata or {},
        )
        return self.create_many([draft])[0]

    def create_many(
        self, drafts: Iterable[TaskDraft], *, unless: Callable[[TaskWriter], bool] | None = None
    ) -> list[Task]:
        """Create all tasks or none. Drafts may refer to each other by `key`, in any order.

        With `unless`, none are created if it is true in the same transaction.
        """
        ready = [checked(draft, number) for number, draft in enumerate(drafts, start=1)]
        keys = Counter(draft.key for draft in ready if draft.key is not None)
        if doubled := next((key for key, count in keys.items() if count > 1), None):
            raise InvalidTask(f"two tasks of the batch have the key {doubled!r}; keys must differ")
        return self.store.write(lambda tx: [] if unless and unless(tx) else create(tx, self._audit, ready))

    def update(self, ref: Ref, *, force: bool = False, **edit: Unpack[TaskEdit]) -> Task:
        """Change the given fields. Edges can be added and removed from both sides."""
        fields = checked_edit(edit)
        return self.store.write(lambda tx: self._update(tx, ref, fields, force=force))

    def delete(self, ref: Ref, *, force: bool = False) -> Completion:
        """Delete a task. Refused if others depend on it; with `force` they inherit its dependencies.

        `force` also deletes a lost task, of which only the history is left.
        """

        def work(tx: TaskWriter) -> Completion:
            # Dependents inherit edges, so no other transaction may check for cycles meanwhile.
            lost = lost_task(tx, ref) if force else None
            task, dependents = lock_with_dependents(tx, ref, archived=True, edges=force, substitute=lost)
            ids = [other.id for other in dependents]
            if dependents and not force:
                listed = f"task {ids[0]} depends" if len(ids) == 1 else f"tasks {some(ids)} depend"
                raise HasDependents(
                    f"cannot delete task {task.id}: {listed} on it",
                    ids,
                    hint="cancel it instead, or take the dependency from them first",
                )
            waiting = [other.id for other in dependents if other.blocked_by]
            for heir in dependents:
                rewired = with_edges(heir, add=task.depends_on, remove=[task.id])
                self._audit.save(tx, "rewire", heir, rewired)
            self._audit.delete(tx, task)
            unblocked = [other for other in tx.get(waiting).values() if other.ready]
            return Completion(task, tuple(unblocked))

        return self.store.write(work)

    def archive(self, *, older_than: timedelta = timedelta(0)) -> list[Task]:
        """Move finished tasks to the archive. They stay readable, and finished for their dependents."""

        def work(tx: TaskWriter) -> list[Task]:
            limit = tx.now - older_than
            old = [
                task.id
                for task in tx.find(TaskQuery(statuses=FINISHED, sort="id"))
                if (task.completed_at or task.updated_at) <= limit
            ]
            moved = []
            for task in tx.lock(old).values():
                if task.finished and task.archived_at is None:
                    moved.append(self._audit.save(tx, "archive", task, replace(task, archived_at=tx.now)))
            return moved

        return self.store.write(work)

    # -- working ---------------------------------------------------------------------------------------

    def claim(
        self, ref: Ref | None = None, *, owner: str, ttl: timedelta = DEFAULT_TTL, fit: Fit | None = None
    ) -> Task:
        """Claim a task, or the best ready one, until the lease runs out. The lease has the fencing token."""
        owner = rules.name(owner, "the owner")
        rules.ttl(ttl)
        fit = fit or Fit()

        def work(tx: TaskWriter) -> Task:
            if ref is not None:
                task = lock_one(tx, ref)
                rules.may_start(task, tx.now, owner)
                return self._start(tx, task, owner, ttl)
            taken = self._take(tx, owner, ttl, fit)
            if taken is None:
                raise nothing_ready(tx, fit)
            return taken

        return self.store.write(work)

    def wait_claim(
        self,
        *,
        owner: str,
        ttl: timedelta = DEFAULT_TTL,
        fit: Fit | None = None,
        timeout: float | None = None,
        while_open: bool = False,
    ) -> Task:
        """Like `claim`, but waits until a task is ready; with `while_open` only as long as a task is open.

        Raises NothingReady with the code `nothing_open`, or when the time is up `all_blocked` or `timed_out`.
        """
        owner = rules.name(owner, "the owner")
        rules.ttl(ttl)
        fit = fit or Fit()

        def work(tx: TaskWriter) -> Task | None:
            taken = self._take(tx, owner, ttl, fit)
            if taken is None and while_open and not any_open(tx):
                reason = nothing_ready(tx, fit)
                if reason.code == "nothing_open":
                    raise reason
            return taken

        taken = until(self.store, lambda: self.store.write(work), timeout)
        if taken is None:
            reason = self.store.read(lambda tx: nothing_ready(tx, fit)).code
            code = "timed_out" if reason in ("nothing_ready_yet", "no_tasks") else "all_blocked"
            raise NothingReady(f"nothing became ready within {timeout:g} s", code=code)
        return taken

    def heartbeat(
        self, ref: Ref, *, owner: str | None = None, token: int | None = None, ttl: timedelta = DEFAULT_TTL
    ) -> Task:
        """Extend the lease to `ttl` from now. Refused if the task is no longer held."""
        rules.ttl(ttl)

        def work(tx: TaskWriter) -> Task:
            task = lock_one(tx, ref)
            if task.lease is None:
                raise LeaseError(f"cannot extend task {task.id}: {rules.held(task)}; claim it first")
            rules.may_act(task, owner=owner, token=token, verb="extend")
            lease = replace(task.lease, expires_at=tx.now + ttl)
            return self._audit.save(tx, "heartbeat", task, replace(task, lease=lease), actor=lease.owner)

        return self.store.write(work)

    def release(self, ref: Ref, *, owner: str | None = None, token: int | None = None, force: bool = False) -> Task:
        """Give up a claimed task unfinished."""

        def work(tx: TaskWriter) -> Task:
            task = lock_one(tx, ref)
            if not force:
                rules.may_act(task, owner=owner, token=token, verb="release")
            if task.status != "in_progress":
                raise ConflictError(f"cannot release task {task.id}: {rules.held(task)}")
            return self._audit.save(tx, "release", task, _given_back(task), actor=owner)

        return self.store.write(work)

    def hold(self, ref: Ref, *, owner: str, token: int, reason: str = "") -> Task:
        """Give up the lease but keep the task from others: `owner` has it, without a lease, until it is released."""
        owner, note = rules.name(owner, "the owner"), rules.long_text(reason, "the reason") or None

        def work(tx: TaskWriter) -> Task:
            task = lock_one(tx, ref)
            rules.may_act(task, owner=None, token=token, verb="hold")
            actor = task.lease.owner if task.lease else None
            return self._audit.save(tx, "hold", task, replace(task, owner=owner, lease=None), note=note, actor=actor)

        return self.store.write(work)

    def complete(
        self,
        ref: Ref,
        *,
        result: str | None = None,
        owner: str | None = None,
        token: int | None = None,
        force: bool = False,
    ) -> Completion:
        """Finish a task in one write; its dependents become ready. Doing it twice changes nothing."""
        note = None if result is None else rules.long_text(result, "the result")
        return self._finish(ref, "completed", note, owner=owner, token=token, force=force)

    def cancel(
        self, ref: Ref, *, reason: str | None = None, owner: str | None = None, token: int | None = None
    ) -> Completion:
        """Decide that a task will not be done. It no longer blocks others."""
        note = None if reason is None else rules.long_text(reason, "the reason")
        return self._finish(ref, "cancelled", note, owner=owner, token=token, force=True)

    def reopen(self, ref: Ref) -> Task:
        """Make a finished task pending again. Its dependents are blocked again."""

        def work(tx: TaskWriter) -> Task:
            task, _ = lock_with_dependents(tx, ref)
            if not task.finished:
                raise ConflictError(f"cannot reopen task {task.id}: it is {task.status}")
            return self._move(tx, task, "pending", force=True)

        return self.store.write(work)

    # -- inside ----------------------------------------------------------------------------------------

    def _take(self, tx: TaskWriter, owner: str, ttl: timedelta, fit: Fit) -> Task | None:
        """Claim the best ready task; None if there is none."""
        self._give_back(tx, tx.expired(), actor=owner)
        task = tx.pick(fit)
        return None if task is None else self._start(tx, task, owner, ttl)

    def _start(self, tx: TaskWriter, task: Task, owner: str, ttl: timedelta) -> Task:
        lease = Lease(owner=owner, token=task.revision + 1, claimed_at=tx.now, expires_at=tx.now + ttl)
        started = replace(task, status="in_progress", owner=owner, lease=lease)
        return self._audit.save(tx, "claim", task, started, actor=owner)

    def _update(self, tx: TaskWriter, ref: Ref, edit: dict[str, Any], *, force: bool) -> Task:
        number = find_id(tx, ref)
        add, remove, add_after, remove_after = ([find_id(tx, other) for other in edit[side]] for side in EDGE_FIELDS)
        needed = {number, *add, *add_after, *remove_after}
        tasks = tx.lock(needed, edges=bool(add or add_after))
        if missing := needed - tasks.keys():
            raise unknown(missing)
        if number in (*add, *add_after):
            refuse_cycles(tx, [(number, number)])
        task = tasks[number]
        self._audit.save(tx, "update", task, with_edges(applied(edit, task), add=add, remove=remove))
        for other in sorted({*add_after, *remove_after} - {number}):
            changed = with_edges(
                tasks[other],
                add=[number] if other in add_after else (),
                remove=[number] if other in remove_after else (),
            )
            self._audit.save(tx, "update", tasks[other], changed)
        refuse_cycles(tx, [(number, other) for other in add] + [(other, number) for other in add_after])
        if "status" not in edit:
            return find_one(tx, number)
        return self._move(tx, find_one(tx, number), rules.status(edit["status"]), force=force)

    def _finish(
        self, ref: Ref, status: Status, note: str | None, *, owner: str | None, token: int | None, force: bool
    ) -> Completion:
        verb = "complete" if status == "completed" else "cancel"

        def work(tx: TaskWriter) -> Completion:
            task, dependents = lock_with_dependents(tx, ref)
            if task.status == status and (token is None or token == last_token(tx, task)):
                return Completion(task, ())
            rules.may_act(task, owner=owner, token=token, verb=verb)
            waiting = [other.id for other in dependents if task.id in other.blocked_by]
            actor = owner or (task.lease.owner if task.lease and token is not None else None)
            done = self._move(tx, task, status, note=note, force=force, actor=actor)
            unblocked = [other for other in tx.get(waiting).values() if other.ready]
            return Completion(done, tuple(unblocked))

        return self.store.write(work)

    def _move(
        self,
        tx: TaskWriter,
        task: Task,
        status: Status,
        *,
        note: str | None = None,
        force: bool = False,
        actor: str | None = None,
    ) -> Task:
        """Change the status. All changes but claims go through here."""
        if task.status == status and note is None:
            return task
        if status == "pending":
            new = replace(_given_back(task), completed_at=None, archived_at=None)
            op = "reopen" if task.finished else "release"
        elif status == "in_progress":
            if task.blocked_by and not force:
                rules.may_start(task, tx.now)
            new = replace(task, status=status, completed_at=None, archived_at=None)
            op = "start"
        else:
            if status == "completed":
                rules.may_finish(task, force=force)
            result = task.result if note is None else note
            new = replace(task, status=status, completed_at=tx.now, lease=None, result=result)
            op = "complete" if status == "completed" else "cancel"
        return self._audit.save(tx, op, task, new, actor=actor)

    def _give_back(self, tx: TaskWriter, expired: Collection[int], actor: str | None = None) -> None:
        for task in tx.lock(expired).values() if expired else ():
            if task.status == "in_progress" and task.lease and task.lease.lapsed(tx.now):
                ahead = task.lease.expires_at > tx.now
                why = "was made by a clock that was ahead" if ahead else "ran out"
                note = f"the lease of {task.lease.owner} {why}"
                self._audit.save(tx, "expire", task, _given_back(task), note=note, actor=actor)


def _given_back(task: Task) -> Task:
    return replace(task, status="pending", owner=None, lease=None)
