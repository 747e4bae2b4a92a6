"""`--plain` at a real terminal: lines, one after the other, for screen readers."""

from pathlib import Path

from outlive.testing import Simulator, call, say
from tests.cli.chat.test_terminal import pytestmark as needs_tmux
from tests.e2e.terminal import window

pytestmark = needs_tmux


def test_a_conversation_and_a_question_are_plain_lines(folder: Path) -> None:
    script = [call("bash", command="touch made"), say("It is **there**.")]
    with Simulator(script) as sim, window(sim, folder, "--plain") as shown:
        shown.type("Make it.")
        shown.until("touch made")
        shown.type("y")
        shown.until("It is there.")
        screen = shown.screen("-e")
        assert "\x1b" not in screen
        assert not any(0x2500 <= ord(char) < 0x25A0 for char in screen), "boxes are read out one by one"
    assert (folder / "made").exists()
