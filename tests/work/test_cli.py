"""`outlive work` and `outlive fleet`, as a user runs them."""

import json
import os
import re
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from outlive.testing import Simulator, call, say
from outlive.testing.simulator.seen import SeenRequest
from outlive.testing.simulator.steps import Step
from tests.e2e.conftest import MODELS, Client
from tests.work.fleet import checkout, git


def brain(request: SeenRequest) -> Step:
    """Write a file; ask a person first if the task says so."""
    text = "\n".join(request.texts())
    number, subject = re.findall(r"Task #(\d+): (\w+)", text)[0]
    done = len(request.results())
    if subject == "slow":
        return call("bash", command="touch started && sleep 60") if not done else say("Slept.")
    if subject == "ask" and "A person answered" not in text:
        return say("I wait.") if done else call("ask_person", question="Which colour?")
    if not any(result.name == "write_file" for result in request.results()):
        return call("write_file", path=f"work/{number}.txt", content=f"done {number}\n")
    return say(f"Wrote work/{number}.txt.")


@pytest.fixture
def outlive(tmp_path: Path) -> Iterator[Client]:
    with Simulator(brain=brain) as sim:
        client = Client(checkout(tmp_path / "project"), sim)
        client.environment |= {"MODEL_ID": MODELS[0]}
        yield client


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_user_has_tasks_done(outlive: Client) -> None:
    outlive("task", "create", "one")
    outlive("task", "create", "two", "--blocked-by", "1")
    done = outlive("work", "--until-empty", "--check", "test -d work", "--json", "--owner", "build-7")
    assert done.code == 0, done.err
    said = lines(done.out)
    events = [line["event"] for line in said if line["event"] in ("claimed", "completed")]
    assert events == ["claimed", "completed"] * 2
    assert {line["worker"] for line in said} == {"build-7"}
    assert git(outlive.folder, "show", "main:work/2.txt") == "done 2"
    assert [task["status"] for task in outlive("task", "list", "--all", "--json").json] == ["completed"] * 2
    found = outlive("fleet", "--json").json
    assert (found["workers"], found["working"], found["ready"]) == ([], [], 0)
    assert found["spending"]["total"] > 0


def test_a_question_is_shown_and_answered(outlive: Client) -> None:
    outlive("task", "create", "ask")
    assert outlive("work", "--until-empty").code == 5
    shown = outlive("fleet").out
    assert "Which colour?" in shown
    assert "outlive fleet answer 1 TEXT" in shown
    assert outlive("fleet", "worktrees", "--json").json[0]["phase"] == "waiting"
    assert outlive("fleet", "answer", "1", " ").code == 1
    assert outlive("fleet", "answer", "1", "blue", "--json").json["status"] == "pending"
    assert outlive("work", "--until-empty").code == 0
    assert outlive("fleet", "worktrees").out == "no worktrees\n"


def test_budgets_are_set_shown_and_hold(outlive: Client) -> None:
    outlive("task", "create", "one")
    outlive("fleet", "budget", "--day", "0", "--label", "docs", "2")
    shown = outlive("fleet", "budget").out
    assert "day              $0.00" in shown
    assert "label:docs       $2.00" in shown
    assert outlive("work", "--until-empty").code == 6
    outlive("fleet", "budget", "--clear", "day")
    assert outlive("fleet", "budget", "--json").json["budgets"] == {"label:docs": 2.0}
    assert outlive("work", "--until-empty").code == 0


def test_a_task_can_be_cancelled_and_tried_again(outlive: Client) -> None:
    outlive("task", "create", "one")
    assert outlive("fleet", "cancel", "1", "--reason", "not now", "--json").json["status"] == "cancelled"
    assert outlive("work", "--until-empty").code == 0
    assert outlive("fleet", "retry", "1", "--json").json["status"] == "pending"
    assert outlive("work", "--until-empty").code == 0
    assert outlive("task", "get", "1", "--json").json["status"] == "completed"


def test_signals_end_a_worker_and_its_work_is_kept(outlive: Client) -> None:
    outlive("task", "create", "slow")
    worker = outlive.start(
        "work", "--json", "--owner", "build-7", "--allow", "bash(sleep*)", "--allow", "bash(touch*)"
    )
    while not list(outlive.folder.parent.glob("home-worktrees/*/*/started")):
        time.sleep(0.2)
    (working,) = outlive("fleet", "--json").json["working"]
    assert (working["worker"], working["phase"]) == ("build-7", "working")
    assert outlive("work", "--owner", "build-7").code == 1, "the name is taken"
    os.kill(worker.pid, signal.SIGTERM)
    assert any('"draining"' in line for line in worker.stdout)
    os.kill(worker.pid, signal.SIGTERM)
    out, err = worker.communicate()
    assert worker.returncode == 0, err
    assert [line["why"] for line in lines(out) if line["event"] == "ended"] == ["drained"]
    assert outlive("task", "get", "1", "--json").json["status"] == "pending"
    assert outlive("fleet", "drain", "build-7").code == 1, "it has ended"


def test_a_worktree_that_was_left_behind_is_listed(outlive: Client, tmp_path: Path) -> None:
    outlive("task", "create", "one")
    left = tmp_path / "home-worktrees"
    assert outlive("work", "--until-empty").code == 0
    (folder,) = left.iterdir()
    shutil.copytree(outlive.folder / "work", folder / "task-1-20260101-000000-abcdef.2")
    (row,) = outlive("fleet", "worktrees", "--json").json
    assert (row["task"], row["phase"], row["here"]) == (1, "left behind", True)


def test_settings_of_a_cloned_folder_run_nothing_before_it_is_trusted(outlive: Client, tmp_path: Path) -> None:
    outlive("task", "create", "one")
    (outlive.folder / "outlive.toml").write_text(f'[work]\nchecks = ["touch {tmp_path}/ran"]\n')
    refused = outlive("work", "--until-empty")
    assert refused.code == 1
    assert "not trusted" in refused.err
    assert not (tmp_path / "ran").exists()
    assert outlive("task", "get", "1", "--json").json["status"] == "pending"


def test_where_work_is_impossible_the_way_out_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with Simulator(brain=brain) as sim:
        client = Client(tmp_path / "folder", sim)
        client.environment |= {"MODEL_ID": MODELS[0]}
        refused = client("work", "--until-empty")
    assert refused.code == 1
    assert "no git repository" in refused.err


def test_help_says_what_it_does_and_how_it_ends(outlive: Client) -> None:
    shown = outlive("work", "--help").out
    assert "Exit codes" in shown
    assert all(name in shown for name in ("--until-empty", "--budget", "--check", "--slots", "--metrics"))
    assert all(name in outlive("fleet", "--help").out for name in ("drain", "cancel", "retry", "answer", "worktrees"))
