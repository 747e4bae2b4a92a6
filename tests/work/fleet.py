"""A small fleet: checkouts of one remote, one store, workers in this process, and a brain that plays the agents."""

import asyncio
import itertools
import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import pytest

from outlive.agent.factory import AgentOptions
from outlive.config import Workspace
from outlive.messages import Text, ToolResult
from outlive.models.protocol import Price
from outlive.request import Request
from outlive.stores import open_stores
from outlive.stores.machine import MACHINE
from outlive.tasks.graph import TaskGraph
from outlive.testing import ScriptedModel, call, say
from outlive.testing.simulator.steps import Step
from outlive.work.control import FleetControl
from outlive.work.log_lines import WorkLog
from outlive.work.overview import FleetOverview, overview
from outlive.work.parts import WorkerParts
from outlive.work.settings import WorkOptions
from outlive.work.shared.board import FleetBoard
from outlive.work.start import worker_parts
from outlive.work.worker import Worker

OURS = ".tasks\n.transcripts\n.task_outputs\n.memory\n"
PRICE = Price(input=0, cache_write=0, cache_read=0, output=100_000)
"""A dollar a request: the scripted model says that each answer has 10 tokens."""
PATIENCE = 60.0
NUMBERS = itertools.count(1)


def git(folder: Path, *arguments: str) -> str:
    settings = ("-c", "user.name=t", "-c", "user.email=t@example", "-c", "init.defaultBranch=main")
    run = subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return run.stdout.rstrip("\n")


def checkout(folder: Path, **files: str) -> Path:
    """A repository with a first commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    for name, text in {".gitignore": OURS, "shared.txt": "".join(f"line {n}\n" for n in range(9)), **files}.items():
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    return folder


def shared_checkout(folder: Path, remote: Path) -> Path:
    """A checkout with a bare remote, made with the first one."""
    if not remote.exists():
        checkout(folder)
        git(folder.parent, "init", "-q", "--bare", str(remote))
        git(folder, "remote", "add", "origin", str(remote))
        git(folder, "push", "-qu", "origin", "main")
    else:
        folder.parent.mkdir(parents=True)
        git(folder.parent, "clone", "-q", str(remote), str(folder))
    return folder


@dataclass
class Asked:
    """A request of the agent of a task."""

    request: Request

    @cached_property
    def texts(self) -> str:
        blocks = [block for message in self.request.messages for block in message.blocks]
        return "\n".join(block.text for block in blocks if isinstance(block, Text))

    @property
    def task(self) -> int:
        return int(re.findall(r"Task #(\d+):", self.texts)[-1])

    @property
    def results(self) -> list[ToolResult]:
        return [
            block for message in self.request.messages for block in message.blocks if isinstance(block, ToolResult)
        ]

    @property
    def done(self) -> int:
        """Calls that have a result."""
        return len(self.results)


def die() -> NoReturn:
    """As a machine that loses its power."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("not killed")


Brain = Callable[[Asked], Step]


def writes_a_file(asked: Asked) -> Step:
    """Write one file, then end."""
    if not asked.done:
        return call("write_file", path=f"work/{asked.task}.txt", content=f"done {asked.task}\n")
    return say(f"Wrote work/{asked.task}.txt.")


class BrainModel(ScriptedModel):
    """Answers each request from itself alone."""

    def __init__(self, brain: Brain, *, price: Price | None = None) -> None:
        super().__init__([lambda request: brain(Asked(request))] * 1_000)
        self.price = price


@dataclass
class Fleet:
    """Everything that workers share, and a checkout for those that are started here."""

    project: Path
    url: str = ""
    brain: Brain = writes_a_file
    price: Price | None = None
    machine: str = ""
    lines: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workspace = Workspace.read(self.project, store=self.url or None)
        self.stores = open_stores(**self.workspace.store)
        self.graph = TaskGraph(self.stores.tasks, actor="tester")
        self.board = FleetBoard(self.stores.fleet)
        self.control = FleetControl(self.graph, self.board, self.stores.logs)

    @property
    def worktrees(self) -> Path:
        return self.project.parent / f"{self.project.name}-worktrees"

    def options(self, **given: Any) -> WorkOptions:
        agent = {"mode": "bypass", **given.pop("agent", {})}
        defaults = {
            "owner": f"worker-{os.getpid()}-{next(NUMBERS)}",
            "worktrees": self.worktrees,
            "until_empty": True,
            "check_time": 60.0,
        }
        if "lease" in given:
            given["lease"] = timedelta(seconds=given["lease"])
        return WorkOptions(**{**defaults, **given}, agent=AgentOptions(**agent))

    @contextmanager
    def parts(self, **given: Any) -> Iterator[WorkerParts]:
        log = WorkLog(self._logged, "json")
        model = BrainModel(self.brain, price=self.price)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(MACHINE, self.machine)
            with worker_parts(self.workspace, self.options(**given), log, model=model) as parts:
                patch.undo()
                yield parts

    def _logged(self, line: str) -> None:
        print(line)  # shown if the test fails
        self.lines.append(json.loads(line))

    def work(self, **given: Any) -> str:
        """Run a worker to its end; returns how that was."""
        with self.parts(**given) as parts:
            return asyncio.run(asyncio.wait_for(Worker(parts).run(), PATIENCE))

    def work_until_killed(self, task: int, **given: Any) -> None:
        """Run a worker in a process of its own, which its brain or a check kills; its leases are over then."""
        pid = os.fork()
        if not pid:
            try:
                self.work(**given)
            finally:
                os._exit(1)
        _, status = os.waitpid(pid, 0)
        assert os.WIFSIGNALED(status), "the worker was not killed"
        if self.status(task) == "in_progress":
            self.graph.release(task, force=True)

    @contextmanager
    def working(self, **given: Any) -> Iterator["RunningWorker"]:
        """A worker in a thread, that is drained at the end."""
        with self.parts(**{"until_empty": False, **given}) as parts:
            running = RunningWorker(parts)
            try:
                yield running
            finally:
                running.drain(0.0)
                running.join()

    def create(self, subject: str = "make a file", **fields: Any) -> int:
        return self.graph.create(subject, **fields).id

    def status(self, task: int) -> str:
        return self.graph.get(task).status

    @property
    def overview(self) -> FleetOverview:
        return overview(self.graph, self.board)

    def endings(self, task: int) -> list[str]:
        return [ending.why for ending in self.board.run(task).endings]

    def said(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == event]

    def show(self, name: str, ref: str = "main") -> str:
        return git(self.project, "show", f"{ref}:{name}")

    def close(self) -> None:
        self.stores.close()


class RunningWorker:
    """A worker in a thread."""

    def __init__(self, parts: WorkerParts) -> None:
        self.ended = ""
        self._loop = asyncio.new_event_loop()
        self._worker = Worker(parts)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            self.ended = runner.run(asyncio.wait_for(self._worker.run(), PATIENCE))

    def drain(self, grace: float | None = None) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._worker.drain, grace)

    def join(self) -> str:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the worker did not end"
        return self.ended
