"""`outlive "fix the test"`: a conversation that begins with a prompt from the command line."""

from pathlib import Path

import pytest

from outlive.testing import Simulator, say
from tests.cli.chat.test_terminal import pytestmark as needs_tmux
from tests.e2e.conftest import Client
from tests.e2e.terminal import window

pytestmark = needs_tmux


def test_a_prompt_as_an_argument_is_said_first_and_the_conversation_goes_on(folder: Path) -> None:
    with Simulator([say("First answer."), say("Second answer."), say("Third answer.")]) as sim:
        with window(sim, folder, "fix the test", "--tools", "read_file") as shown:
            assert "> fix the test" in shown.until("First answer.")
            shown.type("and now?")
            shown.until("Second answer.")
            shown.keys("C-d")
            shown.until("EXIT 0")
        with window(sim, folder, "--continue", "--", "thanks") as shown:
            assert "resumed ·" in shown.until("Third answer.")
        assert [words for words in sim.requests[2].user_words() if len(words) < 20] == [
            "fix the test",
            "and now?",
            "thanks",
        ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("taks",), "Did you mean 'task'?"),
        (("hello",), "A prompt of one word goes after --: outlive -- hello"),
        (("fix it", "now"), "'now' comes after the prompt 'fix it'"),
        (("fix it",), "without one a prompt goes behind -p"),
        (("-p", "x", "fix it"), "-p has a prompt already"),
    ],
)
def test_what_is_not_a_prompt_is_not_sent(folder: Path, arguments: tuple[str, ...], says: str) -> None:
    with Simulator([]) as sim:
        result = Client(folder, sim)(*arguments)
    assert (result.code, says in result.err) == (2, True), result.err
    assert not (folder / ".transcripts").exists()
