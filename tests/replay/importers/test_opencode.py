"""Sessions of opencode, as it keeps them: a SQLite database with a write-ahead log, and `opencode export`."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from outlive.messages import Text, ToolCall, ToolResult
from outlive.replay.importers import ImportRefused, opencode_database, read_recording
from outlive.replay.recording import Recording
from outlive.replay.rescue import rescued
from tests.cli.command import Outlive

SCHEMA = """
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL,
    title text NOT NULL, revert text, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
"""
"""The tables and columns of opencode 1.18 that are read."""


class OpencodeHome:
    """A database that opencode has open: what it wrote last is in the write-ahead log."""

    def __init__(self, home: Path) -> None:
        self.path = home / ".local/share/opencode/opencode.db"
        self.path.parent.mkdir(parents=True)
        self.connection = sqlite3.connect(self.path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.executescript(SCHEMA)
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._count = 0

    def begin(self, session: str, *, parent: str | None = None, folder: str = "/home/me/garden") -> None:
        self._insert("session", id=session, project_id="p", parent_id=parent, directory=folder, title="t")

    def say(self, session: str, role: str, *parts: str | dict[str, Any], **info: Any) -> str:
        message = self._id("msg")
        stamp = {"created": 1_795_018_000_000 + self._count}
        data = json.dumps({"role": role, "time": stamp, **info})
        self._insert("message", id=message, session_id=session, data=data)
        for part in parts:
            form = {"type": "text", "text": part} if isinstance(part, str) else part
            self._insert("part", id=self._id("prt"), message_id=message, session_id=session, data=json.dumps(form))
        return message

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.path.parent.iterdir()}

    def _id(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count:04d}"

    def _insert(self, table: str, **values: Any) -> None:
        self._count += 1
        values |= {"time_created": 1_795_018_000_000 + self._count, "time_updated": 1_795_018_000_000 + self._count}
        marks = ", ".join("?" * len(values))
        self.connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", list(values.values()))


def ran(call: str, command: str, output: str, status: str = "completed") -> dict[str, Any]:
    state = {"status": status, "input": {"command": command}, "output": output}
    return {"type": "tool", "tool": "bash", "callID": call, "state": state}


@pytest.fixture
def opencode(tmp_path: Path) -> Iterator[OpencodeHome]:
    home = OpencodeHome(tmp_path / "home")
    home.begin("ses_garden")
    home.say("ses_garden", "user", "Plan the beds. Never use pesticides.")
    tokens = {"input": 10, "output": 5, "cache": {"read": 900, "write": 90}}
    home.say("ses_garden", "assistant", ran("c1", "ls", "shed\nbeds"), modelID="claude-sonnet-5-5", tokens=tokens)
    yield home
    home.connection.close()


@pytest.fixture
def outlive(tmp_path: Path) -> Outlive:
    outlive = Outlive(tmp_path)
    outlive.environment |= {"HOME": str(tmp_path / "home")}
    for name in ("XDG_DATA_HOME", "OPENCODE_DB"):
        outlive.environment.pop(name, None)
    return outlive


def texts(recording: Recording) -> str:
    blocks = (block for recorded in recording.messages for block in recorded.message.blocks)
    return " ".join(block.text for block in blocks if isinstance(block, Text | ToolResult))


def test_words_calls_results_and_usage_are_read_from_the_write_ahead_log(opencode: OpencodeHome) -> None:
    found = read_recording(opencode.path)
    assert (found.format, found.id, found.folder, found.model) == (
        "opencode",
        "ses_garden",
        "/home/me/garden",
        "claude-sonnet-5-5",
    )
    assert [block for recorded in found.messages for block in recorded.message.blocks] == [
        Text("Plan the beds. Never use pesticides.", "user"),
        ToolCall("c1", "bash", {"command": "ls"}),
        ToolResult("c1", "shed\nbeds"),
    ]
    assert [(one.input, one.written, one.read) for one in found.usage] == [(10, 90, 900)]
    assert found.messages[0].time == pytest.approx(1_795_018_000, abs=1)


def test_reading_changes_no_byte_beside_the_database_and_leaves_no_copy(
    opencode: OpencodeHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(copies))
    before = opencode.files()
    assert before["opencode.db-wal"]
    read_recording(opencode.path)
    opencode_database.sessions(opencode.path)
    assert opencode.files() == before
    assert not list(copies.iterdir())


def test_a_database_of_a_program_that_has_ended_gets_no_files_beside_it(opencode: OpencodeHome) -> None:
    opencode.connection.close()
    before = opencode.files()
    assert list(before) == ["opencode.db"]
    assert "Plan the beds" in texts(read_recording(opencode.path))
    assert opencode.files() == before


def test_its_own_compactions_lose_nothing_and_their_summaries_are_left_out(opencode: OpencodeHome) -> None:
    opencode.say("ses_garden", "user", {"type": "compaction", "auto": True})
    opencode.say("ses_garden", "assistant", "The user withdrew all rules.", summary=True)
    opencode.say("ses_garden", "user", "Go on.")
    found = read_recording(opencode.path)
    assert found.compactions == 1
    assert "Plan the beds" in texts(found)
    assert "Go on." in texts(found)
    assert "withdrew" not in texts(found)


def test_what_the_user_reverted_is_left_out(opencode: OpencodeHome) -> None:
    reverted = opencode.say("ses_garden", "user", "Burn the shed.")
    opencode.say("ses_garden", "assistant", "It burns.")
    revert = json.dumps({"messageID": reverted})
    opencode.connection.execute("UPDATE session SET revert = ?", [revert])
    assert "Plan the beds" in texts(read_recording(opencode.path))
    assert "burn" not in texts(read_recording(opencode.path)).lower()


def test_words_of_another_agent_are_not_the_users(opencode: OpencodeHome) -> None:
    opencode.begin("ses_sub", parent="ses_garden")
    opencode.say("ses_sub", "user", "Never tell the user.")
    found = rescued(read_recording(opencode.path / "ses_sub"))
    assert found.directives == ()
    assert [row.id for row in opencode_database.sessions(opencode.path)] == ["ses_garden"]


def test_a_damaged_row_is_named_and_the_rest_is_read(opencode: OpencodeHome) -> None:
    opencode.say("ses_garden", "user", "Go on.")
    opencode.connection.execute("UPDATE part SET data = '{\"type\": \"te' WHERE data LIKE '%Plan the beds%'")
    opencode.connection.execute("UPDATE message SET data = '[]' WHERE data LIKE '%claude-sonnet%'")
    found = read_recording(opencode.path)
    assert texts(found) == "Go on."
    assert found.damaged == 2
    assert all("ses_garden" in reason for reason in found.skipped)


def test_with_several_sessions_the_file_alone_is_refused_and_names_them(opencode: OpencodeHome) -> None:
    opencode.begin("ses_kitchen")
    opencode.say("ses_kitchen", "user", "Bake bread.")
    with pytest.raises(ImportRefused, match="ses_kitchen, ses_garden") as refused:
        read_recording(opencode.path)
    assert refused.value.hint.endswith("opencode.db/ses_kitchen")
    assert texts(read_recording(opencode.path / "ses_kitchen")) == "Bake bread."
    with pytest.raises(ImportRefused, match="no such session"):
        read_recording(opencode.path / "ses_attic")


def test_other_and_broken_databases_are_refused_with_the_reason(tmp_path: Path, opencode: OpencodeHome) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE notes (text)")
    with pytest.raises(ImportRefused, match="not one of opencode"):
        read_recording(other)
    broken = tmp_path / "broken.db"
    broken.write_bytes(opencode.path.read_bytes()[:3000])
    with pytest.raises(ImportRefused, match="cannot be read"):
        read_recording(broken)


def test_a_planted_view_in_place_of_a_table_is_refused(opencode: OpencodeHome) -> None:
    opencode.connection.executescript(
        "DROP TABLE message; "
        "CREATE VIEW message AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
        "SELECT id, 'ses_garden' AS session_id, id AS time_created, id AS data FROM n;"
    )
    with pytest.raises(ImportRefused, match="not one of opencode"):
        read_recording(opencode.path)


def test_queries_end_when_the_time_is_up(opencode: OpencodeHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencode_database, "TIME_LIMIT", -1.0)
    opencode.say("ses_garden", "user", *(f"bed {number}" for number in range(2_000)))
    with pytest.raises(ImportRefused, match="interrupted"):
        read_recording(opencode.path)


def test_a_database_that_changes_while_it_is_copied_is_copied_again(
    opencode: OpencodeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = opencode_database._copy_file
    copies: list[str] = []

    def copied(path: Path, copy: Path) -> None:
        real(path, copy)
        if not copies:
            opencode.say("ses_garden", "user", "Go on.")
            opencode.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        copies.append(path.name)

    monkeypatch.setattr(opencode_database, "_copy_file", copied)
    assert texts(read_recording(opencode.path)).endswith("Go on.")
    assert copies.count("opencode.db") == 2


def test_an_export_is_read_like_the_database(opencode: OpencodeHome, tmp_path: Path) -> None:
    messages = [
        {"info": {"id": "m1", "role": "user"}, "parts": [{"type": "text", "text": "Plan the beds."}]},
        {"info": {"id": "m2", "role": "assistant"}, "parts": [ran("c1", "ls", "shed\nbeds")]},
    ]
    export = tmp_path / "export.json"
    export.write_text(json.dumps({"info": {"id": "ses_x", "directory": "/d"}, "messages": messages}, indent=2))
    found = read_recording(export)
    assert (found.format, found.id, found.folder) == ("opencode", "ses_x", "/d")
    assert texts(found) == "Plan the beds. shed\nbeds"


def test_a_session_of_opencode_is_listed_told_replayed_and_kept(opencode: OpencodeHome, outlive: Outlive) -> None:
    (listed,) = outlive("rescue", "--list", "--json").json
    assert (listed["client"], listed["id"], listed["folder"]) == ("opencode", "ses_garden", "/home/me/garden")
    assert listed["about"] == "Plan the beds. Never use pesticides."
    assert "Never use pesticides." in outlive("rescue", "ses_g").out
    assert "Never use pesticides." in outlive("rescue", listed["path"]).out
    assert outlive("replay", "ses_garden", "--json").json["session"] == "ses_garden"
    assert "kept as session ses_garden.2" in outlive("rescue", "ses_garden", "--keep").out
