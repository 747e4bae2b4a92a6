"""`outlive --resume` without an ID: choose the session from a list, in a terminal and on plain lines."""

from pathlib import Path

from outlive.testing import Simulator, say
from tests.cli.chat.test_terminal import pytestmark as needs_tmux
from tests.e2e.conftest import Client
from tests.e2e.terminal import window

pytestmark = needs_tmux


def test_resume_without_an_id_lets_the_user_choose(folder: Path) -> None:
    with Simulator([say("Painted."), say("Watered."), say("Thanks.")]) as sim:
        client = Client(folder, sim)
        client("-p", "paint the house")
        client("-p", "water the plants")
        with window(sim, folder, "--resume", ready="session:") as shown:
            assert "▸ water the plants" in shown.until("1 of 2 ·")
            shown.keys("p", "a", "i", "n", "t")
            assert "> paint the house" in shown.until("1 of 1 ·")
            shown.keys("Enter")
            assert "Painted." in shown.until("resumed ·")
            assert "1 of 1" not in shown.tmux("capture-pane", "-p", "-t", "main")  # without the scrollback
            shown.keys("C-d")
            shown.until("EXIT 0")
        with window(sim, folder, "--resume", ready="1 of 2 ·") as shown:
            shown.keys("Escape")
            assert "outlive 0" not in shown.until("EXIT 0")
        with window(sim, folder, "--plain", "--resume") as shown:
            shown.until("an empty line chooses nothing")
            shown.type("water")
            shown.until("resumed ·")


def test_resume_without_an_id_needs_somebody_who_chooses(folder: Path) -> None:
    with Simulator([]) as sim:
        result = Client(folder, sim)("-p", "go on", "--resume")
    assert result.code == 2
    assert "--resume needs an ID here" in result.err
