"""Which model is taken: what was said, what the environment says, what runs on this machine."""

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from outlive.cli.flags import shown
from outlive.models import resolve as choosing
from outlive.models.errors import ModelNotSetUp
from outlive.models.local_servers import local_models
from outlive.models.protocol import Model, found_at
from outlive.models.resolve import offered, resolve
from outlive.models.retry import Fallback, Retrying
from outlive.testing.simulator import Simulator, say
from tests.engines import worker_environment
from tests.models.quirky import chunk, quirky
from tests.models.talking import ask, asking

KEYS = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}


@pytest.fixture(autouse=True)
def no_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine may run one; the tests bring their own."""
    monkeypatch.setattr(choosing, "PROBE_SECONDS", 300.0)
    monkeypatch.setattr(choosing, "local_models", list)


def here(monkeypatch: pytest.MonkeyPatch, *ports: int) -> None:
    named = {f"server {port}": port for port in ports}
    monkeypatch.setattr(choosing, "local_models", lambda: local_models(named, timeout=300))


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("anthropic:claude-opus-5-5", "anthropic:claude-opus-5-5"),
        ("claude-opus-5-5", "anthropic:claude-opus-5-5"),
        ("openai:gpt-5.5", "openai:gpt-5.5"),
        ("gpt-5.5", "openai:gpt-5.5"),
        ("o4-mini", "openai:o4-mini"),
        ("openai:qwen3:8b", "openai:qwen3:8b"),
        (" openai: gpt-5.5 ", "openai:gpt-5.5"),
        ("anthropic:my-own-name", "anthropic:my-own-name"),
    ],
)
def test_a_model_is_taken_by_its_name(spec: str, name: str) -> None:
    assert resolve(spec, environment=KEYS).name == name
    assert resolve(None, environment={**KEYS, "MODEL_ID": spec}).name == name


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        (KEYS, "anthropic:claude-sonnet-5-5"),
        ({"ANTHROPIC_AUTH_TOKEN": "t"}, "anthropic:claude-sonnet-5-5"),
        ({"OPENAI_API_KEY": "o"}, "openai:gpt-6-sol"),
    ],
)
def test_a_key_is_enough(environment: Mapping[str, str], name: str) -> None:
    assert resolve(None, environment=environment).name == name


def test_what_was_said_comes_before_the_environment() -> None:
    assert resolve("gpt-5.5", environment={**KEYS, "MODEL_ID": "claude-opus-5"}).name == "openai:gpt-5.5"


def test_a_name_that_could_be_anyones_is_asked_about() -> None:
    with pytest.raises(ModelNotSetUp, match="write anthropic:mistral or openai:mistral"):
        resolve("mistral", environment=KEYS)
    with pytest.raises(ModelNotSetUp, match="write openai:NAME"):
        resolve("openai:", environment=KEYS)


def test_with_an_address_any_other_name_is_a_model_there() -> None:
    environment = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    assert resolve("qwen3:8b", environment=environment).name == "openai:qwen3:8b"


def test_a_model_without_its_key_says_what_is_missing() -> None:
    with pytest.raises(ModelNotSetUp, match="ANTHROPIC_API_KEY is not set"):
        resolve("claude-opus-5", environment={})
    with pytest.raises(ModelNotSetUp, match=r"openai:gpt-5\.5 needs OPENAI_API_KEY"):
        resolve("gpt-5.5", environment={})


def test_with_nothing_at_all_three_lines_say_how_to_get_going() -> None:
    with pytest.raises(ModelNotSetUp, match="no model is set up") as caught:
        resolve(None, environment={})
    key, demo, server = shown(caught.value).splitlines()
    assert "ANTHROPIC_API_KEY" in key
    assert "outlive demo" in demo
    assert server.endswith("MODEL_ID=openai:NAME")


def test_models_are_asked_again_and_another_may_stand_in() -> None:
    assert isinstance(resolve("gpt-5.5", environment=KEYS), Retrying)
    for model in (
        resolve("gpt-5.5", environment=KEYS, fallback="claude-opus-5"),
        resolve("gpt-5.5", environment={**KEYS, "OUTLIVE_FALLBACK": "claude-opus-5"}),
    ):
        assert isinstance(model, Fallback)
        assert (model.model.name, model.second.name) == ("openai:gpt-5.5", "anthropic:claude-opus-5")


# -- this machine


def test_a_local_server_is_found_and_talked_to_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {"data": [{"id": "nomic-embed-text"}, {"id": "qwen3:8b", "max_model_len": 40_960}]}
    done = [chunk(content="Yes."), chunk("stop")]
    with quirky((200, done), models=listed) as server:
        here(monkeypatch, 1, server.port)
        model = resolve(None, environment={"OUTLIVE_LOCAL_MODELS": "on"})
        assert (model.name, model.window, model.price) == ("openai:qwen3:8b", 40_960, None)
        assert found_at(model) == f"server {server.port} at {server.url}"
        ask(model, asking())
        assert server.bodies[0]["model"] == "qwen3:8b"


def test_a_local_model_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with quirky(models={"data": [{"id": "a"}, {"id": "llama3.3:latest"}]}) as server:
        here(monkeypatch, server.port)
        assert resolve("openai:llama3.3", environment={}).name == "openai:llama3.3:latest"
        with pytest.raises(ModelNotSetUp, match=r"on this machine there is a, llama3\.3:latest"):
            resolve("openai:b", environment={})


def test_servers_on_this_machine_are_left_alone_when_the_user_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with quirky(models={"data": [{"id": "a"}]}) as server:
        here(monkeypatch, server.port)
        on = {"OUTLIVE_LOCAL_MODELS": "on"}
        assert resolve(None, environment=on).name == resolve("openai:a", environment={}).name == "openai:a"
        off = {"OUTLIVE_LOCAL_MODELS": "off"}
        with pytest.raises(ModelNotSetUp, match="no model is set up"):
            resolve(None, environment=off)
        with pytest.raises(ModelNotSetUp, match="openai:a needs OPENAI_API_KEY"):
            resolve("openai:a", environment=off)


def test_nothing_is_sent_to_a_server_that_was_only_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with quirky(models={"data": [{"id": "a", "owned_by": "llamacpp"}]}) as server:
        here(monkeypatch, server.port)
        with pytest.raises(ModelNotSetUp, match=r"llama\.cpp seems to listen") as caught:
            resolve(None, environment={})
        assert "export MODEL_ID=openai:a" in shown(caught.value)
        assert "--model openai:a" in shown(caught.value)
        assert "OUTLIVE_LOCAL_MODELS=on" in shown(caught.value)
        model = offered(None, {})
        assert model
        assert (model.server, model.name) == ("llama.cpp", "a")
        for setting in ({"OUTLIVE_LOCAL_MODELS": "off"}, {"MODEL_ID": "x"}, KEYS):
            assert offered(None, setting) is None
        assert server.bodies == []


@pytest.mark.parametrize("listed", [None, [], {"data": "none"}, {"data": [None, {}, {"id": ""}]}, "hello"])
def test_whatever_else_listens_there_is_no_server(monkeypatch: pytest.MonkeyPatch, listed: Any) -> None:
    with quirky(models=listed) as server:
        here(monkeypatch, server.port)
        with pytest.raises(ModelNotSetUp, match="no model is set up"):
            resolve(None, environment={})


def test_an_address_alone_is_asked_what_it_has() -> None:
    with quirky(models={"data": [{"id": "tiny"}]}) as server:
        assert resolve(None, environment={"OPENAI_BASE_URL": server.url}).name == "openai:tiny"
    with pytest.raises(ModelNotSetUp, match="is set, but no model"):
        resolve(None, environment={"OPENAI_BASE_URL": "https://example.org/v1"})


def test_the_simulator_is_a_server_like_any_other() -> None:
    with Simulator(brain=lambda request: say(request.provider)) as sim:
        for spec in ("anthropic:claude-haiku-4-5", "openai:gpt-4.1"):
            model: Model = resolve(spec, environment=sim.env())
            reply, _ = ask(model, asking())
            assert reply.blocks
        assert [request.provider for request in sim.requests] == ["anthropic", "openai"]


# -- packages


LAZY = """
import sys
import outlive.models.resolve, outlive.models.anthropic.model, outlive.models.openai.model, outlive.models.retry
slow = {"anthropic", "openai", "httpx2", "pydantic", "dotenv"} & set(sys.modules)
assert not slow, slow
"""
MISSING = """
import sys
sys.modules["httpx2"] = sys.modules["openai"] = None
from outlive.models.resolve import resolve
from outlive.models.errors import ModelNotSetUp
for spec, extra in (("claude-opus-5", "outlive[anthropic]"), ("gpt-5.5", "outlive[openai]")):
    try:
        resolve(spec, environment={"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"})
    except ModelNotSetUp as error:
        assert f"pip install '{extra}'" in str(error), error
    else:
        raise AssertionError(spec)
"""


@pytest.mark.parametrize("program", [LAZY, MISSING], ids=["lazy", "missing"])
def test_the_packages_are_loaded_late_and_named_when_they_are_missing(program: str) -> None:
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=worker_environment())
    assert run.returncode == 0, run.stderr
