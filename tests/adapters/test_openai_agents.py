"""OutliveSession with the real library, and the simulator as OpenAI's Responses API."""

import asyncio
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from agents.memory import SessionSettings
from openai import AsyncOpenAI

from agents import (
    Agent,
    ModelSettings,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    Session,
    function_tool,
    set_tracing_disabled,
)
from outlive.adapters.openai_agents import OutliveSession
from outlive.stores.logs.protocol import SessionExists
from outlive.testing import Simulator
from tests.adapters.conftest import RULE, WINDOW, WORDS, fits, page
from tests.cli.command import Outlive

set_tracing_disabled(True)


@function_tool
def read(number: int) -> str:
    """Read a page."""
    return page(number)


def items_of(session: OutliveSession, limit: int | None = None) -> list[Any]:
    return asyncio.run(session.get_items(limit))


def test_a_long_run_fits_the_window(sim: Simulator) -> None:
    async def main() -> None:
        async with AsyncOpenAI() as client:
            model = OpenAIResponsesModel("gpt-5.5", client)
            for words in (WORDS, "Stop now."):  # the second as another process would go on
                session = OutliveSession("pages", window=WINDOW, reserve=1_000)
                agent = Agent(
                    name="reader",
                    model=model,
                    model_settings=ModelSettings(store=False, response_include=["reasoning.encrypted_content"]),
                    instructions="Be brief.",
                    tools=[read, session.recall_tool],
                )
                config = RunConfig(call_model_input_filter=session.fit)
                result = await Runner.run(agent, words, session=session, run_config=config, max_turns=40)
                assert result.final_output == "That was all."

    asyncio.run(main())
    fits(sim, "pages")
    inputs = [request.body["input"] for request in sim.requests]
    grew = [later[: len(before)] == before for before, later in pairwise(inputs)]
    assert 3 < sum(grew) < len(grew), "a request extends the one before, but for passes"


ITEMS: list[Any] = [
    {"role": "developer", "content": "Answer in French."},
    {
        "role": "user",
        "content": [{"type": "input_text", "text": "What is on it?"}, {"type": "input_file", "file_id": "f"}],
    },
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA" + "x" * 80},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": '{"deep":  true}'},
    {"type": "custom_tool_call", "id": "ct_1", "call_id": "c2", "name": "patch", "input": "*** Begin"},
    {"type": "function_call_output", "call_id": "c1", "output": "a cat"},
    {"type": "custom_tool_call_output", "call_id": "c2", "output": "done"},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Un chat.", "annotations": []}],
    },
]


def test_items_come_back_as_they_were(sim: Simulator) -> None:
    session = OutliveSession("exact")
    assert isinstance(session, Session)
    asyncio.run(session.add_items(ITEMS[:3]))
    asyncio.run(session.add_items(ITEMS[3:]))
    assert items_of(session) == ITEMS
    assert items_of(OutliveSession("exact")) == ITEMS
    assert items_of(session, 2) == ITEMS[-2:]
    session.session_settings = SessionSettings(limit=1)
    assert items_of(session) == ITEMS[-1:]


def test_two_processes_take_turns(sim: Simulator) -> None:
    one, two = OutliveSession("shared"), OutliveSession("shared")
    asyncio.run(one.add_items(ITEMS[:2]))
    asyncio.run(two.add_items(ITEMS[2:7]))
    asyncio.run(one.add_items(ITEMS[7:]))
    assert items_of(one) == items_of(two) == ITEMS


def test_items_can_be_popped_and_cleared(sim: Simulator, tmp_path: Path) -> None:
    session = OutliveSession("popped")
    assert asyncio.run(session.pop_item()) is None
    asyncio.run(session.add_items(ITEMS))
    assert asyncio.run(session.pop_item()) == ITEMS[-1]
    assert asyncio.run(session.pop_item()) == ITEMS[-2]
    assert items_of(session) == ITEMS[:-2]
    asyncio.run(session.add_items([{"role": "user", "content": "Again."}]))
    assert items_of(OutliveSession("popped")) == [*ITEMS[:-2], {"role": "user", "content": "Again."}]
    asyncio.run(session.clear_session())
    assert items_of(session) == items_of(OutliveSession("popped")) == []
    assert "Un chat." in (tmp_path / ".transcripts" / "popped.jsonl").read_text()


def test_what_is_the_programs_is_not_the_users_word(sim: Simulator, tmp_path: Path) -> None:
    asyncio.run(OutliveSession("whose").add_items([{"role": "developer", "content": "Always shout."}, ITEMS[1]]))
    shown = json.loads(Outlive(tmp_path)("session", "show", "whose", "--json").out)
    assert "Always shout." not in json.dumps(shown["state"])


def test_a_secret_does_not_reach_the_log(sim: Simulator, tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "aB3" * 31
    session = OutliveSession("secret")
    asyncio.run(session.add_items([{"role": "user", "content": f"My key is {secret}. {RULE}"}]))
    assert secret not in (tmp_path / ".transcripts" / "secret.jsonl").read_text()
    assert RULE in str(items_of(session))
    assert items_of(session) == items_of(OutliveSession("secret"))


def test_a_session_of_outlive_itself_is_not_taken_over(sim: Simulator, tmp_path: Path) -> None:
    from outlive.agent import Session as OwnSession
    from outlive.stores.logs.files import FileLogStore

    OwnSession.start(FileLogStore(tmp_path), id="mine").close()
    with pytest.raises(SessionExists, match="another id"):
        items_of(OutliveSession("mine"))
