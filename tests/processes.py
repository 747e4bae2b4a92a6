"""Real processes that begin at the same moment."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from tests.engines import ROOT, worker_environment


def at_once(url: str, jobs: Sequence[tuple[str, str]], *, module: str = "tests.workers") -> list[Any]:
    """Run each (job, argument) of a module in a process of its own; their results, in this order."""
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", module, job, url, argument],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=worker_environment(),
        )
        for job, argument in jobs
    ]
    for worker in workers:
        assert worker.stdout is not None
        said = worker.stdout.readline()
        assert said == "ready\n", said + worker.communicate()[1]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    results = []
    for worker in workers:
        out, err = worker.communicate(timeout=300)
        assert worker.returncode == 0, err
        results.append(json.loads(out))
    return results
