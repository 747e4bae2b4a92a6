"""A long job in the real clients, plain and with outlive, against the simulator.

python -m bench.clients                          every client that is installed, about six minutes
python -m bench.clients --client codex --runs 3  one of them, with three jobs: the worst of all, and the sums
python -m bench.clients --kills                  with outlive, which is killed again and again, the client too
python -m bench.clients --turns 200 --keep DIR   a longer job; homes and requests are left in DIR
"""

import argparse
import sys
from collections.abc import Iterator
from functools import reduce
from operator import add
from pathlib import Path

from bench.clients import kills
from bench.clients.clients import CLIENTS
from bench.clients.job import DONE, INSTRUCTIONS, TASKS, Job
from bench.clients.measure import RECENT, Result, run
from bench.clients.place import Skipped

HEAD = (
    *("client", "", "requests", "compactions", f"instructions (of {len(INSTRUCTIONS)})"),
    *(
        f"open tasks (of {len(TASKS) - len({DONE})})",
        f"last {RECENT} facts",
        "input cost",
        "against plain",
        "refused",
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", choices=CLIENTS, action="append", help="may be given several times")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--runs", type=int, default=1, help="jobs with other files")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave homes and requests here")
    parser.add_argument("--kills", action="store_true", help="kill clients, hooks and servers at random moments")
    options = parser.parse_args()
    jobs = [Job(options.turns, seed) for seed in range(1, options.runs + 1)]
    if options.kills:
        for name in options.client or ("claude-code", "codex"):
            for job in jobs:
                kills.measure(CLIENTS[name], job)
        return
    print(" | ".join(("", *HEAD, "")).strip())
    print("|" + " --- |" * len(HEAD))
    for name in options.client or CLIENTS:
        plain: Result | None = None
        for arm in ("plain", "outlive"):
            try:
                result = reduce(add, _runs(name, arm, jobs, options.keep))
            except Skipped as reason:
                print(f"{name}, {arm}: skipped. {reason}", file=sys.stderr)
                continue
            print(row(name, arm, result, plain), flush=True)
            plain = plain or result


def _runs(name: str, arm: str, jobs: list[Job], keep: Path | None) -> Iterator[Result]:
    for job in jobs:
        place = keep / f"{name}-{arm}-{job.seed}" if keep else None
        yield run(CLIENTS[name], job, outlive=arm == "outlive", keep=place)


def row(name: str, arm: str, result: Result, plain: Result | None) -> str:
    against = f"{result.cost / plain.cost - 1:+.1%}" if plain else ""
    cells = (
        *(name, arm, result.requests, result.compactions, result.instructions, result.tasks, result.facts),
        *(f"{result.cost / 1000:,.0f}k", against, result.refusals),
    )
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    main()
