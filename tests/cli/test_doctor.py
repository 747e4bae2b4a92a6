"""`outlive doctor`."""

import json
from pathlib import Path
from typing import Any

import pytest

from outlive.config.home import trust
from outlive.testing import Simulator, say
from outlive.tools.custom_commands import ProjectCommands
from tests.cli.command import Outlive


@pytest.fixture
def outlive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outlive:
    monkeypatch.setenv("OUTLIVE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OUTLIVE_LOCAL_MODELS", "off")
    (tmp_path / "work").mkdir()
    return Outlive(tmp_path / "work")


def findings(outlive: Outlive, *options: str, **environment: str) -> tuple[int, dict[str, Any]]:
    done = outlive("doctor", "--json", *options, **environment)
    return done.code, {finding["check"]: finding for finding in json.loads(done.out)}


def test_a_model_that_answers_is_fine(outlive: Outlive) -> None:
    with Simulator([say("never asked")]) as sim:
        code, found = findings(outlive, **sim.env())
        assert found["model"]["state"] == "ok", found["model"]
        assert "its server answers" in found["model"]["says"]
        assert found["price"]["state"] == "ok"
        assert not sim.requests
    assert code == 0
    assert {"version", "folder", "trust", "window", "sandbox", "tasks", "sessions", "memories", "packages"} <= set(
        found
    )


def test_no_model_is_a_problem_with_the_way_out(outlive: Outlive) -> None:
    code, found = findings(outlive)
    assert code == 1
    assert found["model"]["state"] == "problem"
    assert "ANTHROPIC_API_KEY" in found["model"]["remedy"]


def test_a_server_that_does_not_answer_is_a_problem(outlive: Outlive) -> None:
    address = {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    code, found = findings(outlive, **address)
    assert code == 1
    assert "127.0.0.1:9" in found["model"]["says"]
    code, found = findings(outlive, "--offline", **address)
    assert code == 0
    assert found["model"]["state"] == "ok"


def test_a_damaged_task_is_a_problem(outlive: Outlive) -> None:
    outlive.task("create", "one")
    (outlive.folder / ".tasks" / "task_1.json").write_text("{")
    code, found = findings(outlive, "--offline")
    assert code == 1
    assert found["tasks"]["state"] == "problem"
    assert "outlive task doctor" in found["tasks"]["remedy"]


def test_what_waits_for_trust_is_said(outlive: Outlive) -> None:
    (outlive.folder / "outlive.toml").write_text("[agent]\nmode = 'bypass'\n")
    _, found = findings(outlive, "--offline")
    assert found["trust"]["state"] == "note"
    assert "bypass" in found["trust"]["says"]


def test_the_text_has_a_line_for_each_check(outlive: Outlive) -> None:
    shown = outlive("doctor", "--offline").out
    assert "✗ model" in shown
    assert "✓ tasks" in shown


def test_commands_of_a_folder_wait_for_trust_under_their_own_name(outlive: Outlive) -> None:
    folder = outlive.folder / ".claude" / "commands"
    folder.mkdir(parents=True)
    (folder / "fix.md").write_text("Fix it.")
    (outlive.folder / ".env").write_text("MODEL_ID=openai:tiny\n")
    says = findings(outlive, "--offline")[1]["trust"]["says"]
    assert "command /fix" in says
    assert "MODEL_ID in .env" in says
    assert f"{folder}: no, its commands are not trusted" in outlive("where").out
    commands = ProjectCommands(outlive.folder)
    trust(commands.path, commands.digest)
    assert f"{folder}: yes, you have trusted" in outlive("where").out
    (outlive.folder / ".env").unlink()
    assert outlive("trust").out.startswith(".claude/commands is trusted already")
