"""`/model NAME EFFORT`: how much the model thinks, in the request of each provider and in the status line."""

from pathlib import Path
from typing import Any

import pytest

from outlive.testing import Simulator, say
from tests.cli.chat.test_terminal import pytestmark as needs_tmux
from tests.e2e.terminal import window

pytestmark = needs_tmux


def test_the_effort_is_asked_for_and_shown(folder: Path) -> None:
    with Simulator([say("One."), say("Two."), say("Three."), say("Four.")]) as sim, window(sim, folder) as shown:
        shown.type("hello")
        shown.until("One.")
        shown.type("/model high")
        shown.until("going on with anthropic:claude-sonnet-5-5 high")
        shown.until("\n  claude-sonnet-5-5 high ·")
        shown.type("again")
        shown.until("Two.")
        shown.type("/model anthropic:claude-haiku-4-5 low")
        shown.until("claude-haiku-4-5 low ·")
        shown.type("once more")
        shown.until("Three.")
        shown.type("/model openai:gpt-5.1 off")
        shown.until("gpt-5.1 off ·")
        shown.type("and at last")
        shown.until("Four.")
        bodies: list[dict[str, Any]] = [request.body for request in sim.requests]
    assert [body.get("output_config") for body in bodies[:3]] == [None, {"effort": "high"}, None]
    assert bodies[2]["model"] == "claude-haiku-4-5"
    assert bodies[3]["reasoning_effort"] == "none"


@pytest.mark.parametrize("words", ["/model anthropic:", "/model enormous effort"])
def test_what_is_not_a_model_changes_nothing(folder: Path, words: str) -> None:
    with Simulator([say("Fine.")]) as sim, window(sim, folder, OPENAI_BASE_URL="") as shown:
        shown.type(words)
        shown.until("✗ ")
        shown.type("hello")
        shown.until("Fine.")
        assert "output_config" not in sim.requests[0].body
