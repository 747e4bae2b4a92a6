"""`outlive` without a command and without a terminal: prompts from a pipe, through real model clients and tools."""

from pathlib import Path

import pytest

from outlive.testing import Simulator, call, say
from tests.e2e.conftest import MODELS, Client


@pytest.mark.parametrize("model", MODELS)
def test_lines_of_a_pipe_are_a_conversation(folder: Path, model: str) -> None:
    script = [call("read_file", path="data.txt", limit=2), say("**Seen.**"), say("Bye.")]
    with Simulator(script) as sim:
        result = Client(folder, sim)("--model", model, stdin="look at data.txt\nthank you\n/cost\n")
        assert result.code == 0, result.err
        sim.verify()
    shown = result.out.split("\n\n")
    assert shown[1] == "> look at data.txt"
    assert shown[2].startswith("● read_file data.txt ✓ ")
    assert shown[3:6] == ["Seen.", "> thank you", "Bye."]
    assert "requests  3" in shown[6]
    assert "\x1b" not in result.out


def test_a_conversation_goes_on_in_the_next_process(folder: Path) -> None:
    with Simulator([say("One."), say("Two.")]) as sim:
        client = Client(folder, sim)
        first = client("--model", MODELS[0], stdin="first\n")
        again = client("--model", MODELS[0], "--continue", stdin="second\n")
        assert (first.code, again.code) == (0, 0), again.err
        assert "resumed · " in again.out
        assert "you  first\n\nOne.\n" in again.out
        sim.verify()


def test_nobody_is_there_to_give_leave(folder: Path) -> None:
    with Simulator([call("bash", command="touch owned"), say("I may not.")]) as sim:
        result = Client(folder, sim)("--model", MODELS[0], stdin="go\n")
        assert "I may not." in result.out
        assert "the user said no: there is no terminal" in result.out
    assert not (folder / "owned").exists()
