"""`python -m bench.fleet_chaos.moves`: a session is killed on one machine at a random moment and ends on another.

Each round: machine A claims a task, all of its processes are killed, machine B goes on. What must hold: the same
session, its instructions and plan in the requests of B, its files on the branch once, no command run twice.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.fleet_chaos import plan
from bench.fleet_chaos.__main__ import IGNORED, MODEL, server
from bench.fleet_chaos.brain import MOVES, PLAN, agent
from bench.fleet_chaos.machines import Machine, git, make_remote
from outlive.stores import open_stores
from outlive.tasks.graph import TaskGraph
from outlive.testing import Simulator
from outlive.testing.simulator.seen import SeenRequest
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.records import TaskRun

INSTRUCTION = "From now on never write outside of work."
PATIENCE = 120.0


class Moves:
    """Two machines, and what became of their sessions."""

    def __init__(self, given: argparse.Namespace, folder: Path, database: Any, simulator: Simulator) -> None:
        self.given, self.simulator = given, simulator
        self.random = random.Random(given.seed)
        self.url = str(database.get_uri())
        self.stores = open_stores(self.url)
        self.graph = TaskGraph(self.stores.tasks, actor="chaos")
        self.board = FleetBoard(self.stores.fleet)
        self.ledger = folder / "ledger"
        self.ledger.mkdir()
        self.remote = make_remote(folder, {".gitignore": IGNORED, "work/README": "x\n"})
        common = {
            **simulator.env(),
            "MODEL_ID": MODEL,
            "PATH": f"{plan.install(folder / 'programs')}:/usr/local/bin:/usr/bin:/bin",
            "OUTLIVE_LEDGER": str(self.ledger),
        }
        self.a, self.b = (
            Machine(folder / name, self.remote, self.url, common, given.lease, split=0) for name in "ab"
        )
        self.killed_in: Counter[str] = Counter()

    def close(self) -> None:
        for machine in (self.a, self.b):
            machine.kill()
            machine.close()
        self.stores.close()

    def round(self, number: int) -> Iterator[str]:
        """Run one; yields what is wrong."""
        name = f"m{number:03}"
        task = self.graph.create(f"{name} {MOVES}", description=INSTRUCTION).id
        self._start(self.a)
        before = self._wait_for(task, lambda run: run.phase == "working")
        time.sleep(self.random.uniform(0.0, self.given.longest))
        self.a.kill()
        before = self.board.run(task)
        self.killed_in[before.phase] += 1
        seen = len(self.simulator.requests)
        self._start(self.b, "--until-empty")
        if self.b.wait(PATIENCE) is None:
            yield "the second machine did not end"
            self.b.kill()
        after = self.board.run(task)
        if self.graph.get(task).status != "completed":
            yield f"it is {self.graph.get(task).status}: {[end.text for end in after.endings]}"
            return
        if before.session and after.session != before.session:
            yield f"session {before.session} became {after.session}"
        yield from self._requests(self.simulator.requests[seen:])
        ran = Counter((self.ledger / name).read_text().split())
        yield from (f"{step} ran {ran[step]} times" for step in ("zero", "one", "two") if ran[step] != 1)
        files = git(self.remote, "ls-tree", "--name-only", "main", "work/").split()
        yield from (f"{path} is missing" for path in self._files(name) if path not in files)
        landed = git(self.remote, "log", "--format=%(trailers:key=Task,valueonly)", "main").split().count(str(task))
        if landed != 1:
            yield f"{landed} commits on the branch"

    def _requests(self, requests: list[SeenRequest]) -> Iterator[str]:
        """The instructions in each request, and the plan in each that was made after it."""
        for request in requests:
            text = "\n".join(request.texts())
            if INSTRUCTION not in text:
                yield "a request without the instruction"
            planned = any(result.name == "update_plan" for result in request.results())
            if planned and not all(step in text for step in PLAN):
                yield "a request without the plan"

    def _files(self, name: str) -> list[str]:
        return [f"work/{name}.txt", f"work/{name}-first.txt"]

    def _start(self, machine: Machine, *more: str) -> None:
        allowed = [part for name in plan.PROGRAMS for part in ("--allow", f"bash({name} *)")]
        machine.start("--slots", "1", *allowed, *more)

    def _wait_for(self, task: int, holds: Any) -> TaskRun:
        until = time.monotonic() + PATIENCE
        while not holds(run := self.board.run(task)):
            if time.monotonic() > until:
                raise TimeoutError(f"task {task} is {run.phase or 'not begun'}")
            time.sleep(0.02)
        return run


def main() -> int:
    parser = argparse.ArgumentParser("python -m bench.fleet_chaos.moves", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--lease", type=float, default=5.0, help="seconds")
    parser.add_argument("--longest", type=float, default=6.0, help="seconds from the claim to the kill, at most")
    parser.add_argument("--thinking", type=float, default=0.2, help="seconds of an answer of the model")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="outlive-moves-"))
    wrong: list[str] = []
    with (
        server(folder / "database") as database,
        Simulator(brain=agent(given.thinking)) as simulator,
        closing(Moves(given, folder, database, simulator)) as moves,
    ):
        for number in range(given.rounds):
            found = list(moves.round(number))
            wrong += [f"round {number}: {text}" for text in found]
            print(f"round {number}: {'; '.join(found) or 'ok'}", flush=True)
    killed: Mapping[str, int] = moves.killed_in
    print(", ".join(f"killed while {phase or 'between attempts'}: {times}" for phase, times in killed.items()))
    print(f"{given.rounds} rounds, {len(wrong)} things wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
