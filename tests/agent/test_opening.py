"""`Agent` as programs use it: what it refuses, what it closes, and one request at a time."""

import asyncio
import gc
import os
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from outlive import Agent, OutliveError
from outlive.agent import Session
from outlive.config import home
from outlive.errors import AgentBusy, ConfigError
from outlive.events import AssistantSaid, UserSaid
from outlive.messages import Text, ToolCall, plain_text
from outlive.models.protocol import Price
from outlive.request import Request
from outlive.stores import open_stores
from outlive.testing import Fault, ScriptedModel, Simulator, call, say
from outlive.testing.simulator import Step
from tests.context.story import body

MODEL, OTHER = "anthropic:claude-sonnet-4-6", "openai:gpt-5.1"


# -- one at a time


def test_a_second_request_is_refused_while_the_first_is_worked_on(tmp_path: Path) -> None:
    async def work() -> None:
        model = ScriptedModel([call("glob", pattern="*"), say("first"), say("second")])
        async with Agent(tmp_path, model=model) as agent:
            both = await asyncio.gather(agent.run("one"), agent.run("two"), return_exceptions=True)
            assert getattr(both[0], "text", "") == "first"
            assert isinstance(both[1], AgentBusy)
            assert "queue()" in str(both[1])
            assert (await agent.run("two")).text == "second"
            said = [event for event in agent.events if isinstance(event, (UserSaid, AssistantSaid))]
            assert [plain_text(event.blocks) for event in said if isinstance(event, UserSaid)] == ["one", "two"]
        model.verify()

    asyncio.run(work())


@pytest.mark.parametrize("what", ["run", "compact"])
def test_nothing_else_is_done_beside_a_request(tmp_path: Path, what: str) -> None:
    async def work() -> None:
        refused: list[BaseException] = []

        def during(request: Request) -> Step:
            with pytest.raises(AgentBusy) as raised:
                getattr(agent, what)().send(None)
            refused.append(raised.value)
            return say("done")

        async with Agent(tmp_path, model=ScriptedModel([during])) as agent:
            assert (await agent.run("go")).text == "done"
        assert len(refused) == 1

    asyncio.run(work())


def test_an_agent_can_be_asked_again_after_a_failure(tmp_path: Path) -> None:
    async def work() -> None:
        model = ScriptedModel([ConfigError("no"), say("yes")])
        async with Agent(tmp_path, model=model) as agent:
            with pytest.raises(ConfigError):
                await agent.run("one")
            assert (await agent.run("two")).text == "yes"

    asyncio.run(work())


# -- options


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mode": "plann"}, "mode = 'plann': it is one of ask, accept-edits, plan, bypass"),
        ({"mode": 5}, "mode = 5: Expected"),
        ({"window": 10}, "window = 10: Expected `int` >= 1000"),
        ({"max_turns": 0}, "max_turns = 0: Expected `int` >= 1"),
        ({"max_tokens": -1}, "max_tokens = -1"),
        ({"max_cost": -1}, "max_cost = -1"),
        ({"allow": "bash(ls)"}, "allow = 'bash(ls)': Expected `array`"),
        ({"sandbox": "yes"}, "sandbox = 'yes'"),
        ({"policy": "rihc"}, "no policy 'rihc'"),
        ({"add_dirs": ("nope",)}, "no such folder"),
    ],
)
def test_an_option_that_cannot_be_is_refused_and_leaves_nothing(
    tmp_path: Path, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        Agent(tmp_path, model=ScriptedModel([]), **options)
    assert says in str(raised.value)
    assert not list(tmp_path.glob(".transcripts/*"))


def test_a_mode_that_does_not_exist_cannot_be_set(tmp_path: Path) -> None:
    async def work() -> None:
        async with Agent(tmp_path, model=ScriptedModel([]), mode="plan") as agent:
            with pytest.raises(ConfigError, match="ask, accept-edits, plan, bypass"):
                agent.mode = "plann"  # type: ignore[assignment]
            assert agent.mode == "plan"

    asyncio.run(work())


def test_a_store_is_not_opened_with_a_durability_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="full, process"):
        open_stores(base=tmp_path, durability="ful")


# -- what is closed


