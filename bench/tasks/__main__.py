"""Measure the engines against a naive store and against each other, and print Markdown tables."""

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import outlive
from bench.postgres import postgres
from bench.tasks.graphs import CHAIN, blockers, fill
from bench.tasks.naive import NaiveStore
from bench.tasks.timing import commands_ms, median_ms
from outlive import TaskGraph, open_stores

SIZE = 10_000
PROCESSES = 8

CLAIMER = """
import sys
from outlive import TaskGraph, open_stores
from outlive.errors import NothingReady
graph = TaskGraph(open_stores(sys.argv[1]).tasks)
graph.count()
print("here", flush=True)
sys.stdin.readline()
won = 0
try:
    while True:
        graph.claim(owner=sys.argv[2])
        won += 1
except NothingReady:
    print(won)
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.tasks", description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE, help=f"tasks in the graph (default {SIZE:,})")
    parser.add_argument("--only", choices=["operations", "growth", "cold", "claims"], help="one of the four parts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="outlive-bench-") as name, postgres() as server:
        folder = Path(name)
        engines = {"files": f"files:{folder}/.tasks", "SQLite": f"sqlite:///{folder}/tasks.db"}
        if server:
            engines["PostgreSQL"] = server
        parts = {"operations": operations, "growth": growth, "cold": cold, "claims": claims}
        for part, measure in parts.items():
            if options.only in (None, part):
                measure(folder / part, engines, options.size)


def operations(folder: Path, engines: dict[str, str], size: int) -> None:
    """`ready` and `complete` in a running process."""
    naive = NaiveStore(folder / "naive")
    for number in range(1, size + 1):
        naive.create(number, f"Task number {number} of the plan", blockers(number))
    rows = []
    slowest = median_ms(lambda _: naive.ready(), 5), median_ms(lambda i: naive.complete(1 + i * CHAIN), 5)
    rows.append(["naive scan", f"{slowest[0]:.1f}", f"{slowest[1]:.1f}", "1x"])
    for name, url in engines.items():
        graph = TaskGraph(open_stores(url).tasks)
        fill(graph, size)
        graph.ready(limit=20)
        if url.startswith("postgresql:"):
            _analyse(url)
        ready = median_ms(partial(_ready, graph), 21)
        complete = median_ms(partial(_complete, graph), min(201, size // CHAIN))
        rows.append([name, f"{ready:.2f}", f"{complete:.2f}", f"{slowest[1] / complete:.0f}x"])
        graph.store.close()
    table(
        f"In process, {size:,} tasks (median, ms; acknowledged means on disk)",
        ["engine", "ready (20)", "complete", "complete against the naive scan"],
        rows,
    )


def _analyse(url: str) -> None:
    """Bring the planner's statistics up to date, as autovacuum does on a server that has run for a minute."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")


def _ready(graph: TaskGraph, _: int) -> None:
    graph.ready(limit=20)


def _complete(graph: TaskGraph, index: int) -> None:
    """Complete the first task of a chain."""
    graph.complete(1 + index * CHAIN)


def _rows(times: dict[str, float]) -> list[list[str]]:
    """Each against the first."""
    base = next(iter(times.values()))
    return [[name, f"{value:.0f}", f"{value / base:.1f}x"] for name, value in times.items()]


def _touch(url: str) -> None:
    """A change of one task by another process."""
    graph = TaskGraph(open_stores(url).tasks)
    graph.update(2, description=f"changed at {time.time()}")
    graph.store.close()


def growth(folder: Path, engines: dict[str, str], size: int) -> None:
    """How the cost of `complete` grows with the number of tasks."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes = [size // 10, size, size * 10]
    graphs = []
    for count in sizes:
        graph = TaskGraph(open_stores(f"sqlite:///{folder}/{count}.db").tasks)
        fill(graph, count)
        graphs.append(graph)
    # Warm up, then turn and turn about.
    for graph in graphs:
        graph.complete(1)
    samples: list[list[float]] = [[] for _ in graphs]
    for index in range(1, min(95, sizes[0] // CHAIN)):
        for graph, times in zip(graphs, samples, strict=True):
            times.append(median_ms(lambda _: _complete(graph, index), 1))  # noqa: B023 - called at once
    medians = [sorted(times)[len(times) // 2] for times in samples]
    rows = [
        [f"{count:,}", f"{value:.2f}", f"{value / medians[0]:.2f}x"]
        for count, value in zip(sizes, medians, strict=True)
    ]
    table("SQLite, complete as the graph grows (median, ms)", ["tasks", "complete", f"against {sizes[0]:,}"], rows)


def cold(folder: Path, engines: dict[str, str], size: int) -> None:
    """A whole command, from nothing to the answer."""
    folder.mkdir(parents=True, exist_ok=True)
    compileall.compile_dir(Path(outlive.__file__).parent, quiet=2)
    stores = {"files": f"files:{folder}/.tasks", "SQLite": f"sqlite:///{folder}/cold.db"}
    for url in stores.values():
        fill(TaskGraph(open_stores(url).tasks), size)
    command = str(Path(sys.executable).with_name("outlive"))
    commands: dict[str, list[str]] = {'python -c "import json"': [sys.executable, "-c", "import json"]}
    for name, url in stores.items():
        commands[f"outlive task ready --json, {name}"] = [command, "task", "ready", "--json", "--store", url]
        commands[f"outlive task ready -n 20, {name}"] = [command, "task", "ready", "-n", "20", "--store", url]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    commands_ms(commands, 2, environment)
    rows = _rows(commands_ms(commands, 21, environment))
    changes = {name: partial(_touch, url) for name in commands for key, url in stores.items() if name.endswith(key)}
    changed = {name: words for name, words in commands.items() if "-n 20" not in name}
    after = _rows(commands_ms(changed, 21, environment, changes))
    rows += [[f"{name}, after a change", *cells] for name, *cells in after[1:]]
    table(
        f"Cold command line, {size:,} tasks, {size // CHAIN:,} of them ready (median, ms)",
        ["command", "time", ""],
        rows,
    )


def claims(folder: Path, engines: dict[str, str], size: int) -> None:
    """Claims per second when eight processes want them all."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    count = min(2000, size)
    urls = dict(engines) | {
        "files": f"files:{folder}/.tasks",
        "SQLite": f"sqlite:///{folder}/claims.db",
    }
    for name, url in urls.items():
        graph = TaskGraph(open_stores(url).tasks)
        before = len(graph.ready())
        for start in range(0, count, 1000):
            graph.create_many(
                outlive.TaskDraft(subject=f"Claim me {start + i}") for i in range(min(1000, count - start))
            )
        workers = [
            subprocess.Popen(
                [sys.executable, "-c", CLAIMER, url, f"worker {index}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for index in range(PROCESSES)
        ]
        for worker in workers:
            assert worker.stdout is not None
            worker.stdout.readline()
        start_time = time.perf_counter()
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("\n")
            worker.stdin.flush()
        won = sum(int(worker.communicate()[0]) for worker in workers)
        seconds = time.perf_counter() - start_time
        assert won == before + count, f"{won} claims of {before + count} tasks"
        rows.append([name, f"{won / seconds:,.0f}", f"{won:,} of {before + count:,}"])
    table(f"Claims, {PROCESSES} processes at once", ["engine", "claims a second", "won, each once"], rows)


def table(title: str, head: list[str], rows: list[list[str]]) -> None:
    print(f"\n**{title}**\n")
    for cells in [head, ["---"] * len(head), *rows]:
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
