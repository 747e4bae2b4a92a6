"""A task that this worker holds: what it may write about it, under the token of its claim."""

import threading
from functools import partial
from typing import Any

from outlive.stores.tasks.records import Task
from outlive.work.parts import WorkerParts, in_thread
from outlive.work.shared.keys import keys_of
from outlive.work.shared.records import TaskRun


class HeldTask:
    """Each change is refused with LeaseError once another attempt has begun."""

    def __init__(self, parts: WorkerParts, task: Task) -> None:
        assert task.lease is not None  # noqa: S101 - it was claimed just now
        self.parts = parts
        self.task = task
        self.id = task.id
        self.token = task.lease.token
        self.keys = keys_of(task.labels)
        """Concurrency keys that it holds."""
        self._keys, self._writing = threading.Lock(), threading.Lock()
        self.record = TaskRun()
        """What the fleet knows of the work on it."""

    @property
    def holder(self) -> str:
        """The name under which it holds keys."""
        return f"{self.id}:{self.token}"

    async def begin(self) -> TaskRun:
        """Begin an attempt; returns the record before it."""
        parts = self.parts
        earlier, self.record = await in_thread(
            partial(parts.board.begin, self.task, worker=parts.options.owner, machine=parts.machine)
        )
        return earlier

    def write(self, **fields: Any) -> None:
        """Change what the fleet knows. Blocks."""
        with self._writing:
            self.record = self.parts.board.update(self.id, self.token, **fields)

    async def update(self, **fields: Any) -> None:
        await in_thread(partial(self.write, **fields))

    def beat(self, **fields: Any) -> None:
        """Extend lease and keys, and write what has changed. Blocks."""
        parts = self.parts
        parts.graph.heartbeat(self.id, token=self.token, ttl=parts.options.lease)
        with self._keys:
            for name in self.keys:
                parts.keys.take(name, self.holder)
        if any(getattr(self.record, name) != value for name, value in fields.items()):
            self.write(**fields)

    async def take_key(self, name: str) -> bool:
        """Take a key, and keep it until it is let go."""
        if not await in_thread(self.parts.keys.take, name, self.holder):
            return False
        self.keys.append(name)
        return True

    async def let_go(self, name: str) -> None:
        def release() -> None:
            with self._keys:  # a sign of life meanwhile would take it again
                self.keys.remove(name)
                self.parts.keys.release(name, self.holder)

        await in_thread(release)

    async def end(self, why: str, text: str, *, counts: bool, **fields: Any) -> None:
        """Say that the attempt ended without completing the task."""
        await in_thread(partial(self.parts.board.end, self.id, self.token, why, text, counts=counts, **fields))
