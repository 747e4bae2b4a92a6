"""A session is resumed with other tools while the provider has its conversation in the cache."""

import asyncio
from pathlib import Path

import pytest

from outlive import Agent, tool
from outlive.testing import Fault, Simulator, call, say, think
from outlive.testing.simulator import SeenRequest, Step


@tool
async def weather(city: str) -> str:
    """What the weather is like in a city."""
    return f"sunny in {city}"


@tool
async def tides(city: str) -> str:
    """When the tides are in a city."""
    return f"high at noon in {city}"


def brain(request: SeenRequest) -> Step:
    if request.last_results():
        return think("I know now.") + say("Done.")
    return think("I should ask.") + call("tides" if "tides" in request.tools else "weather", city="Rome")


async def work(folder: Path, model: str) -> None:
    async with Agent(folder, model=model, tools=[weather]) as agent:
        await agent.run("How is the weather?")
    async with Agent(folder, model=model, tools=[tides], deny=["bash"], resume=agent.session) as agent:
        await agent.run("And the sea?")
        await agent.run("Again.")


def played(folder: Path, monkeypatch: pytest.MonkeyPatch, model: str, *faults: Fault) -> Simulator:
    with Simulator(brain=brain) as sim:
        for name, value in sim.env().items():
            monkeypatch.setenv(name, value)
        for fault in faults:
            sim.faults.add(fault, at=3)
        asyncio.run(work(folder, model))
    assert all("tides" in request.tools and "weather" not in request.tools for request in sim.requests[2:])
    assert all("bash" not in request.tools for request in sim.requests[2:])
    return sim


def test_thinking_and_cache_survive_a_change_of_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sim = played(tmp_path, monkeypatch, "anthropic:claude-sonnet-5-5")
    assert not sim.refusals
    assert [request.dropped for request in sim.requests] == [()] * 6
    before, after = (request.usage for request in sim.requests[1:3])
    assert before is not None
    assert after is not None
    assert after.cache_read == before.prompt
    assert [message["role"] for message in sim.requests[-1].body["messages"]].count("system") == 1


@pytest.mark.parametrize("model", ["anthropic:claude-opus-4-7", "openai:gpt-5.4"])
def test_other_models_are_sent_the_tools_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    sim = played(tmp_path, monkeypatch, model)
    assert not sim.refusals
    names = [tool.get("function", tool)["name"] for tool in sim.requests[-1].body["tools"]]
    assert "tides" in names
    assert not {"weather", "bash"}.intersection(names)


def test_a_server_that_takes_no_changes_is_sent_the_tools_of_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = Fault.status(
        400, message="Unexpected value(s) `inline-tools-2026-09-15` for the `anthropic-beta` header."
    )
    sim = played(tmp_path, monkeypatch, "anthropic:claude-sonnet-5-5", refusal)
    assert all(message["role"] != "system" for request in sim.requests[3:] for message in request.body["messages"])
