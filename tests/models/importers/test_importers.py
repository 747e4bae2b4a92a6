"""Recorded sessions of other programs, read as they lie on disk."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from outlive.events import encode
from outlive.messages import Image, Text, Thinking, ToolCall, ToolResult
from outlive.models.importers import ImportRefused, Recording, read_recording
from outlive.session import Session
from outlive.stores.files.log import FileLogStore
from tests.talk import Ticks, talk

DATA = Path(__file__).parent / "data"


def roles(recording: Recording) -> str:
    return "".join(recorded.message.role[0] for recorded in recording.messages)


def blocks(recording: Recording, number: int) -> tuple[Any, ...]:
    return recording.messages[number].message.blocks


# -- trajectories


def test_a_trajectory_is_taken_one_to_one() -> None:
    recording = read_recording(DATA / "trajectory.jsonl")
    assert (recording.id, recording.format, recording.system) == ("garden/plan 1", "trajectory", "Be brief.")
    assert roles(recording) == "uaua"
    assert recording.turns == [1, 3]
    assert recording.compactions == 1
    assert blocks(recording, 0) == (Text("Which bed is free? Always name the file."),)
    assert blocks(recording, 1) == (Text("I look."), ToolCall("t1", "Read", {"file_path": "beds.md"}))
    assert blocks(recording, 2) == (ToolResult("t1", "1\tnorth: beans\n2\tsouth: empty"), Text("Be quick."))
    times = [recorded.time - recording.messages[0].time for recorded in recording.messages]
    assert times == pytest.approx([0, 4, 10.123456, 540])


def test_gzip_is_read_whatever_the_name(tmp_path: Path) -> None:
    path = tmp_path / "any.name"
    path.write_bytes(gzip.compress((DATA / "trajectory.jsonl").read_bytes()))
    assert read_recording(path) == read_recording(DATA / "trajectory.jsonl")


def test_one_object_over_many_lines_is_a_trajectory_too(tmp_path: Path) -> None:
    path = tmp_path / "pretty.json"
    path.write_text(json.dumps(json.loads((DATA / "trajectory.jsonl").read_text()), indent=1))
    assert read_recording(path).turns == [1, 3]


def test_halves_of_surrogate_pairs_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"id":"t","messages":[{"role":"user","content":"a\\ud83d b \\ud83d\\ude00"}]}')
    assert blocks(read_recording(path), 0) == (Text("a\ufffd b \U0001f600"),)


# -- Claude Code


def test_a_claude_code_session_is_the_branch_it_ends_with() -> None:
    recording = read_recording(DATA / "claude_code.jsonl")
    assert recording.format == "claude-code"
    assert recording.id == "5f1c0c1e-0000-4000-8000-00000000c0de"
    assert (recording.model, recording.folder, recording.compactions) == ("claude-test-1", "/home/me/garden", 1)
    assert roles(recording) == "uauauaua"
    text = "".join(encode_all(recording))
    for left_out in ("rewound", "sub-agent", "bookkeeping", "being continued"):
        assert left_out not in text


def encode_all(recording: Recording) -> list[str]:
    import msgspec

    return [msgspec.json.encode(recorded).decode() for recorded in recording.messages]


def test_an_answer_written_in_several_lines_is_one_message() -> None:
    recording = read_recording(DATA / "claude_code.jsonl")
    assert blocks(recording, 1) == (
        Thinking("two files", "sig=="),
        Text("I look at both files."),
        ToolCall("t1", "Read", {"file_path": "beds.md"}),
        ToolCall("t2", "Bash", {"command": "ls"}),
    )
    assert blocks(recording, 2) == (
        ToolResult("t1", "1\tnorth bed: beans\n2\tsouth bed: empty"),
        ToolResult("t2", "beds.md", images=(Image("image/png", "aGk="),)),
    )
    assert blocks(recording, 6) == (ToolResult("t3", "File not found", is_error=True),)


def test_a_line_that_is_still_being_written_is_named() -> None:
    (skipped,) = read_recording(DATA / "claude_code.jsonl").skipped
    assert skipped.startswith(f"{DATA / 'claude_code.jsonl'}, line 21: not JSON")


def claude(tmp_path: Path, *rows: tuple[Any, ...]) -> list[str]:
    """What is said in a session of lines (kind, id, parent, text, more)."""
    lines = []
    for kind, uuid, parent, text, *more in rows:
        form: dict[str, Any] = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s"}
        if kind != "system":
            form["message"] = {"id": f"m-{uuid}", "role": kind, "content": [{"type": "text", "text": text}]}
        lines.append(json.dumps(form | (more[0] if more else {})))
    path = tmp_path / "claude.jsonl"
    path.write_text("\n".join(lines))
    recording = read_recording(path)
    return [b.text for r in recording.messages for b in r.message.blocks if isinstance(b, Text)]


def test_a_compaction_that_keeps_a_tail_does_not_hide_what_came_before(tmp_path: Path) -> None:
    boundary = {"subtype": "compact_boundary", "logicalParentUuid": "a2"}
    said = claude(
        tmp_path,
        ("user", "u1", None, "start"),
        ("assistant", "a1", "u1", "ready"),
        ("user", "x1", "a1", "rewound"),
        ("user", "u2", "a1", "go on"),
        ("system", "cb", None, "", boundary),
        ("user", "cs", "cb", "a summary", {"isCompactSummary": True}),
        ("assistant", "a2", "cs", "kept"),
        ("user", "u3", "a2", "after"),
    )
    assert said == ["start", "ready", "go on", "kept", "after"]


def test_a_damaged_line_does_not_hide_what_came_before(tmp_path: Path) -> None:
    said = claude(
        tmp_path, ("user", "u1", None, "start"), ("assistant", "a2", "a1 is lost", "on"), ("user", "u2", "a2", "end")
    )
    assert said == ["start", "on", "end"]


# -- Codex


def test_a_codex_rollout_is_read() -> None:
    recording = read_recording(DATA / "codex.jsonl")
    assert (recording.id, recording.format, recording.model) == ("0198-codex", "codex", "gpt-test")
    assert (recording.system, recording.folder, recording.compactions) == ("Be a good gardener.", "/home/me/pond", 1)
    assert roles(recording) == "uauaua"
    assert blocks(recording, 0) == (Text("How deep is the pond?"),)
    assert blocks(recording, 1) == (
        Thinking("I have to measure."),
        Text("I measure it."),
        ToolCall("k1", "shell", {"command": ["bash", "-lc", "cat depth.txt"]}),
        ToolCall("k2", "shell", {"input": "not json"}),
    )
    assert blocks(recording, 2) == (
        ToolResult("k1", "1.2 m\n"),
        ToolResult("k2", "bash: not: command not found", is_error=True),
    )
    assert blocks(recording, 4) == (ToolResult("k3", "done"),)
    assert blocks(recording, 5) == (Text("It is 1.2 m deep."),)


def test_a_rollout_of_the_first_versions_is_read() -> None:
    recording = read_recording(DATA / "codex_2025.jsonl")
    assert (recording.id, recording.system, roles(recording)) == ("old-codex", "Be kind.", "uaua")
    assert blocks(recording, 1) == (ToolCall("z1", "shell", {"type": "exec", "command": ["ls"]}),)
    assert blocks(recording, 2) == (ToolResult("z1", "nothing here", is_error=True),)


def test_turns_that_were_rolled_back_do_not_count(tmp_path: Path) -> None:
    def message(role: str, text: str) -> dict[str, Any]:
        content = [{"type": "input_text", "text": text}]
        return {"type": "response_item", "payload": {"type": "message", "role": role, "content": content}}

    back = {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}
    lines = [{"type": "session_meta", "payload": {"id": "r"}}, message("user", "one"), message("assistant", "first")]
    lines += [message("user", "two"), message("assistant", "second"), back, message("user", "three")]
    path = tmp_path / "rollout.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    recording = read_recording(path)
    said = [b.text for r in recording.messages for b in r.message.blocks]  # type: ignore[union-attr]
    assert said == ["one", "first", "three"]


# -- our own


def test_an_export_of_our_own_is_read(tmp_path: Path) -> None:
    store = FileLogStore(tmp_path, durability="process")
    with Session.start(store, id="mine", system="Be brief.", window=8000, clock=Ticks()) as session:
        passes = talk(session, 12)
    path = tmp_path / "export.jsonl"
    path.write_bytes(b"".join(encode(event) + b"\n" for event in store.read("mine").events))
    recording = read_recording(path)
    assert (recording.id, recording.format, recording.system) == ("mine-replay", "outlive", "Be brief.")
    assert recording.compactions == passes > 0
    assert len(recording.turns) == 12
    assert not recording.skipped


# -- refusals


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no format that is known"),
        (b"\x00\x01\x02", "no format that is known"),
        (b"[1, 2]\n", "no format that is known"),
        (b'{"a": 1}\n', "no format that is known"),
        (b'{"id": "t", "messages": []}', "no messages"),
        (b'{"id": "t", "messages": [{"role": "robot", "content": "x"}]}', "line 1, message 0: not a message"),
        (b'{"id": "t", "messages": [{"role": "user", "content": 7}]}', "line 1, message 0: content is int"),
        (b'{"id": "t", "messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}', "without tool_use_id"),
        (b'\n{"id":"t","messages":[]}\n{"id":"u","messages":[]}\n', "line 3: a second trajectory"),
        (b"\x1f\x8b\x08\x00 cut off", "gzip file is cut off or damaged"),
    ],
)
def test_a_refusal_names_file_and_line(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(ImportRefused) as refusal:
        read_recording(path)
    assert str(path) in str(refusal.value)
    assert reason in str(refusal.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match=r"missing\.jsonl: cannot be read"):
        read_recording(tmp_path / "missing.jsonl")
