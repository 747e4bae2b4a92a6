"""One run of the job in a client, and what its requests show."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.clients.clients import Client
from bench.clients.job import DONE, INSTRUCTIONS, TASKS, Job, Turn, Worker
from outlive.testing import Simulator
from outlive.testing.simulator import SeenRequest

WRITE, READ = 1.25, 0.1
RECENT = 20
"""How many of the last facts are looked for."""
SHRUNK = 0.8
"""A request of less than this part of the one before it shows a compaction."""
NOWHERE = "http://127.0.0.1:9"
"""Instead of any package registry and proxy: nothing is fetched."""


class Skipped(Exception):
    """An arm that cannot be run here, with the reason."""


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


def run(kind: type[Client], job: Job, *, outlive: bool, keep: Path | None = None) -> Result:
    """Run the job in a fresh home. Raises Skipped if the client or `outlive init` for it is not there."""
    if not kind.installed():
        raise Skipped(f"{kind.name} is not installed: python -m bench.clients.install {kind.name}")
    with TemporaryDirectory(prefix="outlive-bench-", ignore_cleanup_errors=True) as name:
        home, repository = Path(name) / "home", Path(name) / "warehouse"
        home.mkdir()
        job.write(repository)
        client = kind(home)
        worker = Worker(job, client)
        with Simulator(brain=worker, binding="reported") as sim:
            environment = _environment(client, sim)
            if outlive:
                _install(kind.name, repository, environment)
            for prompt in job.prompts:
                client.ended(_said(client.command(prompt), repository, environment))
            sim.verify()
        if keep is not None:
            shutil.copytree(home, keep, symlinks=True)
            bodies = (json.dumps(request.body) for request in sim.requests)
            (keep / "requests.jsonl").write_text("\n".join(bodies) + "\n")
        return measured(worker.turns, sim, job)


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


def _environment(client: Client, sim: Simulator) -> dict[str, str]:
    binaries = str(Path(sys.executable).parent)
    return {
        "PATH": os.pathsep.join([binaries, os.environ["PATH"]]),
        "HOME": str(client.home),
        "npm_config_registry": NOWHERE,
        **sim.env(),
        **client.configure(sim),
    }


def _install(client: str, repository: Path, environment: dict[str, str]) -> None:
    command = [str(Path(sys.executable).parent / "outlive"), "init", client, "--yes"]
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Skipped(f"`outlive init {client} --yes` failed: {words[-1] if words else done.returncode}")


def _said(command: list[str], repository: Path, environment: dict[str, str]) -> str:
    """Run the client for one prompt; return what it printed."""
    done = subprocess.run(
        command,
        cwd=repository,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
    )
    if done.returncode:
        raise SystemExit(f"{command[0]} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout
