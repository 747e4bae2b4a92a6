"""A worker whose line to PostgreSQL is cut, so that nothing arrives and nothing says so."""

from contextlib import closing
from pathlib import Path

import pytest
from bench.fleet_chaos.line import Line

from outlive.testing import call, say
from outlive.testing.simulator.steps import Step
from tests.engines import PostgresServer
from tests.work.fleet import Asked, Fleet, git, shared_checkout
from tests.work.test_worker import until

LEASE = 6.0


@pytest.mark.postgres
def test_a_worker_that_is_cut_off_stops_its_agents_when_its_lease_is_over(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    remote, began = tmp_path / "remote.git", tmp_path / "began"

    def works_on(asked: Asked) -> Step:
        if not asked.done:
            return call("bash", command=f"echo $$ > {began}; sleep 600; touch zombie.txt")
        return say("Done, too late.")

    def goes_on(asked: Asked) -> Step:
        assert "interrupted" in asked.results[0].text
        return call("write_file", path="work.txt", content="done\n") if asked.done == 1 else say("Done.")

    with postgres.schema() as url, closing(Line(postgres.socket_folder)) as line:
        through = url.replace(str(postgres.socket_folder), str(line.folder))
        a = Fleet(shared_checkout(tmp_path / "a" / "project", remote), through, machine="a")
        b = Fleet(shared_checkout(tmp_path / "b" / "project", remote), url, machine="b")
        task = b.create()
        a.brain, b.brain = works_on, goes_on
        with a.working(lease=LEASE):
            until(lambda: began.exists() and began.read_text())
            line.cut()
            until(lambda: not Path("/proc", began.read_text().strip()).exists())
            with b.working():
                until(lambda: b.status(task) == "completed")
            line.heal()
        assert a.said("ended")[-1]["why"] == "lost"
        assert b.board.run(task).machine == "b"
        assert git(remote, "rev-list", "--count", "main") == "2"
        a.close()
        b.close()
