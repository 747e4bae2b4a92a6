"""Timing helpers. Everything compared is measured in one run, turn and turn about."""

import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def median_ms(work: Callable[[int], Any], rounds: int) -> float:
    """The median over `rounds` calls, each given its number, in milliseconds."""
    return statistics.median(_timed(work, index) for index in range(rounds)) * 1000


def commands_ms(
    commands: Mapping[str, Sequence[str]],
    rounds: int,
    env: dict[str, str],
    before: Mapping[str, Callable[[], object]] | None = None,
) -> dict[str, float]:
    """Medians of whole commands, interleaved, so that noise hits all alike; `before` runs untimed."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            (before or {}).get(name, lambda: None)()
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) * 1000 for name, values in times.items()}


def _timed(work: Callable[[int], Any], index: int) -> float:
    start = time.perf_counter()
    work(index)
    return time.perf_counter() - start
