"""A small run of the chaos that `bench/fleet_chaos` makes of a fleet: real processes that are killed and cut off."""

from contextlib import closing
from pathlib import Path

import pytest
from bench.fleet_chaos.__main__ import Run, options, server
from bench.fleet_chaos.brain import agent

from outlive.testing import Simulator


@pytest.mark.postgres
def test_a_fleet_that_is_killed_and_cut_off_loses_nothing(tmp_path: Path) -> None:
    given = options(
        ["--tasks", "9", "--kills", "2", "--kill-every", "8", "--lease", "8", "--freezes", "0", "--restarts", "0"]
    )
    with (
        server(tmp_path / "database") as database,
        Simulator(brain=agent(0.05)) as simulator,
        closing(Run(given, tmp_path, database, simulator)) as run,
    ):
        findings = run.to_its_end()
    assert {finding.what: finding.wrong for finding in findings if finding.wrong} == {}
    assert run.happened["kills"] + run.happened["machines that were cut off for two leases"] > 0
