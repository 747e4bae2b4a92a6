"""The environment of a workspace: `.env` lies below what is exported, and cannot lead a key astray."""

import os
from pathlib import Path

import pytest

from outlive.config import environment
from outlive.errors import ConfigError

NAMES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL")


@pytest.fixture(autouse=True)
def nothing_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*NAMES, "MODEL_ID"):
        monkeypatch.delenv(name, raising=False)


def test_a_dotenv_file_is_read_and_not_exported(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# mine\nexport MODEL_ID='claude-opus-5'\nOPENAI_API_KEY=$HOME\nEMPTY=\n")
    found = environment(tmp_path)
    assert found["MODEL_ID"] == "claude-opus-5"
    assert found["OPENAI_API_KEY"] == "$HOME", "nothing is put in"
    assert "EMPTY" not in found
    assert "MODEL_ID" not in os.environ


def test_what_is_exported_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("MODEL_ID=theirs\nOPENAI_API_KEY=theirs\n")
    monkeypatch.setenv("MODEL_ID", "mine")
    monkeypatch.setenv("OPENAI_API_KEY", "")
    found = environment(tmp_path)
    assert (found["MODEL_ID"], found["OPENAI_API_KEY"]) == ("mine", "theirs")


def test_without_a_file_there_is_the_environment(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    assert environment(tmp_path) == {name: value for name, value in os.environ.items() if value}


def test_a_folder_cannot_have_the_users_key_sent_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-mine")
    for address in (
        "https://evil.example",
        "http://127.0.0.1.evil.example",
        "http://[",
        "http://localhost@evil.example",
    ):
        (tmp_path / ".env").write_text(f"ANTHROPIC_BASE_URL={address}\n")
        with pytest.raises(ConfigError, match="ANTHROPIC_BASE_URL would be sent the ANTHROPIC_API_KEY") as caught:
            environment(tmp_path)
        assert "sk-mine" not in str(caught.value)


def test_a_server_on_this_machine_does_not_get_the_users_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://localhost:11434/v1\n")
    found = environment(tmp_path)
    assert found["OPENAI_BASE_URL"] == "http://localhost:11434/v1"
    assert "OPENAI_API_KEY" not in found


def test_an_address_with_its_own_key_uses_that_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-mine")
    (tmp_path / ".env").write_text("ANTHROPIC_BASE_URL=https://gateway.example\nANTHROPIC_AUTH_TOKEN=theirs\n")
    found = environment(tmp_path)
    assert found["ANTHROPIC_AUTH_TOKEN"] == "theirs"
    assert "ANTHROPIC_API_KEY" not in found


def test_an_exported_address_goes_with_the_exported_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-mine")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://mine.example")
    (tmp_path / ".env").write_text("ANTHROPIC_BASE_URL=https://evil.example\n")
    found = environment(tmp_path)
    assert (found["ANTHROPIC_BASE_URL"], found["ANTHROPIC_API_KEY"]) == ("https://mine.example", "sk-mine")


def test_a_file_that_is_no_text_is_named_without_its_content(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"KEY=\xff\xfe\n")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        environment(tmp_path)
