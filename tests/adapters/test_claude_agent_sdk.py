"""OutliveSessionStore: the SDK's own conformance suite, its own helpers, and a transcript that Claude Code wrote."""

import asyncio
import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    fork_session_via_store,
    get_session_messages_from_store,
    import_session_to_store,
    list_sessions_from_store,
    project_key_for_directory,
)
from claude_agent_sdk.testing import run_session_store_conformance

from outlive.adapters.claude_agent_sdk import OutliveSessionStore
from tests.cli.command import Outlive

ID = "15f7e25e-e139-4a24-9a6f-3a77f42cc19e"


def entry(number: int, **fields: Any) -> dict[str, Any]:
    """A line of a transcript in Claude Code's own form."""
    about = {"sessionId": ID, "version": "2.1.325", "isSidechain": False, "userType": "external", "gitBranch": "HEAD"}
    times = {"timestamp": f"2026-11-18T13:37:{number:02}.000Z"}
    parent = f"u{number - 1}" if number > 1 else None
    return {"uuid": f"u{number}", "parentUuid": parent, **about, **times, **fields}


def said(role: str, *content: Any) -> dict[str, Any]:
    more = {"id": "msg_1", "model": "claude-sonnet-5-5"} if role == "assistant" else {}
    return {"type": role, "message": {"role": role, "content": list(content), **more}}


THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "EqQB" + "aB3/x+" * 40}
TRANSCRIPT: list[Any] = [
    {"type": "compaction", "mode": "normal", "sessionId": ID},
    entry(1, **said("user", {"type": "text", "text": "Say hello. Never delete a file."})),
    entry(2, **said("assistant", THOUGHT)),
    entry(3, **said("assistant", {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "echo hi"}})),
    entry(4, **said("user", {"type": "tool_result", "tool_use_id": "t1", "content": "hi from bash"})),
    entry(5, **said("assistant", {"type": "text", "text": "Done."})),
]


@pytest.mark.parametrize("kind", ["files:{}/.tasks", "sqlite:///{}/store.db"])
def test_it_passes_the_conformance_suite_of_the_sdk(tmp_path: Path, kind: str) -> None:
    numbers = count()

    def fresh() -> OutliveSessionStore:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        return OutliveSessionStore(kind.format(folder))

    asyncio.run(run_session_store_conformance(fresh))
    assert next(numbers) > 10


def test_a_transcript_comes_back_and_can_be_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "claude" / "projects" / project_key_for_directory(str(tmp_path))
    (home / ID / "subagents").mkdir(parents=True)
    (home / f"{ID}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in TRANSCRIPT))
    agent = [{**line, "isSidechain": True, "agentId": "a1"} for line in TRANSCRIPT[1:]]
    (home / ID / "subagents" / "agent-a1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in agent))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))

    async def main() -> None:
        await import_session_to_store(ID, OutliveSessionStore(), directory=str(tmp_path))
        await import_session_to_store(ID, OutliveSessionStore(), directory=str(tmp_path))  # nothing comes twice
        store = OutliveSessionStore()
        key: Any = {"project_key": project_key_for_directory(str(tmp_path)), "session_id": ID}
        loaded = await store.load(key)
        assert loaded is not None
        assert [line for line in loaded if "uuid" in line] == TRANSCRIPT[1:]
        assert await store.list_subkeys(key) == ["subagents/agent-a1"]
        (info,) = await list_sessions_from_store(store, directory=str(tmp_path))
        assert (info.session_id, info.summary) == (ID, "Say hello. Never delete a file.")
        messages = await get_session_messages_from_store(store, ID, directory=str(tmp_path))
        assert [message.type for message in messages] == ["user", "assistant", "assistant", "user", "assistant"]
        fork = await fork_session_via_store(store, ID, directory=str(tmp_path))
        assert len(await list_sessions_from_store(store, directory=str(tmp_path))) == 2
        assert fork.session_id != ID

    asyncio.run(main())
    outlive = Outlive(tmp_path)
    names = [info["id"] for info in outlive("session", "list", "--json").json]
    main_id = next(name for name in names if name.startswith(ID) and ".sub-" not in name)
    (hit,) = outlive("recall", "--search", "hi from bash", "--session", main_id, "--json").json
    assert "hi from bash" in outlive("recall", hit["handle"], "--session", main_id).out
    state = outlive("session", "show", main_id, "--json").json["state"]
    assert "Never delete a file." in json.dumps(state["directives"])
    sub = next(name for name in names if ".sub-" in name)
    assert outlive("recall", "--search", "hi from bash", "--session", sub).code == 0


def test_a_secret_does_not_reach_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    secret = "sk-ant-api03-" + "aB3" * 31
    line: Any = entry(1, **said("user", {"type": "text", "text": f"My key is {secret}."}))
    key: Any = {"project_key": "p", "session_id": "s"}
    asyncio.run(OutliveSessionStore().append(key, [line]))
    (log,) = (tmp_path / ".transcripts").glob("*.jsonl")
    assert secret not in log.read_text()
    assert "My key is" in str(asyncio.run(OutliveSessionStore().load(key)))
