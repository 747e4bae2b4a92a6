"""One run of the job in a client, and what its requests show."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bench.clients.clients import Client
from bench.clients.job import DONE, INSTRUCTIONS, TASKS, Job, Turn
from bench.clients.place import Place
from outlive.testing import Simulator
from outlive.testing.simulator import SeenRequest

WRITE, READ = 1.25, 0.1
RECENT = 20
"""How many of the last facts are looked for."""
SHRUNK = 0.8
"""A request of less than this part of the one before it shows a compaction."""


@dataclass(frozen=True)
class Result:
    """What is measured; the worst of all requests after the first compaction."""

    requests: int
    compactions: int
    instructions: int
    tasks: int
    facts: int
    cost: float
    refusals: int

    def __add__(self, other: "Result") -> "Result":
        """Join two runs: the worst of both, and the sums of what is counted."""
        return Result(
            requests=self.requests + other.requests,
            compactions=self.compactions + other.compactions,
            instructions=min(self.instructions, other.instructions),
            tasks=min(self.tasks, other.tasks),
            facts=min(self.facts, other.facts),
            cost=self.cost + other.cost,
            refusals=self.refusals + other.refusals,
        )


def run(kind: type[Client], job: Job, *, outlive: bool, keep: Path | None = None) -> Result:
    """Run the job in a fresh home. Raises Skipped if the client or `outlive init` for it is not there."""
    with Place(kind, job) as place:
        if outlive:
            place.outlive_init("--yes")
        for prompt in job.prompts:
            place.ask(prompt)
        place.sim.verify()
        if keep is not None:
            shutil.copytree(place.home, keep, symlinks=True, ignore=shutil.ignore_patterns("*.sock"))
            bodies = (json.dumps(request.body) for request in place.sim.requests)
            (keep / "requests.jsonl").write_text("\n".join(bodies) + "\n")
        return measured(place.worker.turns, place.sim, job)


def measured(turns: Sequence[Turn], sim: Simulator, job: Job) -> Result:
    """Look at the requests of the main conversation; the cost is of all requests, those for summaries too."""
    sizes = [turn.request.usage.prompt if turn.request.usage else 0 for turn in turns]
    shrunk = [number for number, (was, now) in enumerate(pairwise(sizes), 1) if now < SHRUNK * was]
    if not shrunk:
        raise SystemExit(
            f"no compaction in {len(turns)} requests (the largest has {max(sizes)} tokens): nothing to measure"
        )
    open_tasks = [task for task in TASKS if task != DONE]
    later = turns[shrunk[0] :]
    return Result(
        requests=len(turns),
        compactions=len(shrunk),
        instructions=min(_found(turn.request, INSTRUCTIONS) for turn in later),
        tasks=min(_found(turn.request, open_tasks) for turn in later),
        facts=min(
            _found(turn.request, job.owners[turn.facts - RECENT : turn.facts])
            for turn in later
            if turn.facts >= RECENT
        ),
        cost=sum(_cost(request) for request in sim.requests),
        refusals=len(sim.refusals),
    )


def _found(request: SeenRequest, wanted: Sequence[str]) -> int:
    text = " ".join(request.text.split())
    return sum(one in text for one in wanted)


def _cost(request: SeenRequest) -> float:
    usage = request.usage
    return usage.input + WRITE * usage.cache_write + READ * usage.cache_read if usage else 0.0
