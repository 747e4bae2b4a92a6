"""A person's session moves between machines: clones with homes of their own that share a database and a remote."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from outlive.testing import Simulator, call, say
from outlive.testing.simulator.seen import SeenRequest
from outlive.testing.simulator.steps import Step
from tests.engines import PostgresServer, worker_environment


def brain(request: SeenRequest) -> Step:
    """Write a file, and read it in the next run."""
    done = [each.name for each in request.calls()]
    if "go on" not in request.user_words():
        return say("Half.") if done else call("write_file", path="half.txt", content="half done on ada\n")
    return say(request.results()[-1].text) if "read_file" in done else call("read_file", path="half.txt")


class Machine:
    """A clone with a home of its own."""

    def __init__(self, folder: Path, name: str, remote: Path, variables: Mapping[str, str]) -> None:
        self.clone = folder / name
        subprocess.run(["git", "clone", "-q", remote, self.clone], check=True)
        home = folder / f"home-{name}" / ".outlive"
        home.mkdir(parents=True)
        (home / "outlive.toml").write_text("[agent]\nhandover = true\nmode = 'accept-edits'\n")
        self.home = home
        own = {"OUTLIVE_HOME": str(home), "OUTLIVE_MACHINE": name, "MODEL_ID": "anthropic:claude-sonnet-5-5"}
        self.environment = {**worker_environment(), **variables, **own}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "outlive", "-p", *arguments, "--output-format", "json"]
        return subprocess.run(
            command, cwd=self.clone, env=self.environment, capture_output=True, text=True, check=True
        )


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    place, seed = tmp_path / "remote.git", tmp_path / "seed"
    author = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for command in (
        f"init -q --bare -b main {place}",
        f"init -q -b main {seed}",
        f"-C {seed} commit -q --allow-empty -m first",
        f"-C {seed} push -q {place} main",
    ):
        subprocess.run(["git", *command.split()], check=True, env={**os.environ, **author})
    return place


@pytest.mark.postgres
def test_a_session_goes_on_elsewhere_with_its_files(tmp_path: Path, remote: Path, postgres: PostgresServer) -> None:
    with postgres.schema() as url, Simulator(brain=brain) as sim:
        variables = {**sim.env(), "OUTLIVE_STORE": url}
        ada, bob = (Machine(tmp_path, name, remote, variables) for name in ("ada", "bob"))
        session = json.loads(ada.run("do half of it").stdout)["session"]
        assert not (bob.clone / "half.txt").exists()
        first = bob.run("go on", "--resume", session)
        assert "half done on ada" in json.loads(first.stdout)["text"]
        assert "ada" in first.stderr
        place = next((bob.home.parent / ".outlive-worktrees").glob("*/session-*"))
        assert (place / "half.txt").read_text() == "half done on ada\n"
        (place / "more.txt").write_text("from bob\n")
        assert str(place) in bob.run("go on", "--resume", session).stderr  # and not in a second one
        assert [each for each in place.parent.iterdir() if each.is_dir()] == [place]
        assert sim.refusals == []
