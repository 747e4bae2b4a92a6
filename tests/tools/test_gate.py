"""A command is recorded before it does anything, and cannot tell that it waited for it."""

from pathlib import Path
from typing import Any

import pytest

from outlive.errors import StoreUnavailable
from outlive.tools.processes.process_table import mark
from tests.tools.workbench import Workbench


def test_a_command_does_nothing_when_its_process_cannot_be_recorded(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: list[int] = []

    def full(kind: type, /, **fields: Any) -> Any:
        recorded.append(fields["process"].group)
        raise StoreUnavailable("the disk is full")

    monkeypatch.setattr(bench.tool_session, "log", full)
    assert "the disk is full" in bench.refused("bash", command="touch ran")
    assert not (bench.root / "ran").exists()
    assert not Path(f"/proc/{recorded[0]}").exists(), "what was to run it is still there"


def test_the_gate_changes_nothing_for_the_command(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    (bench.root / "startup.sh").write_text("echo startup\n")
    monkeypatch.setenv("BASH_ENV", str(bench.root / "startup.sh"))
    monkeypatch.setenv("BASH_FUNC_greet%%", "() { echo hello; }")
    monkeypatch.setenv("SHLVL", "3")
    said = bench.call("bash", command='greet; echo "level $SHLVL, $0"; read -r line || echo end of file').text
    assert said.splitlines() == ["startup", "hello", "level 4, /bin/bash", "end of file"]


def test_commands_know_the_call_they_run_for(bench: Workbench) -> None:
    assert bench.call("bash", command="echo $OUTLIVE_CALL").text == mark("s", bench.call_id("bash"))
