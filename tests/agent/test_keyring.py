"""Keys from the system's keyring: a backend of the package that works without a desktop holds them."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import keyring
import keyring.errors
import pytest
from keyring.backend import KeyringBackend

from outlive.agent.factory import AgentFactory
from outlive.cli import doctor
from outlive.config import Workspace
from outlive.config.keyring_keys import keys_from_keyring
from outlive.models.errors import ModelNotSetUp
from tests.engines import worker_environment

KEY = "sk-ant-api03-" + "Zz9y" * 20


class InMemory(KeyringBackend):
    priority = 1.0

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise keyring.errors.KeyringLocked("locked")
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture
def ring() -> Iterator[InMemory]:
    before, mine = keyring.get_keyring(), InMemory()
    keyring.set_keyring(mine)
    keyring.set_password("outlive", "ANTHROPIC_API_KEY", KEY)
    yield mine
    keyring.set_keyring(before)


def chosen(folder: Path) -> tuple[str, tuple[str, ...], str]:
    """The model, the keys from the keyring, and the key as the session would log it."""
    with closing(AgentFactory(Workspace.find(folder))) as factory:
        model = factory.resolve_model()
        asyncio.run(model.close())
        return model.name, factory.keyring, factory.masker(f"key {KEY[13:40]} {KEY}")


def test_a_key_of_the_keyring_is_used_where_the_environment_has_none(tmp_path: Path, ring: InMemory) -> None:
    name, keys, said = chosen(tmp_path)
    assert name.startswith("anthropic:")
    assert keys == ("ANTHROPIC_API_KEY",)
    assert KEY not in said


def test_the_environment_comes_first(tmp_path: Path, ring: InMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "o")
    name, keys, _ = chosen(tmp_path)
    assert (name.partition(":")[0], keys) == ("openai", ())


def test_a_locked_or_empty_keyring_is_none(tmp_path: Path, ring: InMemory) -> None:
    ring.locked = True
    with pytest.raises(ModelNotSetUp, match="no model is set up"):
        chosen(tmp_path)
    ring.locked = False
    ring.kept.clear()
    with pytest.raises(ModelNotSetUp, match="no model is set up"):
        chosen(tmp_path)


def test_an_address_of_a_file_gets_no_key_of_the_keyring(ring: InMemory) -> None:
    there = {"ANTHROPIC_BASE_URL": "https://example.com"}
    assert keys_from_keyring(there, exported={}) == {}
    assert keys_from_keyring(there, exported=there) == {"ANTHROPIC_API_KEY": KEY}


def test_doctor_says_where_the_key_comes_from(
    tmp_path: Path, ring: InMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def key() -> list[str]:
        found = doctor._model(Workspace.find(tmp_path), offline=True)
        return [finding.says for finding in found if finding.check == "key"]

    assert key() == ["ANTHROPIC_API_KEY from the system's keyring"]
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert key() == ["ANTHROPIC_API_KEY from the environment"]


def test_without_the_package_there_is_no_keyring() -> None:
    program = "import sys; sys.modules['keyring'] = None\n" + (
        "from outlive.config.keyring_keys import keys_from_keyring\nassert keys_from_keyring({}, {}) == {}"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env=worker_environment())
