"""OutliveMiddleware in real LangChain agents; the simulator is Anthropic, where thinking is bound to its prefix."""

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from outlive.adapters.langgraph import OutliveMiddleware
from outlive.testing import Simulator, call, say
from tests.adapters.conftest import RULE, WINDOW, WORDS, fits, page


def read(number: int) -> str:
    """Read a page."""
    return page(number)


def agent_with(middleware: OutliveMiddleware, saver: InMemorySaver | None = None) -> Any:
    settings: Any = {"model": "claude-sonnet-5-5", "max_tokens": 2_000, "thinking": {"type": "adaptive"}}
    model = ChatAnthropic(**settings)
    return create_agent(model, [read], system_prompt="Be brief.", middleware=[middleware], checkpointer=saver)


def ask(agent: Any, words: str, thread: str = "pages") -> list[AnyMessage]:
    config = {"configurable": {"thread_id": thread}, "recursion_limit": 100}
    messages: list[AnyMessage] = agent.invoke({"messages": [HumanMessage(words)]}, config)["messages"]
    return messages


def test_a_long_run_fits_the_window(sim: Simulator) -> None:
    saver = InMemorySaver()
    messages = ask(agent_with(OutliveMiddleware(window=WINDOW - 2_000), saver), WORDS)
    assert messages[-1].text == "That was all."
    whole = [message.content for message in messages if isinstance(message, ToolMessage)]
    assert whole[0] == page(1), "the state of the graph stays as it is"
    later = agent_with(OutliveMiddleware(window=WINDOW - 2_000), saver)  # as another process would go on
    ask(later, "Stop now.")
    fits(sim, "pages")
    assert "recall" in sim.requests[-1].tools
    assert all("Be brief." in request.system_text for request in sim.requests)


def test_it_works_asynchronously_and_without_a_thread(sim: Simulator) -> None:
    agent = agent_with(OutliveMiddleware(session="alone", window=WINDOW - 2_000))
    asyncio.run(agent.ainvoke({"messages": [HumanMessage(WORDS)]}, {"recursion_limit": 100}))
    fits(sim, "alone")


def test_a_request_that_the_provider_finds_too_long_is_made_smaller(sim: Simulator) -> None:
    messages = ask(agent_with(OutliveMiddleware(window=200_000), InMemorySaver()), WORDS)
    assert messages[-1].text == "That was all."
    assert len(sim.refusals) == 1, "the window is known from then on"
    assert "too long" in sim.refusals[0].message
    assert all(RULE in request.text for request in sim.requests)


def test_a_history_that_was_rewritten_is_followed(sim: Simulator) -> None:
    saver = InMemorySaver()
    agent = agent_with(OutliveMiddleware(), saver)
    messages = ask(agent, "The word is melon. Stop now.")
    config = {"configurable": {"thread_id": "pages"}}
    agent.update_state(config, {"messages": [RemoveMessage(str(message.id)) for message in messages]})
    ask(agent, "Which word? Stop now.")
    assert "melon" not in sim.requests[-1].text


def test_the_model_reads_again_what_left(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = [call("read", number=1), call("recall", handle="@h3"), call("recall", handle="@h99"), say("Good.")]
    with Simulator(script) as sim:
        for name, value in sim.env().items():
            monkeypatch.setenv(name, value)
        ask(agent_with(OutliveMiddleware(), InMemorySaver()), "Read page 1.")
        found, missing = (request.last_results()[0].text for request in sim.requests[2:])
        assert found
        assert found in page(1)
        assert missing.startswith("[failed]")
        sim.verify()
