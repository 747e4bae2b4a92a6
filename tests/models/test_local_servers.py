"""The window is what the server says, however it says it; odd and slow answers are none."""

import asyncio
import os
import socket
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import pytest

from outlive import Agent
from outlive.agent.factory import AgentFactory
from outlive.config import Workspace
from outlive.models import resolve as choosing
from outlive.models.local_servers import ServedModel, ServedWindow, in_time, listed, served_window
from outlive.models.protocol import window_origin
from outlive.models.resolve import resolve
from outlive.testing.simulator import SimulatedModel, Simulator, say
from tests.models.quirky import quirky

TINY = SimulatedModel("tiny", "openai", 8_000)
WINDOW = 12_288


@pytest.mark.parametrize(
    ("server", "path"),
    [
        ("llama.cpp", "/v1/models"),
        ("vllm", "/v1/models"),
        ("lmstudio", "/api/v0/models"),
        ("ollama", "/api/show, num_ctx"),
    ],
)
def test_the_window_is_what_the_server_says(server: str, path: str) -> None:
    with Simulator(brain=lambda _: say("hi"), models=[TINY], window=WINDOW, server=server) as sim:
        model = resolve("openai:tiny", environment=sim.env())
        assert model.window == WINDOW
        assert window_origin(model) == f"as the server at {sim.url}/v1 says ({path})"
        assert sim.requests == [], "no words were sent"


def test_a_server_that_says_nothing_leaves_the_window_open() -> None:
    with Simulator(brain=lambda _: say("hi"), models=[TINY], window=WINDOW) as sim:
        model = resolve("openai:tiny", environment=sim.env())
        assert (model.window, window_origin(model)) == (0, "")


@pytest.mark.parametrize("said", ["8192", -1, True, 10**12, 0.5, None, [8192]])
def test_an_odd_window_is_none(said: Any) -> None:
    with quirky(
        models={"data": [{"id": "tiny", "max_model_len": said, "meta": said if said != {"n_ctx": 8192} else 1}]}
    ) as server:
        assert served_window(server.url, "tiny", timeout=300) == ServedWindow()


def test_the_only_model_of_a_server_answers_to_any_name_and_several_do_not() -> None:
    with quirky(models={"data": [{"id": "/models/a.gguf", "meta": {"n_ctx": 8192}}]}) as server:
        assert served_window(server.url, "tiny", timeout=300).tokens == 8192
    with quirky(models={"data": [{"id": "a", "meta": {"n_ctx": 8192}}, {"id": "b"}]}) as server:
        assert served_window(server.url, "tiny", timeout=300).tokens == 0


def test_a_server_that_never_answers_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        assert served_window(address, "tiny", timeout=0.05) == ServedWindow()
    released = threading.Event()
    try:
        assert in_time(lambda: str(released.wait()), 0.05, "late") == "late"
    finally:
        released.set()


def test_a_server_that_was_found_is_named_to_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def notices() -> str:
        agent = Agent(tmp_path)
        await agent.close()
        return "\n".join(agent.notices)

    with quirky(models={"data": [{"id": "tiny", "owned_by": "vllm"}]}) as server:
        monkeypatch.setattr(choosing, "local_models", lambda: listed("", server.url, 300))
        monkeypatch.setenv("OUTLIVE_LOCAL_MODELS", "on")
        assert f"openai:tiny is asked, which vLLM at {server.url} has" in asyncio.run(notices())


@pytest.mark.parametrize(("answer", "setting"), [(True, "on"), (False, None)])
def test_the_terminal_asks_before_a_server_that_was_found_gets_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bool, setting: str | None
) -> None:
    from outlive.cli.agent import start

    asked: list[str] = []

    def confirm(question: str, default: bool) -> bool:
        asked.append(question)
        return answer

    monkeypatch.delenv("OUTLIVE_LOCAL_MODELS")
    monkeypatch.setattr(choosing, "local_models", lambda: [ServedModel("Ollama", "http://127.0.0.1:1/v1", "tiny")])
    monkeypatch.setattr(click, "confirm", confirm)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    with closing(AgentFactory(Workspace.find(tmp_path))) as factory:
        start._ask_about_server(factory)
    assert asked == ["Send what you say to it?"]
    assert os.environ.pop("OUTLIVE_LOCAL_MODELS", None) == setting


def test_the_session_keeps_the_window_for_when_the_server_does_not_say_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def opened(resume: str | None = None) -> tuple[str, int, str]:
        agent = Agent(tmp_path, model="openai:tiny", resume=resume)
        try:
            return agent.session, agent._runtime.gauge.window, agent._runtime.window_origin
        finally:
            await agent.close()

    with Simulator(brain=lambda _: say("hi"), models=[TINY], window=WINDOW, server="vllm") as sim:
        for name, value in sim.env().items():
            monkeypatch.setenv(name, value)
        session, window, origin = asyncio.run(opened())
        assert (window, origin) == (WINDOW, f"as the server at {sim.url}/v1 says (/v1/models)")
    assert asyncio.run(opened(session)) == (session, WINDOW, "as the server said earlier in this session")
