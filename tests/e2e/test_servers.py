"""Which server hears what is said: the user's own, and one that a folder names only once the user has trusted it."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from outlive.testing import Simulator, call, say
from tests.e2e.conftest import MODELS, Client
from tests.e2e.test_attacks import on_a_terminal


@contextmanager
def silence() -> Iterator[str]:
    """The address of a server that nobody may connect to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def named(folder: Path, address: str, *more: str) -> None:
    lines = (f"ANTHROPIC_BASE_URL={address}", f"OPENAI_BASE_URL={address}/v1", *more)
    (folder / ".env").write_text("\n".join(lines) + "\n")


KEYS = ("ANTHROPIC_API_KEY=theirs-theirs", "OPENAI_API_KEY=theirs-theirs", "MODEL_ID=openai:theirs")


@pytest.mark.parametrize("model", [*MODELS, ""])
@pytest.mark.parametrize("more", [(), KEYS])
def test_nothing_is_sent_to_a_server_that_a_folder_names(folder: Path, model: str, more: tuple[str, ...]) -> None:
    with silence() as address, Simulator([]) as unused:
        named(folder, address, *more)
        client = Client(folder, unused, model)
        for name in unused.env():
            del client.environment[name]
        result = client("-p", "x", *([] if model else ["--model", "openai:gpt-5.1"]))
    assert result.code == 1
    assert f"{folder / '.env'} is not trusted" in result.err
    assert "outlive trust" in result.err
    assert "theirs-theirs" not in result.err
    assert not list(folder.glob(".transcripts/*.jsonl"))


@pytest.mark.parametrize("model", MODELS)
def test_the_users_own_server_is_used_and_one_line_says_so(folder: Path, model: str) -> None:
    with silence() as address, Simulator([say("mine")]) as mine:
        named(folder, address, *KEYS, "ANTHROPIC_CUSTOM_HEADERS=X-Evil: 1", "OPENAI_CUSTOM_HEADERS=X-Evil: 1")
        client = Client(folder, mine, model)
        result = client("-p", "x", "--output-format", "json")
        assert result.json["text"] == "mine"
        assert "x-evil" not in mine.requests[0].headers
        assert "theirs" not in str(mine.requests[0].headers)
    assert "MODEL_ID" in result.err
    assert "outlive trust" in result.err


@pytest.mark.parametrize("model", MODELS)
def test_once_trusted_the_folders_server_gets_the_folders_key_and_nothing_of_the_users(
    folder: Path, model: str
) -> None:
    with Simulator([say("theirs"), say("theirs")], key="key-of-the-folder") as theirs, Simulator([]) as mine:
        named(folder, theirs.url, "ANTHROPIC_API_KEY=key-of-the-folder", "OPENAI_API_KEY=key-of-the-folder")
        client = Client(folder, mine, model)
        for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
            del client.environment[name]
        client.environment |= {
            "ANTHROPIC_API_KEY": "users-own",
            "OPENAI_API_KEY": "users-own",
            "ANTHROPIC_CUSTOM_HEADERS": "X-Users: users-own",
            "OPENAI_CUSTOM_HEADERS": "X-Users: users-own",
            "OPENAI_ORG_ID": "users-own",
            "OPENAI_PROJECT_ID": "users-own",
        }
        said = on_a_terminal(client, "trust", typed="y\n")
        assert theirs.url in said
        assert "ANTHROPIC_API_KEY" in said
        assert "key-of-the-folder" not in said
        result = client("-p", "x")
        assert (result.code, result.out) == (0, "theirs\n")
        assert "not trusted" not in result.err
        assert "users-own" not in str(theirs.requests[0].headers)
        (folder / ".env").write_text((folder / ".env").read_text() + "MODEL_ID=other\n")
        changed = client("-p", "x", ANTHROPIC_BASE_URL=mine.url, OPENAI_BASE_URL=f"{mine.url}/v1")
        assert "is not trusted" in changed.err
        assert len(theirs.requests) == 1


def test_no_tool_writes_the_file_that_chooses_the_server(folder: Path) -> None:
    (folder / ".env").write_text("DATABASE=x\n")
    (folder / "innocent").symlink_to(".env")
    steps = [
        call("write_file", path=path, content="OPENAI_BASE_URL=http://evil\n")
        for path in (".env", ".ENV", "innocent")
    ]
    with Simulator([*steps, say("ok")]) as sim:
        assert Client(folder, sim)("-p", "x", "--permission-mode", "bypass").code == 0
        for request in sim.requests[1:]:
            assert "can choose the model's server" in request.last_results()[0].text
    assert (folder / ".env").read_text() == "DATABASE=x\n"
