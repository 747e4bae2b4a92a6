"""A headless run that nobody can hear any more stops, keeps its session, and says how to go on."""

import subprocess
import sys
from pathlib import Path

import pytest

from outlive.cli.output import EXIT_CODE
from outlive.testing import Simulator, call, say
from tests.e2e.conftest import Client


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_a_run_whose_output_is_lost_keeps_its_session(folder: Path, form: str) -> None:
    with Simulator([call("read_file", path="data.txt"), say("Done.")]) as sim:
        client = Client(folder, sim)
        with open("/dev/full", "wb") as full:
            ended = subprocess.run(
                [sys.executable, "-m", "outlive", "--model", client.model, "-p", "Look.", "--output-format", form],
                cwd=folder,
                env=client.environment,
                stdin=subprocess.DEVNULL,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        (session,) = [path.stem for path in (folder / ".transcripts").glob("*.jsonl")]
        assert ended.returncode == EXIT_CODE
        assert "Traceback" not in ended.stderr
        said = [line for line in ended.stderr.splitlines() if line.startswith("outlive: ")]
        assert said == [
            f"outlive: session {session} is saved, go on with: outlive --resume {session}; "
            "the output could not be written to standard output: No space left on device"
        ]
        if form == "stream-json":
            assert len(sim.requests) == 0, "nothing is asked of a model that nobody hears"
    with Simulator([say("Back.")]) as sim:
        assert Client(folder, sim)("--resume", session, "-p", "again").out == "Back.\n"