def connections(sim: Simulator) -> int:
    """Sockets of this process that are connected to the simulator, seen from the side of its clients."""
    port = f":{urlsplit(sim.url).port:04X}"
    rows = [row.split() for row in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    theirs = {f"socket:[{row[9]}]" for row in rows if row[2].endswith(port)}
    mine = (os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink())
    return len(theirs.intersection(mine))


async def all_closed(sim: Simulator) -> bool:
    for _ in range(10):  # a transport lets go of its socket in the next turn of the loop
        await asyncio.sleep(0)
    return connections(sim) == 0


def descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Any:
    with Simulator(brain=lambda request: say("ok")) as sim:
        for name, value in sim.env().items():
            monkeypatch.setenv(name, value)
        yield sim


@pytest.mark.parametrize("model", [MODEL, OTHER])
def test_a_model_opened_by_name_is_closed_with_the_agent(tmp_path: Path, simulated: Simulator, model: str) -> None:
    async def work() -> None:
        async with Agent(tmp_path, model=model) as agent:
            await agent.run("hello")
            assert connections(simulated) == 1
        assert await all_closed(simulated)

    asyncio.run(work())


def test_a_fallback_model_is_closed_too(tmp_path: Path, simulated: Simulator) -> None:
    simulated.faults.add(Fault.status(529, retry_after=1000), when=lambda request: request.provider == "anthropic")

    async def work() -> None:
        async with Agent(tmp_path, model=MODEL, fallback=OTHER) as agent:
            await agent.run("hello")
            assert connections(simulated) == 2
        assert await all_closed(simulated)

    asyncio.run(work())


def test_a_model_that_was_given_stays_open_and_so_does_that_of_a_sub_agent(tmp_path: Path) -> None:
    closed: list[str] = []

    class Watched(ScriptedModel):
        async def close(self) -> None:
            closed.append(self.name)

    async def work() -> None:
        send = call("subagent", prompt="look", description="a look")
        model = Watched([send, say("report"), say("done")])
        async with Agent(tmp_path, model=model) as agent:
            assert (await agent.run("go")).text == "done"
            assert closed == []
            await agent._runtime.use_model(Watched([say("later")], name="scripted:other"))
            assert (await agent.run("go")).text == "later"
        assert closed == ["scripted:other"]

    asyncio.run(work())


@pytest.mark.parametrize("store", ["files:.tasks", "sqlite:state.db"])
def test_an_agent_that_could_not_be_opened_leaves_nothing_open(
    tmp_path: Path, simulated: Simulator, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTLIVE_STORE", store)
    before = descriptors()
    for _ in range(3):
        with pytest.raises(OutliveError, match="no session 'nope'"):
            Agent(tmp_path, model=MODEL, resume="nope")
    assert descriptors() == before


def old_session(tmp_path: Path) -> ScriptedModel:
    """A session of two hours ago, and a model with a price."""
    stores = open_stores("files:.tasks", base=tmp_path)
    with Session.start(stores.logs, id="old", clock=lambda: time.time() - 7200) as session:
        session.user_said("Read all of it.")
        for number in range(30):
            session.assistant_said((ToolCall(f"c{number}", "look", {"part": number}),))
            session.tool_finished(f"c{number}", body(number, 60))
        session.assistant_said((Text("Read."),))
    stores.close()
    model = ScriptedModel([say("Going on.")])
    model.price = Price(3.0, 3.75, 0.3, 15.0)
    return model


@pytest.mark.parametrize("how", ["option", "setting"])
def test_the_user_can_do_without_a_pass_after_hours_and_is_told_what_that_costs(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTLIVE_HOME", str(tmp_path / "home"))
    model = old_session(tmp_path)
    if how == "setting":
        home().mkdir(parents=True, exist_ok=True)
        (home() / "outlive.toml").write_text("[context]\ncold_pass = false\n")
    chosen = False if how == "option" else None
    with Agent(tmp_path, model=model, resume="old", window=100_000, cold_pass=chosen) as agent:
        (notice,) = [notice for notice in agent.notices if "cache has expired" in notice]
        agent.run_sync("Go on.")
    assert model.requests[0].passes == ()
    found = re.search(r"about ([\d,]+) tokens \(\$0\.\d\d\), after a pass ([\d,]+) \(\$0\.\d\d\)", notice)
    assert found, notice
    as_is, after = (int(count.replace(",", "")) for count in found.groups())
    assert after < as_is


def test_after_hours_the_price_of_the_next_request_is_said_and_a_pass_comes_first(tmp_path: Path) -> None:
    model = old_session(tmp_path)
    with Agent(tmp_path, model=model, resume="old", window=100_000) as agent:
        (notice,) = [notice for notice in agent.notices if "cache has expired" in notice]
        agent.run_sync("Go on.")
    (made,) = model.requests[0].passes
    found = re.search(r"about ([\d,]+) tokens \(\$0\.\d\d\) instead of ([\d,]+) \(\$0\.\d\d\)", notice)
    assert found, notice
    after, as_is = (int(count.replace(",", "")) for count in found.groups())
    assert (made.receipt.reason, made.receipt.before > made.receipt.after) == ("cold", True)
    assert after < as_is
