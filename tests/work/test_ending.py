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


def test_a_worker_ends_when_its_budget_is_spent(tmp_path: Path) -> None:
    script = [call("write_file", path="b.py", content="b = 1\n"), say("Wrote it.")]
    with Simulator(script=script) as sim:
        outlive = Client(repository(tmp_path / "project"), sim)
        outlive.environment["MODEL_ID"] = outlive.model
        assert outlive("task", "create", "write b").code == 0
        assert outlive("work", "--budget", "0.0001").code == 6
        assert outlive("task", "list", "--json").json[0]["status"] == "pending"
        assert outlive("work", "--until-empty").code == 0
    assert (outlive.folder / "b.py").read_text() == "b = 1\n"


def test_a_task_goes_on_in_another_checkout_on_the_same_machine(tmp_path: Path) -> None:
    remote, here = tmp_path / "remote.git", repository(tmp_path / "here")
    for arguments in (("clone", "-q", "--bare", str(here), str(remote)), ("clone", "-q", str(remote), "there")):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    subprocess.run(["git", "remote", "add", "origin", str(remote)], cwd=here, check=True)
    script = [
        call("write_file", path="b.py", content="b = 1\n") + call("ask_person", question="One or two?"),
        say("I have asked."),
        call("edit_file", path="b.py", old_text="1", new_text="2"),
        say("Done."),
    ]
    store = f"sqlite:///{tmp_path}/tasks.db"
    with Simulator(script=script) as sim:
        for folder in (here, tmp_path / "there"):
            outlive = Client(folder, sim)
            outlive.environment |= {"MODEL_ID": outlive.model, "OUTLIVE_STORE": store}
            outlive.environment["OUTLIVE_HOME"] = str(tmp_path / f"home-{folder.name}")
            if folder == here:
                assert outlive("task", "create", "write b").code == 0
                assert outlive("work", "--until-empty").code == 5
                assert outlive("fleet", "answer", "1", "Two.").code == 0
            else:
                worked = outlive("work", "--until-empty")
                assert worked.code == 0, worked.out
    shown = subprocess.run(["git", "show", "main:b.py"], cwd=remote, check=True, capture_output=True, text=True)
    assert shown.stdout == "b = 2\n"


def test_a_program_called_git_in_the_repository_is_not_run(tmp_path: Path) -> None:
    with Simulator(script=[call("write_file", path="b.py", content="b = 1\n"), say("Wrote it.")]) as sim:
        outlive = Client(repository(tmp_path / "project"), sim)
        outlive.environment["MODEL_ID"] = outlive.model
        (outlive.folder / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/planted\n")
        (outlive.folder / "git").chmod(0o755)
        assert outlive("task", "create", "write b").code == 0
        path = os.pathsep.join([".", os.environ["PATH"]])
        worked = outlive("work", "--until-empty", PATH=path)
        assert worked.code == 0, worked.out + worked.err
    assert not (tmp_path / "planted").exists()
