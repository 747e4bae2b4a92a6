"""Break the code in small ways, one at a time, and see which breaks no test notices.

Each mutant meets the tests that reach its line (`forking.py`). With --outside, what survives them is tried once more
in a copy of the repository, with tests that reach the code through other processes.
"""

import argparse
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pytest

from bench.mutation.forking import Forking
from bench.mutation.mutants import Mutant, mutants

ROOT = Path(__file__).parent.parent.parent
SRC = ROOT / "src" / "outlive"


@dataclass(frozen=True)
class Area:
    """Some of the source, the tests that are about it, and those that reach it only through other processes."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    outside: tuple[str, ...] = ()

    def files(self) -> list[Path]:
        return [SRC / name for name in self.sources]


def _in(folder: str, names: str) -> tuple[str, ...]:
    return tuple(str(Path("stores", folder, f"{name}.py")) for name in names.split())


def _tests(names: str) -> tuple[str, ...]:
    return tuple(f"tests/stores/test_{name}.py" for name in names.split())


CONTEXT = ("tests/context", *(f"--ignore=tests/context/test_{name}.py" for name in ("recorded", "long", "ledger")))
"""Without those that take minutes, or are about something else."""
AREAS = {
    "loop": Area(
        ("loop.py", "limits.py"),
        ("tests/agent", "tests/test_limits.py", "tests/models/test_with_session.py"),
    ),
    "engine": Area(
        tuple(f"context/{name}.py" for name in ("engine", "view", "passes/ladder")),
        (*CONTEXT, "tests/test_session.py"),
    ),
    "contract": Area(("context/contract.py", "context/validity.py"), CONTEXT),
    "gate": Area(("tools/permissions/gate.py",), ("tests/tools/test_permissions.py", "tests/tools/test_gate.py")),
    "tasks": Area(
        (
            *_in("tasks/files", "folder history names problems store transaction"),
            *_in("tasks", "records sql sql_transaction"),
            *_in("sql", "database sqlite"),
            *_in("", "disk polling record_folder"),
        ),
        (
            *_tests("conformance faults files links syncs"),
            "tests/tasks/test_graph.py",
            "tests/tasks/test_leases.py",
        ),
        ("tests/stores/test_crash.py",),
    ),
    "logs": Area(
        _in("logs", "blob_files blobs digests files lines names reading sql"),
        (*_tests("log_conformance log_files log_sql syncs"), "tests/test_session.py"),
        ("tests/stores/test_log_crash.py",),
    ),
    "memories": Area(
        _in("memories", "files folder names records sql table text trust"),
        (
            *_tests("memory_conformance memory_files memory_sql memory_table memory_text syncs"),
            *(f"tests/memory/test_{name}.py" for name in ("memories", "vouching")),
        ),
        ("tests/stores/test_memory_crash.py",),
    ),
}


@dataclass(frozen=True)
class Result:
    area: str
    file: str
    line: int
    change: str
    verdict: str
    """killed, hung, survived, or unreached"""
    by: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.mutation", description=__doc__)
    parser.add_argument("area", choices=AREAS)
    parser.add_argument("--file", default="", help="only mutants of files whose path holds this")
    parser.add_argument(
        "--sample", type=int, default=300, help="so many mutants at most, chosen by --seed; 0 for all"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=60, help="seconds of tests for each mutant")
    parser.add_argument("--tests", nargs="*", help="other tests than those of the area")
    parser.add_argument("--outside", action="store_true", help="give survivors to the tests with processes, too")
    parser.add_argument("--out", type=Path, help="append each result to this file, as a line of JSON")
    options = parser.parse_args()
    area = AREAS[options.area]
    chosen = [(file, one) for file in area.files() if options.file in str(file) for one in mutants(file.read_text())]
    if 0 < options.sample < len(chosen):
        places = sorted(random.Random(options.seed).sample(range(len(chosen)), options.sample))
        chosen = [chosen[place] for place in places]
    results: list[Result] = []
    out, sys.stdout = sys.stdout, io.StringIO()

    def told(file: Path, mutant: Mutant, verdict: str, by: str) -> None:
        result = Result(options.area, str(file.relative_to(SRC)), mutant.line, mutant.change, verdict, by)
        if verdict in ("survived", "unreached") and options.outside:
            verdict, by = outside(file, mutant, area.outside) or (verdict, by)
            result = replace(result, verdict=verdict, by=by)
        results.append(result)
        print(f"{result.verdict:<9} {result.file}:{result.line}  {result.change}  {result.by}", file=out, flush=True)
        if options.out:
            with options.out.open("a") as lines:
                lines.write(json.dumps(asdict(result)) + "\n")

    plain = ["-o", "addopts=", "-p", "no:cacheprovider", "-q", "--hypothesis-seed=1"]
    code = pytest.main([*plain, *(options.tests or area.tests)], [Forking(chosen, options.budget, told)])
    if not results:
        sys.exit(code or 1)
    print(report(results), file=out, flush=True)


def outside(file: Path, mutant: Mutant, tests: Sequence[str]) -> tuple[str, str] | None:
    """The verdict of tests that start processes of their own, in a copy of the repository that has the mutant."""
    with tempfile.TemporaryDirectory(prefix="outlive-mutation-") as name:
        copy = Path(name) / "copy"
        ignored = shutil.ignore_patterns(".venv", ".git", "__pycache__", ".*_cache", ".hypothesis")
        shutil.copytree(ROOT, copy, ignore=ignored)
        (copy / file.relative_to(ROOT)).write_text(mutant.source)
        usual = ["-o", "addopts=", "-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(copy / "src"), str(copy)])}
        command = [sys.executable, "-B", "-m", "pytest", *usual, *tests]
        try:
            run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=1200)
        except subprocess.TimeoutExpired:
            return "hung", ""
    failed = [line.removeprefix("FAILED ") for line in run.stdout.splitlines() if line.startswith("FAILED")]
    return ("killed", failed[0] if failed else "") if run.returncode else None


def report(results: Sequence[Result]) -> str:
    """A row for the table, and the survivors."""
    verdicts = [result.verdict for result in results]
    counts = [verdicts.count(verdict) for verdict in ("killed", "hung", "survived", "unreached")]
    rows = [
        "\n| area | mutants | killed | hung | survived | unreached |",
        "|---|--:|--:|--:|--:|--:|",
        f"| {results[0].area} | {len(verdicts)} | {' | '.join(map(str, counts))} |",
    ]
    left = [result for result in results if result.verdict in ("survived", "unreached")]
    return "\n".join([*rows, *(f"{one.verdict}: {one.file}:{one.line}: {one.change}" for one in left)])


if __name__ == "__main__":
    main()
