"""The examples of docs/adapters.md, as they are, one after the other in one process."""

import os
import subprocess
import sys
from pathlib import Path

from outlive.testing import Simulator, call, say
from outlive.testing.simulator import SeenRequest, Step
from tests.cli.command import Outlive
from tests.test_docs import ROOT, snippets

RUN = "import sys, runpy\nfor name in sys.argv[1:]: runpy.run_path(name, run_name='__main__')"


def weekday(request: SeenRequest) -> Step:
    return say("All was well.") if request.results() else call("read_log", day=1)


def test_the_examples_run(tmp_path: Path) -> None:
    examples = snippets(ROOT / "docs" / "adapters.md")
    names = [f"example_{number}.py" for number in range(len(examples))]
    for name, text in zip(names, examples, strict=True):
        (tmp_path / name).write_text(text)
    with Simulator(brain=weekday) as sim:
        environment = {**os.environ, **sim.env()}
        run = subprocess.run(
            [sys.executable, "-c", RUN, *names], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        assert run.stdout.split("\n") == [*["All was well."] * 3, "True", ""]
        assert sim.refusals == []
        assert all("recall" in request.tools for request in sim.requests)
    listed = {info["id"] for info in Outlive(tmp_path)("session", "list", "--json").json}
    assert listed == {"support-42", "support-43", "support-44"}
