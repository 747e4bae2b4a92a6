"""`TaskGraph`: the operations on tasks. Each is one change of the store: it happens whole or not at all."""

import getpass
import os
import socket
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from outlive.errors import (
    ConflictError,
    CycleError,
    DependencyError,
    HasDependents,
    InvalidTask,
    LeaseError,
    NothingReady,
)
from outlive.stores.protocol import Fit, Problem, TaskQuery, TaskReader, TaskStore, TaskWriter
from outlive.stores.records import (
    DEFAULT_PRIORITY,
    FINISHED,
    Change,
    Lease,
    Status,
    Task,
    task_to_json,
)
from outlive.tasks import rules, shape
from outlive.tasks.refs import Ref, parse_id, unknown

DEFAULT_TTL = timedelta(minutes=15)
_BOOKKEEPING = {"id", "blockedBy", "blocks", "updatedAt", "revision", "version"}
_OPEN = TaskQuery(statuses=frozenset({"pending", "in_progress"}))


class Draft(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A task to be. In a batch, `key` is a temporary name that other drafts may use in place of an id."""

    subject: str
    description: str = ""
    key: str | None = None
    blocked_by: tuple[Ref, ...] = ()
    blocks: tuple[Ref, ...] = ()
    priority: int = DEFAULT_PRIORITY
    labels: tuple[str, ...] = ()
    owner: str | None = None
    metadata: dict[str, Any] = {}


class Outcome(msgspec.Struct, frozen=True):
    """A finished or deleted task, and the tasks that became ready by it."""

    task: Task
    unblocked: tuple[Task, ...]


class TaskGraph:
    """The tasks of a store, for one actor."""

    def __init__(self, store: TaskStore, *, actor: str | None = None, origin: str | None = None) -> None:
        self.store = store
        self.actor = rules.name(actor, "the actor") if actor else None
        self.origin = origin or f"{socket.gethostname()}:{os.getpid()}"

    # -- looking ---------------------------------------------------------------------------------------

    def get(self, ref: Ref) -> Task:
        return self.store.read(lambda tx: _one(tx, ref))

    def find(self, query: TaskQuery = _OPEN) -> list[Task]:
        return self.store.read(lambda tx: tx.find(query))

    def count(self, query: TaskQuery = _OPEN) -> int:
        return self.store.read(lambda tx: tx.count(query))

    def ready(self, fit: Fit | None = None, *, limit: int | None = None) -> list[Task]:
        """What can be started now. Tasks whose lease has run out are given back first."""
        fit = fit or Fit()
        found, expired = self.store.read(lambda tx: (tx.ready(fit, limit), tx.expired()))
        if not expired:
            return found

        def collect(tx: TaskWriter) -> list[Task]:
            self._give_back(tx, tx.expired())
            return tx.ready(fit, limit)

        return self.store.write(collect)

    def wait_ready(
        self, fit: Fit | None = None, *, limit: int | None = None, timeout: float | None = None
    ) -> list[Task]:
        """Like `ready`, but sleeps until there is something. Empty when the time is over."""
        return self._wait(lambda: self.ready(fit, limit=limit), timeout)

    def history(self, ref: Ref | None = None) -> list[Change]:
        if ref is None:
            return self.store.read(lambda tx: tx.history())
        number = self.store.read(lambda tx: _id(tx, ref))
        changes = self.store.read(lambda tx: tx.history(number))
        if not changes:
            self.get(number)
        return changes

    def subtree(self, ref: Ref) -> list[Task]:
        """The task and all it depends on, directly or not."""
        return self.store.read(lambda tx: _closure(tx, ref, tx.depends_on))

    def unblocks(self, ref: Ref) -> list[Task]:
        """The open tasks that wait for this one, directly or not."""
        tasks = self.store.read(lambda tx: _closure(tx, ref, tx.dependents))
        return [task for task in tasks[1:] if not task.finished]

    def critical_path(self, ref: Ref | None = None) -> list[Task]:
        """The longest chain of open tasks, first to last; with a ref, the chain that ends there."""
        tasks = self.find() if ref is None else self.subtree(ref)
        open_tasks = {task.id: task for task in tasks if not task.finished}
        edges = {task.id: task.blocked_by for task in open_tasks.values()}
        return [open_tasks[number] for number in shape.longest_chain(edges)]

    def doctor(self) -> list[Problem]:
        """What is wrong with the store, and with the graph in it."""
        problems = self.store.check()
        tasks = self.find(TaskQuery(archived=True, sort="id"))
        hidden = {problem.task for problem in problems}
        known = {task.id for task in tasks}
        for task in tasks:
            lost = [number for number in task.depends_on if number not in known | hidden]
            if lost:
                listed = ", ".join(map(str, lost))
                options = " ".join(f"--remove-blocked-by {number}" for number in lost)
                problems.append(
                    Problem(
                        f"task {task.id}",
                        f"depends on {listed}, which does not exist, and stays blocked",
                        f"outlive task update {task.id} {options}",
                        task=task.id,
                    )
                )
        cycle = shape.find_cycle({task.id: task.depends_on for task in tasks})
        if cycle:
            problems.append(
                Problem(
                    f"task {cycle[0]}",
                    f"depends on itself: {_arrows(cycle)}",
                    f"outlive task update {cycle[0]} --remove-blocked-by {cycle[1]}",
                    task=cycle[0],
                )
            )
        return problems

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
        draft = Draft(
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

    def create_many(self, drafts: Iterable[Draft]) -> list[Task]:
        """Create all of them or none. Drafts may name each other by `key`, in any order."""
        checked = [_checked(draft) for draft in drafts]
        keys = [draft.key for draft in checked if draft.key is not None]
        if doubled := next((key for key in keys if keys.count(key) > 1), None):
            raise InvalidTask(f"two tasks of the batch have the key {doubled!r}; keys must differ")

        def work(tx: TaskWriter) -> list[Task]:
            return self._create(tx, checked)

        return self.store.write(work)

    def update(
        self,
        ref: Ref,
        *,
        subject: str | UnsetType = UNSET,
        description: str | UnsetType = UNSET,
        status: str | UnsetType = UNSET,
        owner: str | None | UnsetType = UNSET,
        priority: int | UnsetType = UNSET,
        labels: Iterable[str] | UnsetType = UNSET,
        add_labels: Iterable[str] = (),
        remove_labels: Iterable[str] = (),
        metadata: dict[str, Any] | UnsetType = UNSET,
        result: str | None | UnsetType = UNSET,
        add_blocked_by: Iterable[Ref] = (),
        remove_blocked_by: Iterable[Ref] = (),
        add_blocks: Iterable[Ref] = (),
        remove_blocks: Iterable[Ref] = (),
        force: bool = False,
    ) -> Task:
        """Change what is given and leave the rest. Edges can be added and removed from both sides."""
        fields: dict[str, Any] = {}
        if not isinstance(subject, UnsetType):
            fields["subject"] = rules.subject(subject)
        if not isinstance(description, UnsetType):
            fields["description"] = rules.long_text(description, "the description")
        if not isinstance(priority, UnsetType):
            fields["priority"] = rules.priority(priority)
        if not isinstance(metadata, UnsetType):
            fields["metadata"] = rules.metadata(metadata)
        if not isinstance(result, UnsetType):
            fields["result"] = None if result is None else rules.long_text(result, "the result")
        if not isinstance(owner, UnsetType):
            fields["owner"] = rules.name(owner, "the owner") if owner else None
        target = None if isinstance(status, UnsetType) else rules.status(status)
        added, removed = rules.labels(add_labels), set(remove_labels)
        fixed = None if isinstance(labels, UnsetType) else rules.labels(labels)
        more_before, less_before = list(add_blocked_by), list(remove_blocked_by)
        more_after, less_after = list(add_blocks), list(remove_blocks)

        def work(tx: TaskWriter) -> Task:
            number = _id(tx, ref)
            before = _ids(tx, more_before), _ids(tx, less_before)
            after = _ids(tx, more_after), _ids(tx, less_after)
            others = {*before[0], *after[0], *after[1]}
            tasks = tx.lock({number, *others}, edges=bool(before[0] or after[0]))
            if missing := {number, *others} - tasks.keys():
                raise unknown(missing)
            task = tasks[number]
            if "owner" in fields and task.lease and fields["owner"] != task.owner:
                raise LeaseError(
                    f"cannot give task {number} to another: {rules.held(task)}; release it first"
                )
            kept = fixed if fixed is not None else task.labels
            edges = (set(task.depends_on) | set(before[0])) - set(before[1])
            new = replace(
                task,
                labels=tuple(sorted((set(kept) | set(added)) - removed)),
                depends_on=tuple(sorted(edges)),
                **fields,
            )
            self._save(tx, "update", task, new)
            for other in sorted({*after[0], *after[1]}):
                held = tasks[other] if other != number else _one(tx, number)
                edges = (set(held.depends_on) | ({number} if other in after[0] else set())) - (
                    {number} if other in after[1] else set()
                )
                self._save(tx, "update", held, replace(held, depends_on=tuple(sorted(edges))))
            _refuse_cycles(tx, [(number, other) for other in before[0]])
            _refuse_cycles(tx, [(other, number) for other in after[0]])
            if target is not None:
                self._move(tx, number, target, force=force)
            return _one(tx, number)

        return self.store.write(work)

    def delete(self, ref: Ref, *, force: bool = False) -> Outcome:
        """Remove a task. Where others depend on it this is refused, or, forced, they inherit its dependencies."""

        def work(tx: TaskWriter) -> Outcome:
            task, dependents = _locked_with_dependents(tx, ref, archived=True)
            ids = [other.id for other in dependents]
            if dependents and not force:
                listed = ", ".join(map(str, ids))
                raise HasDependents(
                    f"cannot delete task {task.id}: {listed} depend on it; "
                    "cancel it instead, or use --force to hand its dependencies down to them",
                    ids,
                )
            waiting = [other.id for other in dependents if other.blocked_by]
            for heir in dependents:
                edges = {*heir.depends_on, *task.depends_on} - {task.id}
                self._save(tx, "rewire", heir, replace(heir, depends_on=tuple(sorted(edges))))
            form = task_to_json(task)
            tx.remove(task.id, self._change(tx, "delete", task, {"task": (form, None)}))
            unblocked = [other for other in tx.get(waiting).values() if other.ready]
            return Outcome(task, tuple(unblocked))

        return self.store.write(work)

    def archive(self, *, older_than: timedelta = timedelta(0)) -> list[Task]:
        """Move finished tasks out of the hot path. They stay readable, and finished, for their dependents."""

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
                    moved.append(self._save(tx, "archive", task, replace(task, archived_at=tx.now)))
            return moved

        return self.store.write(work)

    # -- working ---------------------------------------------------------------------------------------

    def claim(
        self,
        ref: Ref | None = None,
        *,
        owner: str,
        ttl: timedelta = DEFAULT_TTL,
        fit: Fit | None = None,
    ) -> Task:
        """Take a task, or the best ready one, for as long as the lease runs. The lease holds the fencing token."""
        owner = rules.name(owner, "the owner")
        if ttl <= timedelta(0):
            raise InvalidTask("the lease must be longer than nothing (--ttl)")
        fit = fit or Fit()

        def work(tx: TaskWriter) -> Task:
            if ref is None:
                self._give_back(tx, tx.expired())
                task = tx.pick(fit)
                if task is None:
                    raise NothingReady(_why_nothing(tx, fit))
            else:
                task = _locked(tx, ref)
                rules.may_start(task, tx.now)
            lease = Lease(
                owner=owner, token=task.revision + 1, claimed_at=tx.now, expires_at=tx.now + ttl
            )
            started = replace(task, status="in_progress", owner=owner, lease=lease)
            return self._save(tx, "claim", task, started)

        return self.store.write(work)

    def wait_claim(
        self,
        *,
        owner: str,
        ttl: timedelta = DEFAULT_TTL,
        fit: Fit | None = None,
        timeout: float | None = None,
    ) -> Task:
        """Like `claim`, but sleeps until there is something to take."""

        def attempt() -> list[Task]:
            try:
                return [self.claim(owner=owner, ttl=ttl, fit=fit)]
            except NothingReady:
                return []

        taken = self._wait(attempt, timeout)
        return taken[0] if taken else self.claim(owner=owner, ttl=ttl, fit=fit)

    def heartbeat(
        self,
        ref: Ref,
        *,
        owner: str | None = None,
        token: int | None = None,
        ttl: timedelta = DEFAULT_TTL,
    ) -> Task:
        """Let the lease run from now on for another `ttl`. Refused once the task is no longer held."""

        def work(tx: TaskWriter) -> Task:
            task = _locked(tx, ref)
            if task.lease is None:
                raise LeaseError(f"cannot extend task {task.id}: {rules.held(task)}; claim it first")
            rules.may_act(task, owner=owner, token=token, verb="extend")
            lease = replace(task.lease, expires_at=tx.now + ttl)
            return self._save(tx, "heartbeat", task, replace(task, lease=lease))

        return self.store.write(work)

    def release(
        self, ref: Ref, *, owner: str | None = None, token: int | None = None, force: bool = False
    ) -> Task:
        """Give a task back unfinished."""

        def work(tx: TaskWriter) -> Task:
            task = _locked(tx, ref)
            if not force:
                rules.may_act(task, owner=owner, token=token, verb="release")
            if task.status != "in_progress":
                raise ConflictError(f"cannot release task {task.id}: {rules.held(task)}")
            return self._save(tx, "release", task, _given_back(task))

        return self.store.write(work)

    def complete(
        self,
        ref: Ref,
        *,
        result: str | None = None,
        owner: str | None = None,
        token: int | None = None,
        force: bool = False,
    ) -> Outcome:
        """Finish a task. One write; what it blocked becomes ready by itself. Completing twice changes nothing."""
        note = None if result is None else rules.long_text(result, "the result")
        return self._finish(ref, "completed", note, owner=owner, token=token, force=force)

    def cancel(
        self, ref: Ref, *, reason: str | None = None, owner: str | None = None, token: int | None = None
    ) -> Outcome:
        """Decide that a task will not be done. It no longer blocks others."""
        note = None if reason is None else rules.long_text(reason, "the reason")
        return self._finish(ref, "cancelled", note, owner=owner, token=token, force=True)

    def reopen(self, ref: Ref) -> Task:
        """Make a finished task pending again. Whatever depends on it is blocked again."""

        def work(tx: TaskWriter) -> Task:
            task, _ = _locked_with_dependents(tx, ref)
            if not task.finished:
                raise ConflictError(f"cannot reopen task {task.id}: it is {task.status}")
            return self._move(tx, task.id, "pending", force=True)

        return self.store.write(work)

    # -- inside ----------------------------------------------------------------------------------------

    def _create(self, tx: TaskWriter, drafts: Sequence[Draft]) -> list[Task]:
        keys = {draft.key: index for index, draft in enumerate(drafts) if draft.key is not None}
        before = [_split(tx, draft.blocked_by, keys) for draft in drafts]
        after = [_split(tx, draft.blocks, keys) for draft in drafts]
        inner: list[set[int]] = [set(inside) for _, inside in before]
        for index, (_, inside) in enumerate(after):
            for other in inside:
                inner[other].add(index)
        _refuse_batch_cycles(drafts, inner)

        outside = {number for known, _ in (*before, *after) for number in known}
        tasks = tx.lock(outside, edges=any(known for known, _ in after))
        if missing := outside - tasks.keys():
            raise unknown(missing)
        ids = tx.new_ids(len(drafts))
        now = tx.now
        for index, draft in enumerate(drafts):
            edges = {*before[index][0], *(ids[other] for other in inner[index])}
            task = Task(
                id=ids[index],
                subject=draft.subject,
                description=draft.description,
                depends_on=tuple(sorted(edges)),
                priority=draft.priority,
                labels=draft.labels,
                owner=draft.owner,
                metadata=draft.metadata,
                created_at=now,
                updated_at=now,
            )
            tx.put(task, self._change(tx, "create", task, {"subject": (None, task.subject)}, revision=1))
        for index, (known, _) in enumerate(after):
            for number in known:
                task = tx.get([number])[number]
                edges = {*task.depends_on, ids[index]}
                self._save(tx, "update", task, replace(task, depends_on=tuple(sorted(edges))))
        _refuse_cycles(tx, [(number, ids[index]) for index, (known, _) in enumerate(after) for number in known])
        made = tx.get(ids)
        return [made[number] for number in ids]

    def _finish(
        self, ref: Ref, status: Status, note: str | None, *, owner: str | None, token: int | None, force: bool
    ) -> Outcome:
        def work(tx: TaskWriter) -> Outcome:
            task, dependents = _locked_with_dependents(tx, ref)
            rules.may_act(task, owner=owner, token=token, verb="complete" if status == "completed" else "cancel")
            if task.status == status and note in (None, task.result):
                return Outcome(task, ())
            waiting = [other.id for other in dependents if task.id in other.blocked_by]
            done = self._move(tx, task.id, status, note=note, force=force)
            unblocked = [other for other in tx.get(waiting).values() if other.ready]
            return Outcome(done, tuple(unblocked))

        return self.store.write(work)

    def _move(
        self, tx: TaskWriter, number: int, status: Status, *, note: str | None = None, force: bool = False
    ) -> Task:
        """Every change of status that is not a claim goes through here."""
        task = _one(tx, number)
        if status == "pending":
            new = replace(_given_back(task), completed_at=None, archived_at=None)
            op = "reopen" if task.finished else "release"
        elif status == "in_progress":
            if task.status != "in_progress" and task.blocked_by and not force:
                rules.may_start(task, tx.now)
            new = replace(task, status=status, completed_at=None, archived_at=None)
            op = "start"
        else:
            if status == "completed":
                rules.may_finish(task, force=force)
            new = replace(
                task,
                status=status,
                completed_at=tx.now,
                lease=None,
                result=task.result if note is None else note,
            )
            op = "complete" if status == "completed" else "cancel"
        if task.status == status and note is None:
            return task
        return self._save(tx, op, task, new)

    def _give_back(self, tx: TaskWriter, expired: Collection[int]) -> None:
        for task in tx.lock(expired).values() if expired else ():
            if task.status == "in_progress" and task.lease and task.lease.expires_at <= tx.now:
                note = f"the lease of {task.lease.owner} ran out"
                self._save(tx, "expire", task, _given_back(task), note=note)

    def _save(self, tx: TaskWriter, op: str, old: Task, new: Task, *, note: str | None = None) -> Task:
        was, now = task_to_json(old), task_to_json(new)
        changed = {
            key: (was.get(key), now.get(key))
            for key in {**was, **now}
            if key not in _BOOKKEEPING and was.get(key) != now.get(key)
        }
        if not changed:
            return old
        new = replace(new, revision=old.revision + 1, updated_at=tx.now)
        tx.put(new, self._change(tx, op, new, changed, note=note, revision=new.revision))
        return tx.get([new.id])[new.id]

    def _change(
        self,
        tx: TaskReader,
        op: str,
        task: Task,
        changed: dict[str, tuple[Any, Any]],
        *,
        note: str | None = None,
        revision: int | None = None,
    ) -> Change:
        return Change(
            id=os.urandom(9).hex(),
            at=tx.now,
            actor=self.actor or (task.lease.owner if task.lease and op in _WORKER_OPS else _user()),
            origin=self.origin,
            op=op,
            task=task.id,
            revision=revision if revision is not None else task.revision + 1,
            changed=changed,
            note=note,
        )

    def _wait(self, attempt: Callable[[], list[Task]], timeout: float | None) -> list[Task]:
        """Try again whenever the store changed or a lease ran out, until there is a result."""
        import time

        deadline = None if timeout is None else time.monotonic() + timeout
        with self.store.watch() as watch:
            while not (result := attempt()):
                pause = _LONGEST_PAUSE
                now, expiry = self.store.read(lambda tx: (tx.now, tx.next_expiry()))
                if expiry is not None:
                    pause = min(pause, max(0.0, (expiry - now).total_seconds()) + 0.001)
                if deadline is not None:
                    left = deadline - time.monotonic()
                    if left <= 0:
                        break
                    pause = min(pause, left)
                watch.wait(pause)
        return result


_WORKER_OPS = {"claim", "heartbeat"}
_LONGEST_PAUSE = 2.0
"""A watch may miss a file edited in place by hand; nothing is overlooked for longer than this."""


def _user() -> str:
    try:
        return getpass.getuser()
    except OSError:
        return str(os.getuid())


def _checked(draft: Draft) -> Draft:
    return replace(
        draft,
        subject=rules.subject(draft.subject),
        description=rules.long_text(draft.description, "the description"),
        priority=rules.priority(draft.priority),
        labels=rules.labels(draft.labels),
        owner=rules.name(draft.owner, "the owner") if draft.owner else None,
        metadata=rules.metadata(draft.metadata),
    )


def _id(tx: TaskReader, ref: Ref) -> int:
    return parse_id(ref, lambda: tx.find(_OPEN))


def _ids(tx: TaskReader, refs: Iterable[Ref]) -> list[int]:
    return [_id(tx, ref) for ref in refs]


def _one(tx: TaskReader, ref: Ref) -> Task:
    number = _id(tx, ref)
    found = tx.get([number])
    if number not in found:
        raise unknown([number])
    return found[number]


def _locked(tx: TaskWriter, ref: Ref) -> Task:
    number = _id(tx, ref)
    found = tx.lock([number])
    if number not in found:
        raise unknown([number])
    return found[number]


def _locked_with_dependents(
    tx: TaskWriter, ref: Ref, *, archived: bool = False
) -> tuple[Task, list[Task]]:
    """For changes that decide whether others are ready."""
    number = _id(tx, ref)
    dependents = tx.dependents([number], archived=archived).get(number, ())
    found = tx.lock({number, *dependents})
    if number not in found:
        raise unknown([number])
    return found[number], [found[other] for other in dependents if other in found]


def _given_back(task: Task) -> Task:
    return replace(task, status="pending", owner=None, lease=None)


def _closure(
    tx: TaskReader, ref: Ref, neighbours: Callable[[Collection[int]], dict[int, tuple[int, ...]]]
) -> list[Task]:
    start = _one(tx, ref)
    found = {start.id: None}
    frontier: list[int] = [start.id]
    while frontier:
        steps = neighbours(frontier)
        frontier = list(
            dict.fromkeys(other for number in frontier for other in steps.get(number, ()) if other not in found)
        )
        found.update(dict.fromkeys(frontier))
    tasks = tx.get(found.keys())
    return [tasks[number] for number in found if number in tasks]


def _split(tx: TaskReader, refs: Iterable[Ref], keys: dict[str, int]) -> tuple[set[int], set[int]]:
    """Ids of tasks that exist already, and positions of drafts in the same batch."""
    known, inside = set(), set()
    for ref in refs:
        if isinstance(ref, str) and ref in keys:
            inside.add(keys[ref])
        else:
            known.add(_id(tx, ref))
    return known, inside


def _refuse_batch_cycles(drafts: Sequence[Draft], inner: Sequence[set[int]]) -> None:
    cycle = shape.find_cycle(dict(enumerate(inner)))
    if cycle is None:
        return
    names = [drafts[index].key or drafts[index].subject for index in cycle]
    if len(cycle) == 2:
        raise DependencyError(f"task {names[0]!r} of the batch cannot depend on itself")
    raise CycleError(f"the batch has a cycle: {_arrows(names)}; leave out one of these edges", names)


def _refuse_cycles(tx: TaskWriter, edges: Iterable[tuple[int, int]]) -> None:
    """Refuse new edges (from, to) when a path leads from `to` back to `from`."""
    for number, other in edges:
        if number == other:
            raise DependencyError(f"task {number} cannot depend on itself; leave {number} out")
        path = shape.find_path(other, number, tx.depends_on)
        if path is not None:
            cycle = [number, *path]
            raise CycleError(
                f"task {number} cannot depend on {other}: that closes the cycle {_arrows(cycle)}; "
                f"remove one of these edges first (--remove-blocked-by)",
                cycle,
            )


def _arrows(nodes: Iterable[Any]) -> str:
    return " -> ".join(map(str, nodes))


def _why_nothing(tx: TaskReader, fit: Fit) -> str:
    if fit != Fit() and tx.ready(limit=1):
        return "no ready task fits the labels asked for; `outlive task ready` shows the ready ones"
    waiting = tx.count(TaskQuery(statuses=frozenset({"pending"})))
    running = tx.count(TaskQuery(statuses=frozenset({"in_progress"})))
    if waiting or running:
        return f"nothing is ready: {waiting} pending and blocked, {running} in progress; --wait waits for one"
    return "nothing is ready: no open tasks are left"
