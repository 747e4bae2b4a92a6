"""Five short jobs with the whole agent and a real local model (1.1 GB, downloaded once into ~/.cache/outlive-live).

python -m bench.live                       all of them; on two quiet cores about ten minutes
python -m bench.live --only read,run       some of them

Fails if a request is refused, a traceback appears, no tool ran where one is needed, or no pass was made where the
window is too small. What the model answers is shown and not judged. OUTLIVE_LIVE names another folder for model and
server.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.live.install import model, python
from bench.live.jobs import JOBS, Job, lay_out
from bench.live.watch import Watched, watch

RULES = ("--permission-mode", "accept-edits", "--allow", "bash(python*)")
COLUMNS = (
    "job",
    "ended",
    "requests",
    "refused",
    "tools",
    "passes",
    "tokens in",
    "of them cached",
    "s",
    "of them ours",
)


@dataclass
class Ran:
    """What a job did."""

    events: list[dict[str, Any]] = field(default_factory=list)
    stderr: str = ""
    seconds: float = 0.0
    codes: list[int] = field(default_factory=list)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    def used(self, name: str) -> int:
        return sum(result["usage"][name] for result in self.of("result"))

    @property
    def tool_seconds(self) -> float:
        return float(sum(event.get("seconds") or 0 for event in self.of("tool_finished")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(job.name for job in JOBS), metavar="JOBS")
    parser.add_argument("--window", type=int, default=12_288)
    options = parser.parse_args()
    chosen = [job for job in JOBS if job.name in options.only.split(",")]
    wrong: list[str] = []
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS), flush=True)
    with _served(options.window) as url, watch(url) as watched:
        for job in chosen:
            watched.clear()
            ran = _run(job, watched)
            _show(job, ran, watched)
            wrong += [f"{job.name}: {reason}" for reason in _wrong(job, ran, watched)]
    if wrong:
        raise SystemExit("\n".join(wrong))


@contextmanager
def _served(window: int) -> Iterator[str]:
    command = [str(python()), str(Path(__file__).with_name("serve.py")), str(model()), str(window)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout is not None
    try:
        url = server.stdout.readline().strip()
        if not url:
            raise SystemExit(f"the server did not start: {' '.join(command)}")
        yield url
    finally:
        server.kill()
        server.wait()


def _run(job: Job, watched: Watched) -> Ran:
    ran = Ran()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "shop"
        folder.mkdir()
        lay_out(folder)
        for number, prompt in enumerate(job.prompts):
            more = ["--continue"] if number else []
            words = ["-p", prompt, *more, "--model", "openai:local", *RULES, "--max-turns", "8"]
            _ask(ran, [*words, "--output-format", "stream-json"], folder, watched.url)
    return ran


def _ask(ran: Ran, words: Sequence[str], folder: Path, url: str) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environment = {**kept, "HOME": str(folder.parent), "OPENAI_BASE_URL": url}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "outlive", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    ran.seconds += time.monotonic() - began
    ran.events += [json.loads(line) for line in done.stdout.splitlines()]
    ran.stderr += done.stderr
    ran.codes.append(done.returncode)


def _show(job: Job, ran: Ran, watched: Watched) -> None:
    cached, fresh = ran.used("cache_read"), ran.used("input") + ran.used("cache_write")
    ours = ran.seconds - watched.seconds - ran.tool_seconds
    ended = ", ".join(sorted({str(result["why"]) for result in ran.of("result")}))
    row: Sequence[object] = (
        job.name,
        ended,
        watched.requests,
        len(watched.refused),
        len(ran.of("tool_finished")),
        len(ran.of("compacted")),
        f"{cached + fresh:,}",
        f"{cached / max(1, cached + fresh):.0%}",
        f"{ran.seconds:.0f}",
        f"{ours:.1f} ({ours / ran.seconds:.0%})",
    )
    print("| " + " | ".join(map(str, row)) + " |", flush=True)
    for result in ran.of("result"):
        print(f"  {job.name}: {result['text'][:200]!r} {result['detail'][:200]}", file=sys.stderr, flush=True)


def _wrong(job: Job, ran: Ran, watched: Watched) -> Iterator[str]:
    yield from (f"refused: {reason}" for reason in watched.refused)
    if "Traceback" in ran.stderr:
        yield f"a traceback: {ran.stderr[-2000:]}"
    if not ran.of("result") or 2 in ran.codes:
        yield f"no result: {ran.stderr[-2000:]}"
    if job.tools and not ran.of("tool_finished"):
        yield "no tool ran"
    if job.passes and not ran.of("compacted"):
        yield "no pass was made"


if __name__ == "__main__":
    main()
