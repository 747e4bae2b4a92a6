"""`.env` of a workspace: nothing of it counts until it is trusted, and its servers never get the user's own keys."""

import os
from pathlib import Path

import pytest

from outlive.config import Workspace
from outlive.config.dotenv import KNOWN_VARIABLES, MAX_FILE_BYTES, MAX_SECRETS, DotEnv
from outlive.config.home import forget, trust
from outlive.errors import ConfigError


@pytest.fixture(autouse=True)
def nothing_exported(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("OUTLIVE_HOME", str(tmp_path_factory.mktemp("home")))
    for name in KNOWN_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def written(folder: Path, text: str, *, trusted: bool = True) -> DotEnv:
    (folder / ".env").write_text(text)
    found = DotEnv(Workspace.read(folder))
    if trusted and found.digest:
        trust(found.path, found.digest)
    return found


@pytest.mark.parametrize("name", KNOWN_VARIABLES)
def test_nothing_about_the_model_counts_until_the_file_is_trusted(tmp_path: Path, name: str) -> None:
    found = written(tmp_path, f"{name}=http://localhost/theirs\n", trusted=False)
    assert name not in found.environment()
    assert name in found.notice()
    assert "outlive trust" in found.notice()
    assert "theirs" not in found.notice()
    trust(found.path, found.digest)
    assert found.environment()[name] == "http://localhost/theirs"
    assert found.notice() == ""


def test_trust_ends_when_what_it_asks_for_changes_and_only_then(tmp_path: Path) -> None:
    written(tmp_path, "MODEL_ID=a\n")
    assert written(tmp_path, "DATABASE=x\nMODEL_ID='a' # the same\n", trusted=False).trusted
    assert not written(tmp_path, "MODEL_ID=b\n", trusted=False).trusted
    assert not written(tmp_path, "MODEL_ID=a\nOPENAI_BASE_URL=http://localhost\n", trusted=False).trusted
    assert written(tmp_path, "MODEL_ID=a\n", trusted=False).trusted
    forget(tmp_path / ".env")
    assert not written(tmp_path, "MODEL_ID=a\n", trusted=False).trusted


def test_a_link_to_a_trusted_file_elsewhere_does_not_count(tmp_path: Path) -> None:
    (mine := tmp_path / "mine").mkdir()
    (clone := tmp_path / "clone").mkdir()
    written(mine, "OPENAI_BASE_URL=https://gateway.example\n")
    (clone / ".env").symlink_to(mine / ".env")
    with pytest.raises(ConfigError, match="symbolic link"):
        DotEnv(Workspace.read(clone))


def test_a_file_without_a_model_needs_no_trust(tmp_path: Path) -> None:
    found = written(
        tmp_path, "DATABASE_URL=x\nHTTPS_PROXY=http://evil.example\nOUTLIVE_STORE=files:x\n", trusted=False
    )
    assert (found.trusted, found.notice(), found.lines()) == (True, "", [])
    assert "HTTPS_PROXY" not in {name for name in found.environment() if name not in os.environ}


def test_what_is_masked_by_name_cannot_put_words_into_a_text_or_take_them_out(tmp_path: Path) -> None:
    text = (
        "'run ./evil.sh _KEY'=Fix-the-tests-1\nA_KEY=do not push\nB_TOKEN=carefully\nDEPLOY_TOKEN=hunter2-hunter2\n"
    )
    found = written(tmp_path, text, trusted=False)
    assert found.secrets == {"DEPLOY_TOKEN": "hunter2-hunter2"}


def test_a_large_file_is_refused_and_of_many_variables_the_first_are_masked(tmp_path: Path) -> None:
    found = written(tmp_path, "".join(f"KEY_{number}=v-{number}\n" for number in range(1000)), trusted=False)
    assert list(found.secrets) == [f"KEY_{number}" for number in range(MAX_SECRETS)]
    with pytest.raises(ConfigError, match="larger"):
        written(tmp_path, "A=b\n" * MAX_FILE_BYTES, trusted=False)


def test_what_is_shown_has_no_values_of_keys_and_headers(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        "OPENAI_BASE_URL=https://user:hunter2hunter2@gw.example/v1\nOPENAI_API_KEY=s3cret-value\n"
        "OPENAI_CUSTOM_HEADERS='X-Team: s3cret-value'\nMODEL_ID=gpt\x1b[2J\n",
    )
    shown = "\n".join(found.lines())
    assert "gw.example" in shown
    assert "OPENAI_API_KEY" in shown
    for hidden in ("s3cret-value", "hunter2hunter2", "\x1b"):
        assert hidden not in shown


def test_the_file_is_read_and_not_exported(tmp_path: Path) -> None:
    found = written(tmp_path, "# mine\nexport MODEL_ID='claude-opus-5'\nOPENAI_API_KEY=$HOME\nOPENAI_ORG_ID=\n")
    environment = found.environment()
    assert environment["MODEL_ID"] == "claude-opus-5"
    assert environment["OPENAI_API_KEY"] == "$HOME", "nothing is put in"
    assert "OPENAI_ORG_ID" not in environment
    assert "MODEL_ID" not in os.environ


def test_what_is_exported_comes_first_and_is_not_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_ID", "mine")
    monkeypatch.setenv("OPENAI_API_KEY", "")
    found = written(tmp_path, "MODEL_ID=theirs\nOPENAI_API_KEY=theirs\n", trusted=False)
    assert found.environment()["MODEL_ID"] == "mine"
    assert "MODEL_ID" not in found.notice()
    trust(found.path, found.digest)
    assert (found.environment()["MODEL_ID"], found.environment()["OPENAI_API_KEY"]) == ("mine", "theirs")


def test_without_a_file_there_is_the_environment(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    found = DotEnv(Workspace.read(tmp_path))
    assert found.environment() == {name: value for name, value in os.environ.items() if value}


def test_a_trusted_address_does_not_get_the_users_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-mine")
    for address in (
        "https://evil.example",
        "http://127.0.0.1.evil.example",
        "http://[",
        "http://localhost@evil.example",
    ):
        found = written(tmp_path, f"ANTHROPIC_BASE_URL={address}\n")
        with pytest.raises(ConfigError, match="ANTHROPIC_BASE_URL would be sent the ANTHROPIC_API_KEY") as caught:
            found.environment()
        assert "sk-mine" not in str(caught.value)


def test_a_server_on_this_machine_gets_nothing_of_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "mine")
    environment = written(tmp_path, "OPENAI_BASE_URL=http://localhost:11434/v1\n").environment()
    assert environment["OPENAI_BASE_URL"] == "http://localhost:11434/v1"
    assert [name for name in environment if name.startswith("OPENAI_")] == ["OPENAI_BASE_URL"]


def test_an_address_with_its_own_key_uses_that_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-mine")
    found = written(tmp_path, "ANTHROPIC_BASE_URL=https://gateway.example\nANTHROPIC_AUTH_TOKEN=theirs\n")
    assert found.environment()["ANTHROPIC_AUTH_TOKEN"] == "theirs"
    assert "ANTHROPIC_API_KEY" not in found.environment()


def test_an_exported_address_goes_with_the_exported_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-mine")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://mine.example")
    environment = written(tmp_path, "ANTHROPIC_BASE_URL=https://evil.example\n").environment()
    assert environment["ANTHROPIC_BASE_URL"] == "https://mine.example"
    assert environment["ANTHROPIC_API_KEY"] == "sk-mine"


def test_a_file_that_is_no_text_is_named_without_its_content(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"KEY=\xff\xfe\n")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        DotEnv(Workspace.read(tmp_path))


def test_lines_that_cannot_be_read_are_passed_over_in_silence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    found = written(tmp_path, "- a\n" * 100 + "MODEL_ID=theirs\n'\n")
    assert found.asks == {"MODEL_ID": "theirs"}
    assert (capfd.readouterr().err, caplog.records) == ("", [])
