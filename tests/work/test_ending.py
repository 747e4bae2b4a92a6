"""How attempts end: what a worker reports is what happened."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from outlive.testing import Simulator, call, say
from tests.e2e.conftest import Client

SLOW_GIT = """\
#!/bin/sh
if [ -n "$GIT_INDEX_FILE" ] && [ -e b.py ]; then
    for _ in $(seq 40); do [ ! -e .git ] || sleep 0.1; done
fi
exec {git} "$@"
"""
"""Takes its time with snapshots of work in progress, as in a large repository, or until the worktree is gone."""


def repository(folder: Path) -> Path:
    folder.mkdir()
    (folder / "a.py").write_text("a = 1\n")
    for arguments in (("init", "-q", "-b", "main"), ("add", "--all"), ("commit", "-qm", "first")):
        user = ("-c", "user.name=t", "-c", "user.email=t@example")
        subprocess.run(["git", *user, *arguments], cwd=folder, check=True)
    return folder


def test_a_snapshot_that_is_under_way_does_not_spoil_the_end_of_a_task(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").write_text(SLOW_GIT.format(git=shutil.which("git")))
    (programs / "git").chmod(0o755)
    with Simulator(script=[call("write_file", path="b.py", content="b = 1\n"), say("Wrote it.")]) as sim:
        outlive = Client(repository(tmp_path / "project"), sim)
        outlive.environment["MODEL_ID"] = outlive.model
        assert outlive("task", "create", "write b").code == 0
        worked = outlive("work", "--until-empty", "--json", PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    assert worked.code == 0, worked.out + worked.err
    told = [json.loads(line) for line in worked.out.splitlines()]
    assert [line["event"] for line in told] == ["started", "claimed", "completed", "ended_work"], told
    assert (outlive.folder / "b.py").read_text() == "b = 1\n"
