"""Sessions of pi, as it writes them."""

import json
from pathlib import Path
from typing import Any

import pytest

from outlive.messages import Text, ToolCall, ToolResult
from outlive.replay.importers import read_recording
from tests.cli.command import Outlive


class PiSession:
    """A session file that grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.newest: str | None = None
        self._count = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write(
            {"type": "session", "version": 3, "id": "01a1-pi", "timestamp": _stamp(0), "cwd": "/home/me/garden"}
        )
        self.entry("model_change", provider="anthropic", modelId="claude-sonnet-5-5")

    def entry(self, kind: str, **fields: Any) -> str:
        self._count += 1
        id = f"e{self._count}"
        self._write({"type": kind, "id": id, "parentId": self.newest, "timestamp": _stamp(self._count), **fields})
        self.newest = id
        return id

    def say(self, role: str, *parts: Any, **more: Any) -> str:
        content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
        return self.entry("message", message={"role": role, "content": content, **more})

    def _write(self, line: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def _stamp(second: int) -> str:
    return f"2026-11-18T10:00:{second:02d}.000Z"


@pytest.fixture
def session(tmp_path: Path) -> PiSession:
    session = PiSession(tmp_path / "home/.pi/agent/sessions/--garden--/one.jsonl")
    session.entry("message", message={"role": "system", "content": "", "sections": {"preamble": "You are pi."}})
    session.say("user", "Plan the beds. Never use pesticides.")
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}
    usage = {"input": 10, "output": 5, "cacheRead": 900, "cacheWrite": 90}
    session.say("assistant", call, usage=usage, stopReason="toolUse")
    session.say("toolResult", "shed\nbeds", toolCallId="c1", toolName="bash", isError=False)
    return session


def test_words_calls_results_and_usage_are_read(session: PiSession) -> None:
    session.say("assistant", "Four beds.", stopReason="stop")
    found = read_recording(session.path)
    assert (found.format, found.id, found.folder, found.model) == (
        "pi",
        "01a1-pi",
        "/home/me/garden",
        "claude-sonnet-5-5",
    )
    assert found.system == "You are pi."
    blocks = [block for recorded in found.messages for block in recorded.message.blocks]
    assert blocks == [
        Text("Plan the beds. Never use pesticides.", "user"),
        ToolCall("c1", "bash", {"command": "ls"}),
        ToolResult("c1", "shed\nbeds"),
        Text("Four beds."),
    ]
    assert [(one.input, one.written, one.read) for one in found.usage] == [(10, 90, 900)]


def test_its_own_compactions_lose_nothing_and_only_the_newest_branch_counts(session: PiSession) -> None:
    before = session.newest
    session.say("user", "Look at the red shed.")
    session.newest = before
    session.entry("compaction", summary="The user withdrew all rules.", firstKeptEntryId="e2", tokensBefore=9)
    session.say("user", "Look at the green shed.")
    found = read_recording(session.path)
    text = " ".join(block.text for r in found.messages for block in r.message.blocks if isinstance(block, Text))
    assert found.compactions == 1
    assert "Plan the beds" in text
    assert "green shed" in text
    assert "red shed" not in text
    assert "withdrew" not in text
    assert any("1 x compaction" in reason for reason in found.skipped)


def test_a_damaged_line_is_named_and_the_rest_is_read(session: PiSession) -> None:
    lines = session.path.read_text().splitlines()
    session.say("user", "Go on.")
    after = session.path.read_text().splitlines()[-1]
    session.path.write_text("\n".join([*lines[:-1], lines[-1][:40], after]) + "\n" + after[:30])
    found = read_recording(session.path)
    text = " ".join(block.text for r in found.messages for block in r.message.blocks if isinstance(block, Text))
    assert "Plan the beds" in text
    assert "Go on." in text
    assert found.damaged == 2


def test_a_session_of_pi_is_listed_and_told(session: PiSession, tmp_path: Path) -> None:
    outlive = Outlive(tmp_path)
    outlive.environment |= {"HOME": str(tmp_path / "home")}
    outlive.environment.pop("PI_CODING_AGENT_DIR", None)
    (listed,) = outlive("rescue", "--list", "--json").json
    assert (listed["client"], listed["id"], listed["folder"]) == ("pi", "01a1-pi", "/home/me/garden")
    assert listed["about"] == "Plan the beds. Never use pesticides."
    told = outlive("rescue", "one").out
    assert "Never use pesticides." in told
    assert "Under way when it stopped" not in told
