"""What it costs to resume a long session: processor time and memory of a process of its own.

With OUTLIVE_BENCH_BEFORE=FOLDER, a checkout of an earlier version, that one writes and resumes the same session too.
"""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

TIMES = 3
HERE = Path(__file__).resolve().parents[2]
WRITE = """
import sys
from bench.agent.workspace import _module, path_of
from outlive.agent import Session
from outlive.messages import Text, ToolCall
from outlive.stores import open_stores

now = 0.0
def clock():
    return now
store = open_stores(f"files:{sys.argv[1]}/.tasks", durability="process").logs
with Session.start(store, id="long", system="You are careful. " * 300, window=100_000, clock=clock) as session:
    session.user_said("Go through the modules and find where the parser drops a token.")
    for turn in range(int(sys.argv[2])):
        now += 5.0
        tokens = session.next_request().tokens
        call = ToolCall(f"call_{turn}", "read_file", {"path": path_of(turn)})
        session.assistant_said((Text(f"Step {turn}."), call), usage={"input": round(1.05 * tokens)})
        session.tool_finished(call.id, _module(turn % 48))
    session.next_request()
"""
RESUME = """
import json, resource, sys, time
from outlive.agent import Session
from outlive.stores import open_stores

def taken():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return [time.process_time() - began, used.ru_maxrss / 1024]
store = open_stores(f"files:{sys.argv[1]}/.tasks").logs
began = time.process_time()
with Session.resume(store, "long", window=100_000, clock=lambda: 1e9) as session:
    session.next_request()
    found = taken()
    session.engine.compact()
    print(json.dumps(found + taken()))
"""


def measure(turns: int) -> None:
    """Print the table."""
    before = os.environ.get("OUTLIVE_BENCH_BEFORE", "")
    versions = [("before", Path(before).resolve())] if before else []
    rows = {name: _measured(folder, turns) for name, folder in (*versions, ("now", HERE))}
    print(
        f"\n### Resuming a session of {turns:,} turns, window 100,000, in a process of its own (median of {TIMES})\n"
    )
    print("| | to the next request, s | MB | and a pass at once, s | MB | log, MB |")
    print("|" + " --- |" * 6)
    for name, row in rows.items():
        print(f"| {name} | {row[0]:.2f} | {row[1]:.0f} | {row[2]:.2f} | {row[3]:.0f} | {row[4]:.1f} |")
    if before:
        ratios = [new / old for old, new in zip(rows["before"], rows["now"], strict=True)]
        print("| ratio | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")


def _measured(code: Path, turns: int) -> list[float]:
    """Seconds and megabytes to the next request, the same with a pass, and megabytes of the log."""
    with TemporaryDirectory() as folder:
        _run(code, WRITE, folder, str(turns))
        found = [json.loads(_run(code, RESUME, folder)) for _ in range(TIMES)]
        size = (Path(folder) / ".transcripts" / "long.jsonl").stat().st_size / 1e6
    return [*(statistics.median(column) for column in zip(*found, strict=True)), size]


def _run(code: Path, script: str, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": f"{code / 'src'}{os.pathsep}{code}"}
    done = subprocess.run(
        [sys.executable, "-c", script, *words], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout
