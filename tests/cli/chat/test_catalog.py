"""The models that can be chosen: only those that a key, an address or a local server leads to."""

import pytest

from outlive.cli.chat.picker.catalog import catalog
from outlive.models import resolve
from outlive.models.local_servers import ServedModel

OFF = {"OUTLIVE_LOCAL_MODELS": "off"}


def test_only_providers_with_a_key_are_listed() -> None:
    assert catalog(OFF) == []
    claude = catalog({**OFF, "ANTHROPIC_API_KEY": "x"})
    assert claude
    assert all(entry.spec.startswith("anthropic:") and entry.price and entry.window for entry in claude)
    both = catalog({**OFF, "ANTHROPIC_API_KEY": "x", "OPENAI_API_KEY": "y"})
    assert {entry.where for entry in both} == {"Anthropic", "OpenAI"}


def test_models_of_the_settings_come_first_and_once() -> None:
    found = catalog({**OFF, "ANTHROPIC_API_KEY": "x"}, ["anthropic:claude-opus-5", "openai:my-own"])
    assert [entry.spec for entry in found[:2]] == ["anthropic:claude-opus-5", "openai:my-own"]
    assert found[0].price is not None
    assert [entry.spec for entry in found].count("anthropic:claude-opus-5") == 1


def test_local_models_are_listed_where_their_name_leads_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    served = ServedModel("Ollama", "http://127.0.0.1:11434/v1", "qwen", 32_000)
    monkeypatch.setattr(resolve, "nearby", lambda environment: [served])
    (entry,) = catalog({})
    assert (entry.spec, entry.where, entry.window) == ("openai:qwen", "Ollama", 32_000)
    assert "openai:qwen" not in [entry.spec for entry in catalog({"OPENAI_API_KEY": "x"})]
