"""Several sessions in one folder: a bare handle means one of the session that asks, and is never guessed."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from outlive.agent import Session
from outlive.clients import KEEP_RESULT
from outlive.mcp.backend import CLAUDE_SESSION
from outlive.stores.logs.files import FileLogStore
from outlive.stores.logs.names import followed_id
from tests.mcp.connection import Connection, over_stdio
from tests.talk import step

MINE, OTHER = (followed_id("claude-code", id) for id in ("1111-mine", "2222-other"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.fixture
def mcp(folder: Path) -> Iterator[Connection]:
    with over_stdio(folder) as connection:
        yield connection


def say(folder: Path, session: str, words: str, at: float | None = None) -> None:
    now = time.time() + 1 if at is None else at
    with Session.start(FileLogStore(folder, durability="process"), id=session, clock=lambda: now) as opened:
        opened.user_said(words)


def test_a_handle_that_several_sessions_at_work_have_is_not_guessed(mcp: Connection, folder: Path) -> None:
    mcp("tasks", action="list")
    say(folder, MINE, "Look at my bays.")
    say(folder, OTHER, "Look at the other bays.")
    refused = mcp.refused("recall", handle="@h1")
    assert "2 sessions" in refused
    assert f"{MINE}@h1" in refused
    assert f"{OTHER}@h1" in refused
    assert "Look at my bays." in mcp("recall", handle=f"{MINE}@h1")
    assert "Look at my bays." in mcp("recall", handle="claude-code.session-1111@h1")
    assert "Look at the other bays." in mcp("recall", handle="@h1", session=OTHER)


def test_a_handle_that_only_one_of_them_has_is_found(mcp: Connection, folder: Path) -> None:
    mcp("tasks", action="list")
    say(folder, MINE, "Look at my bays.")
    with Session.resume(FileLogStore(folder, durability="process"), MINE) as session:
        step(session, 1)
    say(folder, OTHER, "Look at the other bays.", at=time.time() + 9)
    assert f"[session {MINE}" in mcp("recall", handle="@h2")


def test_sessions_of_before_do_not_count(folder: Path) -> None:
    say(folder, OTHER, "Look at the other bays.", at=1_000.0)
    with over_stdio(folder) as mcp:
        mcp("tasks", action="list")
        say(folder, MINE, "Look at my bays.")
        assert "Look at my bays." in mcp("recall", handle="@h1")


def test_the_session_that_claude_code_names_is_preferred(folder: Path) -> None:
    transcript = str(folder / "projects" / "one.jsonl")
    with over_stdio(folder, environment={CLAUDE_SESSION: "1111-mine", "CLAUDE_CONFIG_DIR": str(folder)}) as mcp:
        mcp("tasks", action="list")
        say(folder, MINE, "Look at my bays.")
        say(folder, OTHER, "Look at the other bays.", at=time.time() + 9)
        assert "Look at my bays." in mcp("recall", handle="@h1")
        assert f"[session {MINE}" in mcp("state")
        assert "Look at my bays." in mcp.resource("outlive://h/1")
        mcp(
            KEEP_RESULT, session_id="2222-other", transcript_path=transcript
        )  # the user resumed another session in the same process
        assert "Look at the other bays." in mcp("recall", handle="@h1")
        mcp(KEEP_RESULT, session_id="3333-new", transcript_path=transcript)
        assert "2 sessions" in mcp.refused("recall", handle="@h1"), "nothing was said there yet"
