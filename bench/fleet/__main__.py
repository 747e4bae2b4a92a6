"""Measure the task graph and other queues on the same server, and print Markdown tables."""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import psycopg

from bench.fleet.contender import Contender, contenders, install
from bench.fleet.processor import ServerTime
from bench.fleet.worker import POLL_SECONDS
from bench.postgres import postgres
from bench.tasks.__main__ import table

OTHERS = Path(tempfile.gettempdir()) / "outlive-bench-fleet"
BEAT_THREADS = 8
DBOS_POLLS = (POLL_SECONDS, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description=__doc__)
    parser.add_argument("--only", choices=["claims", "wake", "beats"], help="one of the three parts")
    parser.add_argument("--sizes", type=_numbers, default=[1_000, 10_000, 100_000], help="tasks that are ready")
    parser.add_argument("--workers", type=_numbers, default=[8, 32, 64], help="workers at once")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement of claims (default 4)")
    parser.add_argument("--repeat", type=int, default=3, help="rounds, in turn; the median counts (default 3)")
    parser.add_argument("--wakes", type=int, default=40, help="jobs that wake somebody (default 40)")
    parser.add_argument("--beating", type=int, default=1_000, help="workers that send heartbeats (default 1,000)")
    parser.add_argument(
        "--at-once", action="store_true", help="claims of all at the same time: fair on a busy machine"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, one round: under a minute")
    parser.add_argument("--alone", action="store_true", help="without the others")
    parser.add_argument("--others", type=Path, default=OTHERS, help=f"environment of the others (default {OTHERS})")
    parser.add_argument("--install", action="store_true", help="make that environment first, from PyPI")
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.workers, options.repeat = [1_000], [8], 1
        options.seconds, options.wakes, options.beating = 2.0, 10, 100
    if options.install:
        install(options.others)
    with postgres() as server:
        if server is None:
            return
        racing = contenders(options.others)[: 1 if options.alone else None]
        for contender in racing:
            _fresh(server, contender)
        parts = {"claims": claims, "wake": wake, "beats": beats}
        for part, measure in parts.items():
            if options.only in (None, part):
                measure(server, racing, options)
        for contender in racing:
            _drop(server, contender)


def claims(server: str, racing: Sequence[Contender], options: argparse.Namespace) -> None:
    """Take, do nothing, finish: how many a second, and how long each takes."""
    rows = []
    for size in options.sizes:
        for workers in options.workers:
            measure = partial(_drained, server, size=size, workers=workers, seconds=options.seconds)
            run = _at_once if options.at_once else _in_turn
            found = run(racing, options.repeat, measure)
            first = statistics.median(one["rate"] for one in found[0])
            for contender, rounds in zip(racing, found, strict=True):
                rates = [one["rate"] for one in rounds]
                rate = statistics.median(rates)
                spread = f"{min(rates):,.0f} to {max(rates):,.0f}"
                cells = [f"{size:,}", str(workers), contender.name, f"{rate:,.0f}", spread, f"{rate / first:.2f}x"]
                cells += [_each(rounds, "processor"), _each(rounds, "server")]
                for part in ("claims", "finishes"):
                    cells += _percentiles([value for one in rounds for value in one[part]])
                rows.append(cells)
                print("\t".join(cells), file=sys.stderr, flush=True)
    head = [
        "ready",
        "workers",
        "",
        "jobs a second",
        "lowest to highest",
        "against outlive",
        "client, ms of processor",
    ]
    head += ["server", "claim p50, ms", "p99", "finish p50, ms", "p99"]
    table("Take, do nothing, finish", head, rows)


def _drained(
    server: str, contender: Contender, *, size: int, workers: int, seconds: float, ready: Callable[[], object] = bool
) -> dict[str, Any]:
    contender.run(server, "fill", size)
    with psycopg.connect(contender.url(server), autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")  # as autovacuum does within a minute
        connection.execute("CHECKPOINT")  # not in the middle of the next one's turn
    clock = ServerTime(server)
    before = clock.seconds()
    found = contender.drain(server, workers, seconds, ready)
    after = clock.seconds()
    spent = None if before is None or after is None else (after - before) / found["done"]
    return found | {"server": spent}


def _each(rounds: Sequence[dict[str, Any]], part: str) -> str:
    """Milliseconds a job, the median of the rounds."""
    values = [one[part] for one in rounds]
    return "?" if None in values else f"{statistics.median(values) * 1000:.1f}"


def wake(server: str, racing: Sequence[Contender], options: argparse.Namespace) -> None:
    """From the moment before a job is made to the start of its work, while nothing else happens."""
    rows = []
    for waiters in (1, min(options.workers[-1], 32)):
        for contender in racing:
            for poll in DBOS_POLLS if contender.name == "DBOS" else (None,):
                _fresh(server, contender)
                numbers = [] if poll is None else [poll]
                ages = contender.wake(server, waiters, options.wakes, *numbers)
                name = contender.name if poll is None else f"{contender.name}, polling every {poll:g} s"
                rows.append([name, str(waiters), f"{len(ages)} of {options.wakes}", *_percentiles(ages)])
    table("From ready to claimed", ["", "idle workers", "jobs", "p50, ms", "p99"], rows)


def beats(server: str, racing: Sequence[Contender], options: argparse.Namespace) -> None:
    """Heartbeats of many workers: how long they take, and what they leave of the claims."""
    rows = []
    for contender in (one for one in racing if one.beats):
        _fresh(server, contender)
        contender.run(server, "fill", options.beating)
        found = contender.beat(server, options.beating, BEAT_THREADS)
        rate = options.beating / found["seconds"]
        rows.append([contender.name, f"{rate:,.0f}", *_percentiles(found["times"])])
    title = f"Heartbeats of {options.beating:,} workers, {BEAT_THREADS} at a time"
    table(title, ["", "a second", "p50, ms", "p99"], rows)


def _in_turn(
    racing: Sequence[Contender], repeat: int, measure: Callable[..., dict[str, Any]]
) -> list[list[dict[str, Any]]]:
    """The rounds of each, turn and turn about, so that noise hits all alike."""
    rounds = [[measure(contender) for contender in racing] for _ in range(repeat)]
    return [list(column) for column in zip(*rounds, strict=True)]


def _at_once(
    racing: Sequence[Contender], repeat: int, measure: Callable[..., dict[str, Any]]
) -> list[list[dict[str, Any]]]:
    """The rounds of each, all at the same time. What the server spends cannot be told apart then."""
    together = partial(measure, ready=Barrier(len(racing)).wait)
    with ThreadPoolExecutor(len(racing)) as pool:
        rounds = [[found | {"server": None} for found in pool.map(together, racing)] for _ in range(repeat)]
    return [list(column) for column in zip(*rounds, strict=True)]


def _percentiles(seconds: Sequence[float]) -> list[str]:
    ordered = sorted(seconds)
    return [f"{ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1000:.1f}" for part in (0.5, 0.99)]


def _fresh(server: str, contender: Contender) -> None:
    """An empty database with the tables of the contender."""
    _drop(server, contender)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {contender.database}".encode())
    contender.run(server, "setup")


def _drop(server: str, contender: Contender) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {contender.database} WITH (FORCE)".encode())


def _numbers(text: str) -> list[int]:
    return [int(part.replace("_", "")) for part in text.split(",")]


if __name__ == "__main__":
    main()
