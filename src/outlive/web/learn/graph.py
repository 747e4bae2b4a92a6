"""Lesson 1: a task graph in a scratch store, its files as they are on disk, and real worker processes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from outlive.errors import CycleError, OutliveError
from outlive.stores import open_stores
from outlive.stores.tasks.protocol import TaskQuery
from outlive.stores.tasks.records import Task, TaskChange
from outlive.tasks.drawing.diagram import diagram
from outlive.tasks.drawing.marks import mark, state
from outlive.tasks.drawing.scene import compose
from outlive.tasks.example import PLAN
from outlive.tasks.graph import TaskGraph
from outlive.web.api import bad_request
from outlive.web.learn.worker import FINISH

WORKERS = ("ada", "bob")
START_SECONDS = 30.0
"""After which a worker that has claimed nothing is ended."""
HISTORY = 14  # newest steps; the page has room for these
WORKER = "worker"
"""Code of what a worker refuses."""
EVERYTHING = TaskQuery(sort="id")


@dataclass(slots=True)
class _Worker:
    process: "subprocess.Popen[bytes]"
    task: int
    token: int
    killed: bool = False


class GraphLesson:
    """The graph of one visitor. Called by one thread at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stores = open_stores("files:.tasks", base=folder, durability="process")
        self.graph = TaskGraph(self._stores.tasks, actor="you")
        self.graph.create_many(PLAN)
        self._looking = TaskGraph(self._stores.tasks, actor="the page")
        self._workers: dict[str, _Worker] = {}
        self.actions: list[dict[str, Any]] = []
        """What the visitor did, oldest first, for the questions of the quiz."""

    def close(self) -> None:
        for worker in self._workers.values():
            _end(worker.process)
        self._stores.close()

    # -- actions

    def complete(self, number: int) -> dict[str, object]:
        done = self.graph.complete(number)
        unblocked = [task.id for task in done.unblocked]
        return self._did("complete", number, unblocked=unblocked)

    def reopen(self, number: int) -> dict[str, object]:
        before = {task.id for task in self.graph.find(EVERYTHING) if task.ready}
        self.graph.reopen(number)
        blocked = [task.id for task in self.graph.find(EVERYTHING) if task.id in before and not task.ready]
        return self._did("reopen", number, blocked=blocked)

    def depend(self, number: int, on: int) -> dict[str, object]:
        """Let a task wait for another. Raises CycleError, which the quiz asks about later."""
        try:
            self.graph.update(number, add_blocked_by=[on])
        except CycleError as error:
            self._did("cycle", number, on=on, cycle=list(error.cycle))
            raise
        return self._did("depend", number, on=on)

    def start_worker(self, name: str) -> dict[str, object]:
        """Start a process that claims the best ready task."""
        if name not in WORKERS:
            raise bad_request(f"a worker is one of {', '.join(WORKERS)}")
        old = self._workers.get(name)
        if old is not None and old.process.poll() is None:
            hint = f"kill {name} first, or let it finish"
            raise OutliveError(f"{name} works on task {old.task} already", hint=hint, code=WORKER)
        worker = _started(self._folder, name)
        self._workers[name] = worker
        return self._did("claim", worker.task, owner=name)

    def kill_worker(self, name: str) -> dict[str, object]:
        worker = self._running(name)
        worker.process.send_signal(signal.SIGKILL)
        worker.process.wait()
        worker.killed = True
        return self._did("kill", worker.task, owner=name, pid=worker.process.pid, token=worker.token)

    def finish_worker(self, name: str) -> dict[str, object]:
        """Let a worker complete its task, and wait until its process has ended."""
        worker = self._running(name)
        _, _ = worker.process.communicate(FINISH, timeout=START_SECONDS)
        if worker.process.returncode:
            raise OutliveError(
                f"{name} could not complete task {worker.task}", hint="its lease may have run out", code=WORKER
            )
        return self._did("finish", worker.task, owner=name)

    def late_worker(self, name: str) -> dict[str, object]:
        """Try to complete a task with the token of a worker that was killed. Raises LeaseError when it is stale."""
        worker = self._workers.get(name)
        if worker is None or not worker.killed:
            raise OutliveError(f"{name} was not killed", hint="this step needs a dead worker", code=WORKER)
        self.graph.complete(worker.task, owner=name, token=worker.token)
        return self._did("late", worker.task, owner=name)

    # -- what the page shows

    def snapshot(self) -> dict[str, object]:
        """The graph as it is on disk now. A lease that ran out is given back, as `outlive task ready` does."""
        self._looking.ready()
        tasks = self.graph.find(EVERYTHING)
        history = self.graph.history()[-HISTORY:]
        workers = [
            {"name": name, "pid": worker.process.pid, "alive": worker.process.poll() is None, "task": worker.task}
            for name, worker in self._workers.items()
        ]
        return {
            "tasks": [_told(task) for task in tasks],
            "picture": picture(tasks),
            "files": self.files(),
            "folder": str(self._folder / ".tasks"),
            "workers": workers,
            "history": [_line(change) for change in reversed(history)],
            "now": datetime.now(UTC).timestamp(),
        }

    def files(self) -> dict[str, str]:
        """The text of each `task_N.json`, read from disk."""
        found = (self._folder / ".tasks").glob("task_*.json")
        return {path.name: path.read_text() for path in sorted(found, key=lambda path: _number(path.name))}

    @contextmanager
    def copy(self) -> Iterator[TaskGraph]:
        """The graph in a copy of its store: what would happen if …?"""
        with tempfile.TemporaryDirectory(prefix="copy-", dir=self._folder) as folder:
            shutil.copytree(self._folder / ".tasks", Path(folder) / ".tasks")
            with open_stores("files:.tasks", base=Path(folder), durability="process") as stores:
                yield TaskGraph(stores.tasks, actor="quiz")

    def _did(self, op: str, task: int, **more: Any) -> dict[str, object]:
        self.actions.append({"op": op, "task": task, **more})
        del self.actions[:-50]
        return self.actions[-1]

    def _running(self, name: str) -> _Worker:
        worker = self._workers.get(name)
        if worker is None or worker.process.poll() is not None:
            raise OutliveError(f"{name} does not run", hint=f"start {name} first", code=WORKER)
        return worker


