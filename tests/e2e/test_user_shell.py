"""`!command` at a real terminal: the user's own command, shown live, and told to the model with its next request."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

from outlive.testing import Simulator, call, say
from tests.cli.chat.test_terminal import pytestmark as needs_tmux
from tests.e2e.conftest import MODELS, Client
from tests.e2e.terminal import window

pytestmark = needs_tmux


def told(sim: Simulator, number: int = -1) -> list[str]:
    return [words for words in sim.requests[number].user_words() if "user-shell" in words]


def test_its_output_is_shown_and_told_as_data_with_the_next_prompt(folder: Path) -> None:
    (folder / "outlive.toml").write_text('[permissions]\ndeny = ["bash(echo*)"]\n[agent]\nmode = "plan"\n')
    with Simulator([say("It is red.")]) as sim:
        with window(sim, folder) as shown:
            shown.type("!echo red; pwd; false")
            screen = shown.until("✗ exit 1")
            assert "> !echo red; pwd; false\n\n● bash echo red; pwd; false ✗ exit 1\n    red\n" in screen
            assert "? bash" not in screen
            shown.type("what colour is it?")
            assert "· told the agent: $ echo red; pwd; false\n" in shown.until("It is red.")
        (data,) = told(sim)
        assert data == f"<user-shell>\n$ echo red; pwd; false\nred\n{folder}\n[exit code 1]\n</user-shell>"
    (log,) = (folder / ".transcripts").glob("*.jsonl")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    (said,) = (event for event in events if event["type"] == "user_said")
    assert [block.get("origin") for block in said["blocks"] if "text" in block][:2] == ["user", "stdin"]


def test_ctrl_c_stops_it_and_what_it_printed_is_known(folder: Path) -> None:
    with Simulator([say("I see.")]) as sim, window(sim, folder) as shown:
        shown.type("!echo begun; sleep 600; touch never")
        shown.until("    begun")
        shown.keys("C-c")
        shown.until("⏹ interrupted")
        shown.type("go on")
        shown.until("I see.")
        (data,) = told(sim)
        assert "\nbegun\n[stopped by the user; what it had done stays done]\n" in data
    assert not (folder / "never").exists()


def test_while_the_agent_works_it_stays_in_the_input(folder: Path) -> None:
    script = [call("bash", command="echo on; sleep 600"), say("unused")]
    with Simulator(script) as sim, window(sim, folder, "go on", "--mode", "bypass") as shown:
        shown.until("    on")
        shown.type("!touch owned")
        shown.until("!touch owned has to wait until the agent rests")
        shown.until("\n> !touch owned\n")
        shown.keys("Escape")
        shown.until("⏹ interrupted ·")
        shown.keys("Enter")
        shown.until("● bash touch owned ✓")
    assert (folder / "owned").exists()


def test_a_secret_in_it_is_masked_and_a_wall_of_it_is_behind_a_handle(folder: Path) -> None:
    key = "sk-ant-api03-" + "k7Qx" * 24
    (folder / "big.txt").write_text(f"{key}\n" + "".join(f"row {number} of the wall\n" for number in range(50_000)))
    with Simulator([say("I see.")]) as sim, window(sim, folder, "--window", "32000") as shown:
        shown.type("!cat big.txt")
        shown.until("● bash cat big.txt ✓")
        shown.type("look at that")
        shown.until("I see.")
        (data,) = told(sim)
        assert key not in data
        assert "row 49999 of the wall" in data
        assert len(data) < 100_000
        assert re.search(r"@h\d+", data)


def test_one_that_was_killed_with_the_program_is_found_again(folder: Path) -> None:
    with Simulator([say("I see.")]) as sim:
        with window(sim, folder) as shown:
            shown.type("!echo begun; exec sleep 601")
            shown.until("    begun")
            shell = shown.tmux("display-message", "-p", "-t", "main", "#{pane_pid}").strip()
            program = subprocess.run(["pgrep", "-P", shell], capture_output=True, text=True, check=True).stdout
            os.kill(int(program.split()[0]), signal.SIGKILL)
            shown.until("EXIT 137")
        with window(sim, folder, "--continue", "--orphans", "stop") as shown:
            shown.type("what happened?")
            shown.until("I see.")
        (data,) = told(sim)
        assert "$ echo begun; exec sleep 601\n[the process ended while this ran" in data


def test_lines_of_a_pipe_run_nothing(folder: Path) -> None:
    with Simulator([]) as sim:
        result = Client(folder, sim)("--model", MODELS[0], stdin="!touch owned\n")
    assert "only if somebody types it" in result.out
    assert result.code == 1
    assert not (folder / "owned").exists()


def test_a_run_that_goes_on_is_told_too(folder: Path) -> None:
    script = [call("bash", command="echo on; sleep 600"), say("Went on.")]
    with Simulator(script) as sim, window(sim, folder, "go on", "--mode", "bypass") as shown:
        shown.until("    on")
        shown.keys("Escape")
        shown.until("⏹ interrupted ·")
        shown.type("!echo mended")
        shown.until("    mended")
        shown.type("/continue")
        shown.until("Went on.")
        assert told(sim) == ["<user-shell>\n$ echo mended\nmended\n</user-shell>"]
