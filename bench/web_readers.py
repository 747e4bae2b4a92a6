"""What browsers that watch cost an agent: `python -m bench.web_readers`.

The agent, the server and the browsers are processes of their own; the agent works through the same steps in each run,
and runs with 0, 1 and 100 browsers alternate. A browser is a connection with the topics of a session's page. The
control is the agent beside a process that has nothing to do with it and takes as much of the processor as the server
and the browsers took: what is left of the difference would be a coupling, as by locks or by waiting for the disk.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.web import served

READERS = (0, 1, 100)
STEPS = 1_500
ROUNDS = 3
COLUMNS = (
    *("browsers", "steps a second", "best", "agent: ms of processor a step", "agent: waits of 1,000 steps"),
    *("server: share of a processor", "browsers: share", "messages"),
    "server: µs of processor a message",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(arguments.rounds):
        share = 0.0
        for count in READERS:
            run = watched(count, arguments.steps)
            share = (run["server"] + run["browsers"]) / run["seconds"]
            found.setdefault(str(count), []).append(run)
        found.setdefault("control", []).append(beside_control(share, arguments.steps))
    print(f"| {' | '.join(COLUMNS)} |\n{'| --- ' * len(COLUMNS)}|")
    for name, runs in found.items():
        rates = [arguments.steps / run["seconds"] for run in runs]
        cells: list[object] = [name, f"{statistics.median(rates):.0f}", f"{max(rates):.0f}"]
        cells += [f"{_median(runs, one) * 1000 / arguments.steps:.2f}" for one in ("agent", "waits")]
        cells += [
            f"{statistics.median(run[one] / run['seconds'] for run in runs):.0%}" for one in ("server", "browsers")
        ]
        messages = _median(runs, "messages")
        cells += [f"{messages:,.0f}", f"{_median(runs, 'server') * 1e6 / messages:.0f}" if messages else ""]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


def _median(runs: list[dict[str, float]], name: str) -> float:
    return statistics.median(run[name] for run in runs)


def watched(count: int, steps: int) -> dict[str, float]:
    """One run of the agent with so many browsers."""
    with ExitStack() as parts:
        folder = parts.enter_context(tempfile.TemporaryDirectory())
        server = parts.enter_context(served(Path(folder)))
        agent = parts.enter_context(_part("agent", folder, steps))
        browsers = parts.enter_context(_part("browsers", server.origin, server.token, server.workspace, count))
        before = _processor(server.process.pid)
        run = _told(agent)
        after = _processor(server.process.pid)
        return run | {"server": after - before} | _told(browsers)


def beside_control(share: float, steps: int) -> dict[str, float]:
    """One run of the agent beside a process that takes this share of one processor."""
    with (
        tempfile.TemporaryDirectory() as name,
        _part("agent", name, steps) as agent,
        _part("control", share) as control,
    ):
        return _told(agent) | {"server": 0.0, "messages": 0} | _told(control)


@contextmanager
def _part(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process of this module, as soon as it is ready."""
    command = [sys.executable, "-m", "bench.web_readers_part", *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process


def _told(process: subprocess.Popen[str]) -> dict[str, float]:
    """Let a part begin, or end; what it measured."""
    told: dict[str, float] = json.loads(process.communicate("go\n")[0])
    return told


def _processor(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
