"""What a run taught is asked at the end of the conversation, which the provider's cache holds, if that costs less."""

from pathlib import Path

import pytest

from outlive import Agent, tool
from outlive.testing import Simulator, call, say
from outlive.testing.simulator import SeenRequest, Step

QUOTE = "We deploy on Mondays only."
LOOKS = 40


@tool
async def look(part: int) -> str:
    """Look at a part."""
    return "\n".join(f"row {part}.{row} is as it should be" for row in range(40))


class Brain:
    """Looks at some parts, and answers the question that comes at the end."""

    def __init__(self, looks: int, *, obeys: bool = True) -> None:
        self.looks, self.obeys = looks, obeys
        self.questions: list[SeenRequest] = []
        self.asked = 0

    def __call__(self, request: SeenRequest) -> Step:
        if "worth remembering" in request.text:
            self.questions.append(request)
            event = int(request.text.split(", the user]")[0].rpartition("[event ")[2])
            if not self.obeys and len(self.questions) == 1:
                return call("look", part=1)
            return say(
                f'{{"memories": [{{"name": "deployment", "type": "project", "event": {event}, "quote": "{QUOTE}"}}]}}'
            )
        self.asked += 1
        return say("All of it is fine.") if self.asked > self.looks else call("look", part=self.asked)


def agent_of(folder: Path, sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> Agent:
    monkeypatch.setenv("OUTLIVE_HOME", str(folder / "home"))
    (folder / "home").mkdir(exist_ok=True)
    (folder / "home" / "outlive.toml").write_text('[memory]\nextract = "always"\n')
    for name, value in sim.env().items():
        monkeypatch.setenv(name, value)
    return Agent(folder, model="anthropic:claude-sonnet-4-6", tools=[look], mode="bypass", window=100_000)


def remembered(folder: Path) -> bool:
    return any(f"\n{QUOTE}" in path.read_text() for path in (folder / ".memory").glob("*.md"))


def test_after_a_long_run_the_question_reads_the_conversation_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = Brain(LOOKS)
    with Simulator(brain=brain) as sim, agent_of(tmp_path, sim, monkeypatch) as agent:
        agent.run_sync(f"Look at all parts. {QUOTE}")
    (question,) = brain.questions
    assert "look" in question.tools
    assert question.usage is not None
    assert question.usage.cache_read / question.usage.prompt > 0.8
    assert not sim.refusals
    assert remembered(tmp_path)


def test_after_a_short_run_a_prompt_of_its_own_costs_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    brain = Brain(0)
    with Simulator(brain=brain) as sim, agent_of(tmp_path, sim, monkeypatch) as agent:
        agent.run_sync(QUOTE)
    (question,) = brain.questions
    assert not question.tools


def test_a_model_that_goes_on_working_instead_is_asked_outside_of_the_conversation_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = Brain(LOOKS, obeys=False)
    with Simulator(brain=brain) as sim, agent_of(tmp_path, sim, monkeypatch) as agent:
        agent.run_sync(f"Look at all parts. {QUOTE}")
        agent.run_sync("Thank you.")
    assert [bool(question.tools) for question in brain.questions] == [True, False]
    assert remembered(tmp_path)
