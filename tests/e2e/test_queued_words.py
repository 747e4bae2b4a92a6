"""Words that were shown as queued survive a kill -9 of the program, and nothing queued is said twice."""

import os
import signal
import subprocess
from pathlib import Path

from outlive.testing import Simulator, call, say
from tests.cli.chat.test_terminal import pytestmark as needs_tmux
from tests.e2e.terminal import Window, window

pytestmark = needs_tmux


def kill(shown: Window) -> None:
    """Kill the program, not its shell."""
    shell = shown.tmux("display-message", "-p", "-t", "main", "#{pane_pid}").strip()
    program = subprocess.run(["pgrep", "-P", shell], capture_output=True, text=True, check=True).stdout.split()[0]
    os.kill(int(program), signal.SIGKILL)
    shown.until("EXIT 137")


def test_what_was_shown_as_queued_is_said_after_a_kill(folder: Path) -> None:
    script = [call("bash", command="echo on; sleep 602"), say("Heard."), say("Fine.")]
    with Simulator(script) as sim:
        with window(sim, folder, "go on", "--mode", "bypass") as shown:
            shown.until("    on")
            shown.type("and mind @data.txt:5")
            shown.until("queued > and mind @data.txt:5")
            kill(shown)
        with window(sim, folder, "--continue", "--orphans", "stop") as shown:
            shown.until("and mind @data.txt:5")  # the recap names it
            shown.type("/continue")
            shown.until("Heard.")
            words = sim.requests[-1].user_words()
            assert [text for text in words if text == "and mind @data.txt:5"] == ["and mind @data.txt:5"]
            assert any("name_4 = 148" in text for text in words)
            shown.type("thanks")
            shown.until("Fine.")
        assert sum(text == "and mind @data.txt:5" for text in sim.requests[-1].user_words()) == 1
