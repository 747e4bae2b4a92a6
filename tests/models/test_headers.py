"""What a server is sent comes from the environment that the model was given, never from the process around it."""

from collections.abc import Mapping

import pytest

from outlive.models.anthropic.model import AnthropicModel
from outlive.models.errors import ModelNotSetUp
from outlive.models.local_servers import ServedModel
from outlive.models.openai.model import OpenAIModel
from outlive.models.protocol import Model
from outlive.models.provider_model import custom_headers
from outlive.models.resolve import _local
from outlive.testing import Simulator, say
from tests.models.talking import CLAUDE, GPT, ask, asking, playing

EXPORTED = {
    "ANTHROPIC_API_KEY": "mine",
    "ANTHROPIC_AUTH_TOKEN": "mine",
    "ANTHROPIC_BASE_URL": "http://mine.invalid",
    "ANTHROPIC_CUSTOM_HEADERS": "X-Mine: mine\nAuthorization: Bearer mine\nx-api-key: mine",
    "ANTHROPIC_WEBHOOK_SIGNING_KEY": "mine",
    "ANTHROPIC_PROFILE": "mine",
    "OPENAI_API_KEY": "mine",
    "OPENAI_ADMIN_KEY": "mine",
    "OPENAI_BASE_URL": "http://mine.invalid",
    "OPENAI_CUSTOM_HEADERS": "X-Mine: mine\nAuthorization: Bearer mine",
    "OPENAI_ORG_ID": "mine",
    "OPENAI_PROJECT_ID": "mine",
    "OPENAI_WEBHOOK_SECRET": "mine",
}
"""Every variable that one of the SDKs reads by itself when a client is made."""


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in EXPORTED.items():
        monkeypatch.setenv(name, value)


def sent(sim: Simulator) -> Mapping[str, str]:
    return sim.requests[-1].headers


def made(provider: str, environment: Mapping[str, str]) -> Model:
    if provider == "anthropic":
        return AnthropicModel(CLAUDE, environment=environment)
    return OpenAIModel(GPT, environment=environment)


@pytest.mark.usefixtures("exported")
@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_server_is_sent_nothing_that_only_the_process_knows(provider: str) -> None:
    with playing(say("ok")) as sim:
        ask(made(provider, sim.env()), asking())
        leaked = {name: value for name, value in sent(sim).items() if "mine" in (name + value).lower()}
    assert leaked == {}


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_the_users_own_headers_reach_the_users_own_server(provider: str) -> None:
    name = f"{provider.upper()}_CUSTOM_HEADERS"
    more = {
        name: "X-Team: search\n\nX-Trace : a:b\nnonsense",
        "OPENAI_ORG_ID": "org-1",
        "OPENAI_PROJECT_ID": "proj-1",
    }
    with playing(say("ok")) as sim:
        ask(made(provider, sim.env() | more), asking())
        seen = sent(sim)
    assert (seen["x-team"], seen["x-trace"]) == ("search", "a:b")
    if provider == "openai":
        assert (seen["openai-organization"], seen["openai-project"]) == ("org-1", "proj-1")


@pytest.mark.usefixtures("exported")
def test_a_server_found_on_this_machine_gets_neither_key_nor_headers() -> None:
    with playing(say("ok"), key=None) as sim:
        ask(_local(ServedModel("Ollama", f"{sim.url}/v1", GPT), EXPORTED), asking())
        assert not [value for value in sent(sim).values() if "mine" in value.lower()]


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
@pytest.mark.parametrize("key", ["sk-a\nsecret", "sk-s\u00e9cret"])
def test_a_key_that_no_header_takes_is_refused_without_showing_it(provider: str, key: str) -> None:
    name = f"{provider.upper()}_API_KEY"
    with pytest.raises(ModelNotSetUp, match=name) as caught:
        made(provider, {name: key})
    assert "cret" not in str(caught.value)


def test_a_line_end_after_a_key_is_none_of_it() -> None:
    with playing(say("ok")) as sim:
        ask(made("anthropic", sim.env() | {"ANTHROPIC_API_KEY": f"{sim.key}\n"}), asking())


def test_lines_that_are_not_headers_are_passed_over() -> None:
    assert custom_headers("") == {}
    assert custom_headers("a: b\n: c\nd\ne:") == {"a": "b", "e": ""}
