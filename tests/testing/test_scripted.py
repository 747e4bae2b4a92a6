"""A scripted model plays the same steps as the simulator."""

import asyncio
from pathlib import Path

import pytest

import outlive.testing
from outlive import Agent
from outlive.messages import Thinking, ToolCall
from outlive.testing import ScriptedModel, Simulator, call, calls, say, think

STEPS = [
    think("Look first.") + say("I look.") + calls(call("glob", pattern="*.txt"), call("glob", pattern="*.md")),
    say("There is nothing."),
]


def test_one_script_plays_in_a_scripted_model_and_in_the_simulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def said(folder: Path, model: ScriptedModel | str) -> list[tuple[str, ...]]:
        folder.mkdir()
        async with Agent(folder, model=model, mode="plan") as agent:
            assert (await agent.run("What is there?")).text == "There is nothing."
            blocks = [block for unit in agent._runtime.session.next_request().messages for block in unit.blocks]
            return [(block.name, str(block.input)) for block in blocks if isinstance(block, ToolCall)]

    model = ScriptedModel(STEPS)
    scripted = asyncio.run(said(tmp_path / "scripted", model))
    model.verify()
    with Simulator(STEPS) as sim:
        for name, value in sim.env().items():
            monkeypatch.setenv(name, value)
        assert asyncio.run(said(tmp_path / "simulated", "anthropic:claude-sonnet-4-6")) == scripted
        sim.verify()
    assert len(scripted) == 2


def test_thinking_is_a_block_of_the_answer(tmp_path: Path) -> None:
    async def work() -> None:
        async with Agent(tmp_path, model=ScriptedModel([think("Hm.") + say("Yes.")])) as agent:
            await agent.run("?")
            blocks = [block for message in agent._runtime.session.next_request().messages for block in message.blocks]
            assert [block.text for block in blocks if isinstance(block, Thinking)] == ["Hm."]

    asyncio.run(work())


def test_every_name_that_is_offered_can_be_imported() -> None:
    assert [name for name in outlive.testing.__all__ if not hasattr(outlive.testing, name)] == []
