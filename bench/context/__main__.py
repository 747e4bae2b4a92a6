"""`python -m bench.context`: replay recorded sessions through our policies and through what others do."""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from multiprocessing import Pool
from pathlib import Path

from bench.context import made_up, speed
from bench.context.ablation import FRONTIER, VARIANTS, Variant, patched
from bench.context.baselines import BASELINES, Runner
from bench.context.ours import Ours, Provided
from bench.context.references import Reference, find_references
from bench.context.report import HEAD, row
from bench.context.scoring import Score, run
from bench.context.sessions import DATA, Session, load, manifest
from outlive.context.policy import POLICIES

LOOKED_AT = 2
"""The longest recordings of each source, on which the numbers of the policies were chosen."""
WINDOWS = (50_000, 100_000, 200_000)
SMALLEST = 100_000
"""Characters: a session that fits into every window costs the same under every policy."""
NONE = "no compaction"
PROVIDED = "rich, summary by the provider"
FOREVER = 10**9
Entries = list[tuple[str, int, Variant | None]]
ABLATION: Entries = [(variant.name, 100_000, variant) for variant in VARIANTS]
DEPTHS: Entries = [(variant.name, 100_000, variant) for variant in FRONTIER]
LENGTHS = (2_000, 8_000)
"""Turns of the sessions that are timed."""


@lru_cache(maxsize=64)
def prepared(path: Path) -> tuple[Session, list[Reference], float]:
    """A session, what it will need, and what it costs when nothing is ever compacted."""
    session = load(path)
    references = find_references(session)
    return session, references, run(session, references, BASELINES[NONE], FOREVER).cost


def job(task: tuple[Path, str, int, Variant | None]) -> Score:
    """One policy, one window, one session."""
    path, name, window, variant = task
    session, references, base = prepared(path)
    make: Callable[[Session, int], Runner]
    if variant is not None:
        make = partial(Ours, policy=variant.policy)
    elif name in POLICIES:
        make = partial(Ours, policy=POLICIES[name])
    elif name == PROVIDED:
        make = partial(Provided, policy=POLICIES["rich"])
    else:
        make = BASELINES[name]
    with patched(variant or Variant(name)):
        score = run(session, references, make, FOREVER if name == NONE else window)
    score.base = base
    score.missed = []
    return score


def table(
    title: str, paths: Sequence[Path], entries: Sequence[tuple[str, int, Variant | None]], pool: object
) -> None:
    """Print one table."""
    print(f"\n### {title} ({len(paths)} sessions)\n\n{HEAD}")
    tasks = [(path, *entry) for entry in entries for path in paths]
    scores = pool.map(job, tasks, chunksize=max(1, len(paths)))  # type: ignore[attr-defined]
    for number, (name, window, _) in enumerate(entries):
        print(row(window, name, scores[number * len(paths) : (number + 1) * len(paths)]), flush=True)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.context", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder with manifest.csv and the recordings")
    parser.add_argument("--windows", type=int, nargs="+", default=list(WINDOWS))
    parser.add_argument(
        "--quick", action="store_true", help="our default and two others, two windows, a dozen sessions"
    )
    parser.add_argument("--no-ablation", action="store_true")
    parser.add_argument("--speed", action="store_true", help="how long a turn takes, and nothing else")
    parser.add_argument("--processes", type=int, default=2, choices=(1, 2))
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    recordings = manifest(options.data, SMALLEST)
    if not recordings:
        print(f"no recorded sessions in {options.data}: nothing to measure", file=sys.stderr)
        return 0
    if options.speed:
        speed.report([path for path, _ in recordings], LENGTHS)
        return 0
    sources: dict[str, list[Path]] = {}
    for path, source in recordings:
        sources.setdefault(source, []).append(path)
    held = [path for paths in sources.values() for path in paths[:-LOOKED_AT]]
    names = [NONE, *(name for name in BASELINES if name != NONE), *POLICIES, PROVIDED]
    if options.quick:
        held, sources, names = held[::5], {}, [NONE, "truncate oldest", "rich"]
        options.windows, options.no_ablation = [50_000, 100_000], True
    with Pool(options.processes) as pool:
        for window in options.windows:
            table(
                f"Window {window // 1000}k, recordings held out",
                held,
                [(n, window, None) for n in names],
                pool,
            )
        entries = [("rich", window, None) for window in options.windows]
        for source, paths in sources.items():
            table(source, paths, entries, pool)
        if not options.no_ablation:
            table("How far passes go, recordings held out", held, DEPTHS, pool)
            table("Ablation, recordings held out", held, ABLATION, pool)
    made_up.report([(name, partial(Ours, policy=policy)) for name, policy in POLICIES.items()])
    speed.report([path for path, _ in recordings], (400,) if options.quick else LENGTHS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
