"""What must hold once everything has calmed down. Each check returns a count and what is wrong."""

import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.fleet_chaos.machines import Machine, git
from bench.fleet_chaos.plan import BUDGET, EVERYTHING, PARTS, WAITING, Planned
from outlive.events import ToolFinished
from outlive.messages import tool_calls
from outlive.stores import Stores
from outlive.stores.logs.protocol import UnknownSession
from outlive.stores.tasks.records import Task
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.records import PERSON, Family, TaskRun


class Finding(NamedTuple):
    what: str
    looked_at: int
    wrong: list[str]


class Remains:
    """What a run has left behind."""

    def __init__(
        self,
        stores: Stores,
        remote: Path,
        ledger: Path,
        machines: Sequence[Machine],
        planned: Sequence[Planned],
        spent: float,
    ) -> None:
        """`spent`: dollars of the label `costly`, when its budget was lifted."""
        self.stores, self.remote, self.ledger = stores, remote, ledger
        self.machines, self.planned = machines, planned
        self.board, self.spent = FleetBoard(stores.fleet), spent
        self.tasks: dict[int, Task] = {task.id: task for task in stores.tasks.read(lambda tx: tx.find(EVERYTHING))}
        self.runs = {int(id): run for id, run in self.board.all(TaskRun).items()}
        self.kinds = {each.id: each.kind for each in planned}

    def findings(self) -> list[Finding]:
        checks: list[tuple[str, Callable[[], Iterable[str]], int]] = [
            ("tasks lost", self._lost, len(self.tasks)),
            ("tasks completed twice", self._twice, len(self.tasks)),
            ("commits missing or twice on the branch", self._commits, len(self._completed())),
            ("checks that fail on the tip", self._tip, 1),
            ("logs with two writers interleaved", self._logs, len(self.runs)),
            ("commands repeated silently, or missing", self._commands, len(list(self.ledger.iterdir()))),
            ("worktrees not accounted for", self._worktrees, sum(len(each.worktrees) for each in self.machines)),
            ("agents not contained", self._contained, len(self.planned)),
            ("budgets exceeded by more than a request a slot", self._budget, 1),
        ]
        return [Finding(what, count, list(check())) for what, check, count in checks]

    def _completed(self) -> list[int]:
        return [id for id, task in self.tasks.items() if task.status == "completed"]

    def _lost(self) -> Iterator[str]:
        for each in self.planned:
            task = self.tasks.get(each.id)
            if task is None:
                yield f"#{each.id} is gone"
            elif each.kind in WAITING and task.owner != PERSON:
                yield f"#{each.id} {each.kind} waits for nobody: {task.status}"
            elif each.kind not in WAITING and task.status != "completed":
                ends = [f"{end.why} {end.text[:200]}" for end in self.runs.get(each.id, TaskRun()).endings]
                yield f"#{each.id} {each.name} {each.kind}: {task.status} {task.owner or ''} {ends}"

    def _twice(self) -> Iterator[str]:
        changes = self.stores.tasks.read(lambda tx: tx.history())
        ends = Counter(change.task for change in changes if change.op == "complete")
        yield from (f"#{id}: {times} times" for id, times in ends.items() if times > 1)

    def _commits(self) -> Iterator[str]:
        trailers = git(self.remote, "log", "--format=%(trailers:key=Task,valueonly,separator=%x2C)", "main")
        landed = Counter(int(line) for line in trailers.split() if line.isdigit())
        shas = set(git(self.remote, "log", "--format=%H", "main").split())
        for id in self._completed():
            if landed[id] != 1:
                yield f"#{id}: {landed[id]} commits on the branch"
            if (commit := self.runs[id].landing) not in shas:
                yield f"#{id}: its commit {commit[:10] or '(none)'} is not on the branch"
        yield from (f"#{id} is not completed, and on the branch" for id in landed if id not in self._completed())

    def _tip(self) -> Iterator[str]:
        tip = self.remote.parent / "tip"
        if not tip.exists():
            git(self.remote.parent, "clone", "-q", str(self.remote), str(tip))
        done = subprocess.run(["sh", "check.sh"], cwd=tip, capture_output=True, text=True)
        if done.returncode:
            yield f"check.sh: {done.stdout}{done.stderr}"
        lines = (tip / "shared" / "list.txt").read_text().split()
        for each in self.planned:
            if self.tasks[each.id].status == "completed":
                if not (tip / "work" / f"{each.name}.txt").is_file():
                    yield f"the file of {each.name} is missing"
                if each.kind == "merge" and each.name not in lines:
                    yield f"the line of {each.name} is missing"

    def _logs(self) -> Iterator[str]:
        """Ids without a gap, and each call answered once by a result that comes after it."""
        for id, run in self.runs.items():
            if not run.session:
                continue
            try:
                events = self.stores.logs.read(run.session).events
            except UnknownSession:
                if self.tasks[id].status == "completed":
                    yield f"#{id}: the log of {run.session} is gone"
                continue
            numbers = [event.id for event in events]
            if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
                yield f"#{id}: gaps or doubles in the log of {run.session}"
            asked: set[str] = set()
            answered: Counter[str] = Counter()
            for event in events:
                asked |= {call.id for call in tool_calls(getattr(event, "blocks", ()))}
                if isinstance(event, ToolFinished):
                    answered[event.call_id] += 1
                    if event.call_id not in asked:
                        yield f"#{id}: a result without a call in {run.session}"
            yield from (f"#{id}: call {call} has {n} results" for call, n in answered.items() if n > 1)

    def _commands(self) -> Iterator[str]:
        for path in self.ledger.iterdir():
            ran = Counter(path.read_text().split())
            yield from (f"{path.name} {step}: {times} times" for step, times in ran.items() if times > 1)
        for each in self.planned:
            if self.tasks[each.id].status == "completed":
                path = self.ledger / each.name
                ran = Counter(path.read_text().split() if path.exists() else [])
                yield from (f"{each.name} {step} never ran" for step in ("one", "two") if not ran[step])

    def _worktrees(self) -> Iterator[str]:
        """Those that are left belong to tasks that are not over, or hold something that is stored nowhere else."""
        for machine in self.machines:
            for path in machine.worktrees:
                id = int(path.name.split("-")[1])
                if self.tasks[id].finished and not git(path, "status", "--porcelain"):
                    yield f"{machine.name}: {path.name} of a task that is over is clean, and still there"
        for id, run in self.runs.items():
            waits = not self.tasks[id].finished and run.worktree
            if waits and not Path(run.worktree).is_dir() and not run.wip:
                yield f"#{id}: neither its worktree nor its work is anywhere"

    def _contained(self) -> Iterator[str]:
        for machine in self.machines:
            yield from (f"{path} was written" for path in machine.folder.rglob("escaped-*"))
            if (changed := git(machine.project, "status", "--porcelain")) != "":
                yield f"{machine.name}: its checkout was changed: {changed}"
        families = self.board.all(Family)
        yield from (f"#{id} became {each.tasks} tasks" for id, each in families.items() if each.tasks > PARTS)
        for id, run in self.runs.items():
            if self.kinds.get(id) in WAITING and self.tasks[id].owner == PERSON and not run.question:
                yield f"#{id} waits for a person, and does not say why"

    def _budget(self) -> Iterator[str]:
        slots = sum(1 for kind in self.kinds.values() if kind == "costly")
        dear = max((run.dollars / max(1, run.requests) for run in self.runs.values()), default=0.0) * 3
        if self.spent > BUDGET + slots * dear:
            yield f"${self.spent:.4f} of ${BUDGET:.2f} with {slots} slots and requests of up to ${dear:.4f}"