def picture(tasks: list[Task]) -> dict[str, object]:
    """Where `tasks/drawing` puts boxes and arrows, as data that the page draws."""
    drawn = diagram(tasks)
    scene = compose(drawn)
    boxes = [{"id": number, "x": x, "y": y} for number, (x, y) in scene.boxes.items()]
    edges = [
        {"from": before, "to": number, "path": path, "done": drawn.tasks[before].finished}
        for (before, number), path in scene.paths.items()
    ]
    size = {"width": scene.width, "height": scene.height, "box": [scene.box.width, scene.box.height]}
    return {**size, "boxes": boxes, "edges": edges}


def _told(task: Task) -> dict[str, object]:
    lease = task.lease and {
        "owner": task.lease.owner,
        "token": task.lease.token,
        "expires": task.lease.expires_at.timestamp(),
    }
    return {
        "id": task.id,
        "subject": task.subject,
        "state": state(task),
        "mark": mark(task),
        "blockedBy": task.blocked_by,
        "dependsOn": task.depends_on,
        "lease": lease,
    }


def _line(change: TaskChange) -> dict[str, object]:
    return {
        "at": change.at.timestamp(),
        "op": change.op,
        "task": change.task,
        "by": change.actor,
        "note": change.note,
    }


def _number(name: str) -> int:
    found = re.search(r"\d+", name)
    return int(found[0]) if found else 0


def _started(folder: Path, name: str) -> _Worker:
    """Start a worker and wait until it says what it has claimed."""
    command = [sys.executable, "-P", "-m", "outlive.web.learn.worker", name]
    environment = os.environ | {"OUTLIVE_HOME": str(folder / "home")}
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
        command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    limit = threading.Timer(START_SECONDS, process.kill)
    limit.start()
    try:
        line = process.stdout.readline()
    finally:
        limit.cancel()
    said = json.loads(line or '{"refused": "the worker ended before it claimed anything"}')
    if "refused" in said:
        _end(process)
        raise OutliveError(f"{name}: {said['refused']}", hint=said.get("hint", ""), code=WORKER)
    return _Worker(process, said["task"], said["token"])


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
