"""The task graph once more, as simple as can be: a dictionary, no engine, no cleverness.

Written from the description of the operations, not from their code. Tests play the same operations to it and
to the real thing and compare.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from outlive.errors import (
    BlockedError,
    ConflictError,
    CycleError,
    DependencyError,
    HasDependents,
    LeaseError,
    NothingReady,
    UnknownTask,
)
from outlive.stores.tasks.records import Task

FINISHED = ("completed", "cancelled")


@dataclass
class Item:
    subject: str
    created: datetime
    status: str = "pending"
    depends: set[int] = field(default_factory=set)
    priority: int = 2
    owner: str | None = None
    lease: tuple[str, int, datetime] | None = None
    """Owner, token, end."""
    revision: int = 1
    archived: bool = False
    completed: datetime | None = None


class Model:
    def __init__(self) -> None:
        self.items: dict[int, Item] = {}
        self.ever: set[int] = set()
        """Every id that was ever used."""
        self.trail: dict[int, list[str]] = {}
        """The operations on each task, oldest first."""

    # -- derived ---------------------------------------------------------------------------------------

    def blocked_by(self, number: int) -> list[int]:
        return sorted(
            other
            for other in self.items[number].depends
            if other not in self.items or self.items[other].status not in FINISHED
        )

    def dependents(self, number: int, *, archived: bool = False) -> list[int]:
        return sorted(
            other for other, item in self.items.items() if number in item.depends and (archived or not item.archived)
        )

    def ready(self) -> list[int]:
        found = [n for n, item in self.items.items() if item.status == "pending" and not self.blocked_by(n)]
        return sorted(found, key=lambda n: (self.items[n].priority, self.items[n].created, n))

    def has_cycle(self) -> bool:
        left = {number: {d for d in item.depends if d in self.items} for number, item in self.items.items()}
        while free := [number for number, depends in left.items() if not depends]:
            for number in free:
                del left[number]
            for depends in left.values():
                depends.difference_update(free)
        return bool(left)

    # -- operations ------------------------------------------------------------------------------------

    def create(
        self,
        numbers: Sequence[int],
        drafts: Sequence[tuple[str, int, Iterable[int], Iterable[int], Iterable[int]]],
        now: datetime,
    ) -> None:
        """Drafts: subject, priority, ids it depends on, ids it blocks, positions in the batch it depends on."""
        self.check_create(drafts)
        for number, (subject, priority, before, _, inside) in zip(numbers, drafts, strict=True):
            assert number not in self.ever, f"the id {number} was given out twice"
            self.ever.add(number)
            self.items[number] = Item(subject, now, priority=priority)
            self.items[number].depends = {*before, *(numbers[other] for other in inside)}
            self.trail[number] = ["create"]
        for number, (_, _, _, after, _) in zip(numbers, drafts, strict=True):
            for other in sorted(set(after)):
                self.items[other].depends.add(number)
                self._touched(other, "update")

    def check_create(self, drafts: Sequence[tuple[str, int, Iterable[int], Iterable[int], Iterable[int]]]) -> None:
        """Raise what a refusal raises. Decided on a copy with ids that nobody has."""
        for _, _, before, after, _ in drafts:
            self._known(before, after)
        trial = Model()
        trial.items = {
            number: Item("", item.created, depends=set(item.depends)) for number, item in self.items.items()
        }
        for index, (_, _, before, _, inside) in enumerate(drafts):
            trial.items[-index - 1] = Item("", datetime.min, depends={*before, *(-other - 1 for other in inside)})
        for index, (_, _, _, after, _) in enumerate(drafts):
            for other in after:
                trial.items[other].depends.add(-index - 1)
        if trial.has_cycle():
            raise CycleError("", ())

    def update(
        self,
        number: int,
        *,
        subject: str | None = None,
        priority: int | None = None,
        add: Iterable[int] = (),
        remove: Iterable[int] = (),
        add_blocks: Iterable[int] = (),
        remove_blocks: Iterable[int] = (),
    ) -> None:
        add, remove, add_blocks, remove_blocks = set(add), set(remove), set(add_blocks), set(remove_blocks)
        self._known([number], add, add_blocks, remove_blocks)
        if number in add | add_blocks:
            raise DependencyError
        trial = {other: set(item.depends) for other, item in self.items.items()}
        trial[number] = (trial[number] | add) - remove
        for other in (add_blocks | remove_blocks) - {number}:
            trial[other] = (trial[other] | ({number} & {number if other in add_blocks else 0})) - (
                {number} if other in remove_blocks else set()
            )
        check = Model()
        check.items = {other: Item("", datetime.min, depends=depends) for other, depends in trial.items()}
        if check.has_cycle():
            raise CycleError("", ())
        item = self.items[number]
        new_subject = item.subject if subject is None else subject
        new_priority = item.priority if priority is None else priority
        if (item.subject, item.priority, item.depends) != (new_subject, new_priority, trial[number]):
            item.subject, item.priority = new_subject, new_priority
            self._touched(number, "update")
        for other, depends in trial.items():
            if self.items[other].depends != depends:
                if other != number:
                    self._touched(other, "update")
                self.items[other].depends = depends

    def delete(self, number: int, *, force: bool) -> None:
        self._known([number])
        heirs = self.dependents(number, archived=True)
        if heirs and not force:
            raise HasDependents("", heirs)
        gone = self.items.pop(number)
        for heir in heirs:
            self.items[heir].depends = (self.items[heir].depends | gone.depends) - {number}
            self._touched(heir, "rewire")
        self.trail[number].append("delete")

    def archive(self, now: datetime, older_than: timedelta) -> list[int]:
        moved = []
        for number, item in sorted(self.items.items()):
            if (
                item.status in FINISHED
                and not item.archived
                and item.completed
                and item.completed <= now - older_than
            ):
                item.archived = True
                self._touched(number, "archive")
                moved.append(number)
        return moved

    def claim(self, number: int | None, owner: str, now: datetime, ttl: timedelta) -> int:
        if number is None:
            self.expire(now)
            if not self.ready():
                raise NothingReady
            number = self.ready()[0]
        self._known([number])
        item = self.items[number]
        if item.status in FINISHED:
            raise ConflictError
        if self.blocked_by(number):
            raise BlockedError("", ())
        if item.status == "in_progress" and (item.lease[2] > now if item.lease else item.owner is not None):
            raise LeaseError
        self._touched(number, "claim")
        item.status, item.owner = "in_progress", owner
        item.lease = (owner, item.revision, now + ttl)
        return number

    def expire(self, now: datetime) -> None:
        for number, item in self.items.items():
            if item.status == "in_progress" and item.lease and item.lease[2] <= now:
                item.status, item.owner, item.lease = "pending", None, None
                self._touched(number, "expire")

    def heartbeat(self, number: int, now: datetime, ttl: timedelta, token: int | None) -> None:
        self._known([number])
        item = self.items[number]
        if item.lease is None or (token is not None and item.lease[1] != token):
            raise LeaseError
        if item.lease[2] != now + ttl:
            item.lease = (item.lease[0], item.lease[1], now + ttl)
            self._touched(number, "heartbeat")

    def release(self, number: int, token: int | None) -> None:
        self._known([number])
        self._may_act(number, token)
        item = self.items[number]
        if item.status != "in_progress":
            raise ConflictError
        item.status, item.owner, item.lease = "pending", None, None
        self._touched(number, "release")

    def complete(self, number: int, now: datetime, *, token: int | None, force: bool) -> set[int]:
        """Returns what became ready by it."""
        self._known([number])
        self._may_act(number, token)
        if self.items[number].status == "completed":
            return set()
        if self.blocked_by(number) and not force:
            raise BlockedError("", ())
        return self._finish(number, "completed", now)

    def cancel(self, number: int, now: datetime) -> set[int]:
        self._known([number])
        return set() if self.items[number].status == "cancelled" else self._finish(number, "cancelled", now)

    def reopen(self, number: int) -> None:
        self._known([number])
        item = self.items[number]
        if item.status not in FINISHED:
            raise ConflictError
        item.status, item.owner, item.lease = "pending", None, None
        item.completed, item.archived = None, False
        self._touched(number, "reopen")

    # -- inside ----------------------------------------------------------------------------------------

    def _known(self, *groups: Iterable[int]) -> None:
        for group in groups:
            for number in group:
                if number not in self.items:
                    raise UnknownTask

    def _may_act(self, number: int, token: int | None) -> None:
        lease = self.items[number].lease
        if token is not None and (lease is None or lease[1] != token):
            raise LeaseError

    def _finish(self, number: int, status: str, now: datetime) -> set[int]:
        before = set(self.ready())
        item = self.items[number]
        item.status, item.lease, item.completed = status, None, now
        self._touched(number, "complete" if status == "completed" else "cancel")
        return set(self.ready()) - before

    def _touched(self, number: int, op: str) -> None:
        self.items[number].revision += 1
        self.trail[number].append(op)

    # -- comparing -------------------------------------------------------------------------------------

    def differs(self, tasks: Mapping[int, Task]) -> list[str]:
        """Where the tasks of a store are not what they should be."""
        problems = [f"{n}: lost" for n in self.items.keys() - tasks.keys()]
        problems += [f"{n}: should not be there" for n in tasks.keys() - self.items.keys()]
        for number in sorted(self.items.keys() & tasks.keys()):
            item, task = self.items[number], tasks[number]
            expected = {
                "subject": item.subject,
                "status": item.status,
                "depends_on": tuple(sorted(item.depends)),
                "blocked_by": tuple(self.blocked_by(number)),
                "blocks": tuple(self.dependents(number)),
                "priority": item.priority,
                "owner": item.owner,
                "revision": item.revision,
            }
            found = {name: getattr(task, name) for name in expected}
            expected["archived"], found["archived"] = item.archived, task.archived_at is not None
            expected["lease"] = item.lease and item.lease[:2]
            found["lease"] = task.lease and (task.lease.owner, task.lease.token)
            problems += [
                f"{number}.{name}: {found[name]!r}, should be {value!r}"
                for name, value in expected.items()
                if found[name] != value
            ]
        return problems
