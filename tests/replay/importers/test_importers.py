"""Recorded sessions of other programs, read as they lie on disk."""

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.agent import Session
from outlive.events import encode
from outlive.messages import Image, Text, Thinking, ToolCall, ToolResult
from outlive.origin import user_words
from outlive.replay.importers import ImportRefused, Recording, read_recording
from outlive.replay.importers.attachments import _TEXTS
from outlive.replay.importers.claude_code import read as read_claude
from outlive.replay.importers.lines import TranscriptLine, read_lines
from outlive.replay.rescue import rescued
from outlive.stores.logs.files import FileLogStore
from tests.talk import Ticks, talk

DATA = Path(__file__).parent / "data"
KINDS = sorted({*_TEXTS, "queued_command", "prompt_snapshot", "of another version"})
KEYS = [
    "content",
    "file",
    "files",
    "filename",
    "path",
    "prompt",
    "origin",
    "kind",
    "systemPrompt",
    "skills",
    "source_uuid",
]


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
    assert blocks(recording, 0) == (Text("Which bed is free? Always name the file.", "user"),)
    assert blocks(recording, 1) == (Text("I look."), ToolCall("t1", "Read", {"file_path": "beds.md"}))
    assert blocks(recording, 2) == (ToolResult("t1", "1\tnorth: beans\n2\tsouth: empty"), Text("Be quick.", "user"))
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
    assert blocks(read_recording(path), 0) == (Text("a\ufffd b \U0001f600", "user"),)


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
    skipped = read_recording(DATA / "claude_code.jsonl").skipped
    assert skipped[0].startswith(f"{DATA / 'claude_code.jsonl'}, line 21: not JSON")


def test_what_is_left_out_of_a_claude_code_session_is_said_by_kind() -> None:
    path = DATA / "claude_code.jsonl"
    assert read_recording(path).skipped[1:] == (
        f"{path}: 2 x messages of a branch that the user left by a rewind",
        f"{path}: 1 x talk of sub-agents",
        f"{path}: 1 x summaries of its own compactions",
    )


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


def test_words_typed_while_the_agent_works_count_even_if_they_were_said_on_another_branch(tmp_path: Path) -> None:
    words = "Always water the tomatoes in the evening."
    said = claude(
        tmp_path,
        ("user", "u1", None, "start"),
        ("assistant", "a1", "u1", "ready"),
        ("user", "x1", "a1", words),
        ("assistant", "x2", "x1", "rewound"),
        ("user", "s1", None, words, {"isSidechain": True}),
        ("user", "u2", "a1", "go on"),
        attachment("q1", "u2", type="queued_command", prompt=words),
        ("assistant", "a2", "q1", "in the evening"),
    )
    assert said == ["start", "ready", "go on", words, "in the evening"]


def test_a_damaged_line_does_not_hide_what_came_before(tmp_path: Path) -> None:
    said = claude(
        tmp_path, ("user", "u1", None, "start"), ("assistant", "a2", "a1 is lost", "on"), ("user", "u2", "a2", "end")
    )
    assert said == ["start", "on", "end"]


def test_what_claude_code_told_the_model_by_itself_is_kept_and_is_not_the_users_words(tmp_path: Path) -> None:
    said = claude(
        tmp_path,
        ("user", "u1", None, "<command-name>/review</command-name>"),
        ("user", "m1", "u1", "Base directory: x\n\nAlways read the checklist.", {"isMeta": True}),
        ("user", "m2", "m1", "<system-reminder>be quick</system-reminder>", {"isMeta": True}),
        ("assistant", "a1", "m2", "done"),
    )
    assert said == [
        "<command-name>/review</command-name>",
        "<injected>\nBase directory: x\n\nAlways read the checklist.\n</injected>",
        "<system-reminder>be quick</system-reminder>",
        "done",
    ]
    assert user_words(blocks(read_recording(tmp_path / "claude.jsonl"), 0)) == "<command-name>/review</command-name>"


def attachment(uuid: str, parent: str, **form: Any) -> tuple[Any, ...]:
    return ("attachment", uuid, parent, "", {"attachment": form, "message": None})


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (
            {"type": "file", "filename": "/w/a.py", "content": {"type": "text", "file": {"content": "x = 1"}}},
            "<file>\n/w/a.py\nx = 1\n</file>",
        ),
        (
            {
                "type": "nested_memory",
                "path": "sub/CLAUDE.md",
                "content": {"type": "Project", "content": "Use tabs."},
            },
            "<nested-memory>\nContents of sub/CLAUDE.md:\n\nUse tabs.\n</nested-memory>",
        ),
        (
            {"type": "edited_text_file", "filename": "a.py", "snippet": "1\tx"},
            "<edited-text-file>\na.py\n1\tx\n</edited-text-file>",
        ),
        (
            {"type": "hook_additional_context", "content": ["hello", "you"]},
            "<hook-additional-context>\nhello\nyou\n</hook-additional-context>",
        ),
        (
            {"type": "hook_success", "hookEvent": "SessionStart", "content": "on main"},
            "<hook-success>\non main\n</hook-success>",
        ),
        (
            {
                "type": "queued_command",
                "commandMode": "prompt",
                "prompt": "also the docs",
                "origin": {"kind": "human"},
            },
            "also the docs",
        ),
        ({"type": "queued_command", "prompt": [{"type": "text", "text": "and hurry"}]}, "and hurry"),
        (
            {
                "type": "queued_command",
                "commandMode": "task-notification",
                "prompt": "<task-notification>done</task-notification>",
            },
            "<task-notification>done</task-notification>",
        ),
        (
            {"type": "queued_command", "prompt": "Always obey.", "origin": {"kind": "peer"}},
            "<queued-command>\nAlways obey.\n</queued-command>",
        ),
    ],
)
def test_what_claude_code_attached_is_kept(tmp_path: Path, form: dict[str, Any], text: str) -> None:
    rows = [("user", "u1", None, "look at @a.py"), attachment("x1", "u1", **form), ("assistant", "a1", "x1", "ok")]
    assert claude(tmp_path, *rows) == ["look at @a.py", text, "ok"]


def test_an_attached_picture_is_a_picture(tmp_path: Path) -> None:
    content = {"type": "image", "file": {"base64": "aGk=", "type": "image/png"}}
    claude(
        tmp_path, ("user", "u1", None, "see"), attachment("x1", "u1", type="file", filename="a.png", content=content)
    )
    claude_file = tmp_path / "claude.jsonl"
    claude_file.write_text(
        claude_file.read_text() + '\n{"type":"user","uuid":"u2","parentUuid":"x1","message":{"content":"?"}}'
    )
    assert blocks(read_recording(claude_file), 0) == (
        Text("see", "user"),
        Image("image/png", "aGk="),
        Text("?", "user"),
    )


def test_attachments_that_say_nothing_to_the_model_are_left_out_and_counted(tmp_path: Path) -> None:
    said = claude(
        tmp_path,
        ("user", "u1", None, "start"),
        attachment("x1", "u1", type="hook_success", hookEvent="PostToolUse", content="formatted"),
        attachment("x2", "x1", type="command_permissions", allowedTools=[]),
        attachment("x3", "x2", type="command_permissions", allowedTools=[]),
        ("assistant", "a1", "x3", "ok"),
    )
    assert said == ["start", "ok"]
    assert [text.partition(": ")[2] for text in read_recording(tmp_path / "claude.jsonl").skipped] == [
        "1 x attachment `hook_success`: nothing that the model was shown",
        "2 x attachment `command_permissions`: nothing that the model was shown",
    ]


def test_words_that_stand_twice_in_the_file_are_said_once(tmp_path: Path) -> None:
    words = "and please look at the docs too"
    said = claude(
        tmp_path,
        ("user", "u1", None, "start"),
        attachment("x1", "u1", type="queued_command", prompt=words),
        ("assistant", "a1", "x1", "ok"),
        ("user", "u2", "a1", words),
    )
    assert said == ["start", "ok", words]


def test_the_recorded_system_prompt_and_the_instructions_of_the_user_are_the_system_prompt(tmp_path: Path) -> None:
    files = [{"path": "/home/me/CLAUDE.md", "type": "User", "content": "Never push to main."}]
    later = [{"path": "/w/CLAUDE.md", "type": "Project", "content": "Use tabs."}]
    said = claude(
        tmp_path,
        attachment("p1", "", type="prompt_snapshot", systemPrompt=["You are an agent.", "Be terse."]),
        attachment("p2", "p1", type="instructions", files=files),
        ("user", "u1", "p2", "start"),
        ("assistant", "a1", "u1", "ok"),
        attachment("p3", "a1", type="instructions", files=later),
        ("user", "u2", "p3", "more"),
    )
    recording = read_recording(tmp_path / "claude.jsonl")
    assert recording.system == (
        "You are an agent.\n\nBe terse.\n\nContents of /home/me/CLAUDE.md:\n\nNever push to main."
    )
    assert said == ["start", "ok", "<instructions>\nContents of /w/CLAUDE.md:\n\nUse tabs.\n</instructions>", "more"]


# -- Codex


def test_a_codex_rollout_is_read() -> None:
    recording = read_recording(DATA / "codex.jsonl")
    assert (recording.id, recording.format, recording.model) == ("0198-codex", "codex", "gpt-test")
    told = "Be a good gardener.\n\n<permissions instructions>all</permissions instructions>"
    assert (recording.system, recording.folder, recording.compactions) == (told, "/home/me/pond", 1)
    assert roles(recording) == "uauaua"
    environment = "<environment_context>\n  <cwd>/home/me/pond</cwd>\n</environment_context>"
    assert blocks(recording, 0) == (Text(environment, "harness"), Text("How deep is the pond?", "user"))
    assert blocks(recording, 1) == (
        Thinking("I have to measure."),
        Text("I measure it."),
        ToolCall("k1", "shell", {"command": ["bash", "-lc", "cat depth.txt"]}),
        ToolCall("k2", "shell", {"input": "not json"}),
    )
    assert blocks(recording, 2) == (
        ToolResult("k1", "Exit code: 0\nWall time: 0.1 seconds\nOutput:\n1.2 m\n"),
        ToolResult(
            "k2", "Exit code: 127\nWall time: 0 seconds\nOutput:\nbash: not: command not found", is_error=True
        ),
    )
    assert blocks(recording, 4) == (ToolResult("k3", "done"),)
    assert blocks(recording, 5) == (Text("It is 1.2 m deep."),)
    (skipped,) = recording.skipped
    assert skipped.endswith("1 x web_search_call: searches on the provider's side, of which no result is recorded")


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


def rollout(tmp_path: Path, *payloads: dict[str, Any]) -> Recording:
    path = tmp_path / "rollout.jsonl"
    lines = [{"type": "session_meta", "payload": {"id": "r", "base_instructions": {"text": "You are Codex."}}}]
    lines += [p if "payload" in p else {"type": "response_item", "payload": p} for p in payloads]
    path.write_text("\n".join(map(json.dumps, lines)))
    return read_recording(path)


def codex_said(role: str, *texts: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text} for text in texts]}


AGENTS = "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nNever push to main.\n</INSTRUCTIONS>"
ENVIRONMENT = "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"


@pytest.mark.parametrize(
    "opening",
    [
        [
            codex_said("developer", "Ask first."),
            codex_said("user", AGENTS, ENVIRONMENT),
            codex_said("user", "Fix it."),
        ],
        [codex_said("developer", "Ask first."), codex_said("user", AGENTS, ENVIRONMENT, "Fix it.")],
        [
            codex_said("user", AGENTS),
            codex_said("developer", "Ask first."),
            codex_said("user", ENVIRONMENT, "Fix it."),
        ],
    ],
)
def test_what_codex_told_the_model_first_is_the_system_prompt(tmp_path: Path, opening: list[dict[str, Any]]) -> None:
    recording = rollout(tmp_path, *opening, codex_said("assistant", "Done."))
    assert recording.system.startswith("You are Codex.\n\n")
    assert AGENTS in recording.system
    assert "Ask first." in recording.system
    assert blocks(recording, 0) == (Text(ENVIRONMENT, "harness"), Text("Fix it.", "user"))
    assert roles(recording) == "ua"


def test_what_codex_told_the_model_later_is_kept_and_is_not_the_users_words(tmp_path: Path) -> None:
    recording = rollout(
        tmp_path,
        codex_said("user", "Fix it."),
        codex_said("assistant", "Done."),
        codex_said("developer", "Never ask again."),
        codex_said("user", AGENTS, "And the docs."),
    )
    assert recording.system == "You are Codex."
    texts = [block.text for block in blocks(recording, 2)]
    assert texts == [
        "<developer>\nNever ask again.\n</developer>",
        f"<instructions>\n{AGENTS}\n</instructions>",
        "And the docs.",
    ]
    assert user_words(blocks(recording, 2)) == "And the docs."


def test_reminders_among_recorded_words_are_texts_of_their_own(tmp_path: Path) -> None:
    reminder = "<system-reminder>Never ask.</system-reminder>"
    claude(tmp_path, ("user", "u1", None, f"Fix it.\n{reminder}\nThanks."), ("assistant", "a1", "u1", "done"))
    found = blocks(read_recording(tmp_path / "claude.jsonl"), 0)
    assert found == (Text("Fix it.\n", "user"), Text(f"{reminder}\n", "harness"), Text("Thanks.", "user"))


def test_the_text_of_a_skill_is_not_the_users_request(tmp_path: Path) -> None:
    skill = "Base directory for this skill: /home/me/.claude/skills/commit\n\n# commit\nAlways sign off."
    claude(tmp_path, ("user", "u1", None, skill), ("assistant", "a1", "u1", "done"))
    assert blocks(read_recording(tmp_path / "claude.jsonl"), 0) == (Text(skill, "harness"),)


def test_instructions_that_codex_wrote_beside_the_talk_are_not_lost(tmp_path: Path) -> None:
    context = {"type": "turn_context", "payload": {"model": "m", "user_instructions": "Use tabs."}}
    recording = rollout(tmp_path, codex_said("user", "Fix it."), context, codex_said("assistant", "Done."))
    assert recording.system == "You are Codex.\n\nUse tabs."
    again = rollout(
        tmp_path,
        codex_said("user", "<user_instructions>Use tabs.</user_instructions>"),
        context,
        codex_said("user", "x"),
    )
    assert again.system.count("Use tabs.") == 1


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


def test_a_log_without_its_blobs_says_which_texts_are_missing(tmp_path: Path) -> None:
    store = FileLogStore(tmp_path, durability="process")
    with Session.start(store, id="mine", window=100_000, clock=Ticks()) as session:
        session.user_said("short")
        session.user_said("long " * 10_000)
        session.assistant_said((Text("done"),))
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(store.path("mine").read_bytes())
    (missing,) = read_recording(copy).skipped
    assert "line 3: the text is kept elsewhere" in missing


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


@pytest.mark.parametrize("levels", [200, 700, 10_000])
@pytest.mark.parametrize("half", ["", ', "half": "\\ud800"'])
def test_a_line_that_is_nested_too_deeply_is_left_out(tmp_path: Path, levels: int, half: str) -> None:
    path = tmp_path / "x.jsonl"
    said = {"type": "user", "uuid": "1", "sessionId": "s", "message": {"role": "user", "content": "Go."}}
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls", "more": 0}}
    answer: dict[str, Any] = {"type": "assistant", "uuid": "2", "parentUuid": "1", "sessionId": "s"}
    answer["message"] = {"role": "assistant", "content": [call]}
    nested = json.dumps(answer).replace(' "more": 0', f' "more": {"[" * levels}{"]" * levels}{half}')
    path.write_text(f"{json.dumps(said)}\n{nested}\n")
    recording = read_recording(path)
    assert len(recording.messages) == 1
    assert any("nested too deeply" in text for text in recording.skipped)
    assert rescued(recording).requests == ("Go.",)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match=r"missing\.jsonl: cannot be read"):
        read_recording(tmp_path / "missing.jsonl")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=6,
)


@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(KEYS), ANYTHING))
def test_an_attachment_of_any_shape_is_read_or_left_out(kind: str, form: dict[str, Any]) -> None:
    rows = [
        {"type": "user", "uuid": "u1", "sessionId": "s", "message": {"content": "hi"}},
        {"type": "attachment", "uuid": "x1", "parentUuid": "u1", "attachment": {**form, "type": kind}},
        {"type": "assistant", "uuid": "a1", "parentUuid": "x1", "message": {"content": "ok"}},
    ]
    lines = [TranscriptLine(number, row) for number, row in enumerate(rows, 1)]
    assert read_claude(Path("x"), lines, ()).turns == [1]


def test_a_large_file_is_not_copied_again_and_again(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    line = {"type": "user", "uuid": "u1", "message": {"content": "x" * 100_000}}
    file.write_text("".join(json.dumps(line) + "\n" for _ in range(100)))
    tracemalloc.start()
    try:
        lines, skipped = read_lines(file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(lines), skipped) == (100, ())
    assert peak < 2.5 * file.stat().st_size  # the bytes and what is read from them


def codex_result(tmp_path: Path, output: Any, kind: str = "custom_tool_call") -> ToolResult:
    """The result of one call in a rollout of Codex."""
    call = {"type": kind, "call_id": "c1", "name": "exec", "input": "text(1)", "arguments": "{}"}
    recording = rollout(
        tmp_path, codex_said("user", "go"), call, {"type": f"{kind}_output", "call_id": "c1", "output": output}
    )
    (block,) = recording.messages[-1].message.blocks
    assert isinstance(block, ToolResult)
    return block


def script(*texts: str, ended: str = "completed") -> list[dict[str, str]]:
    parts = [f"Script {ended}\nWall time 0.1 seconds\nOutput:\n", *texts]
    return [{"type": "input_text", "text": part} for part in parts]


RAN = json.dumps(
    {"chunk_id": "4524e5", "wall_time_seconds": 0.5, "exit_code": 2, "output": "a\nb\n"}, separators=(",", ":")
)
FRAMED = "Wall time: 0.5000 seconds\nProcess exited with code 2\nOutput:\na\nb\n"


def test_what_a_command_printed_in_a_script_of_codex_is_read_as_lines(tmp_path: Path) -> None:
    assert codex_result(tmp_path, script(RAN)).text == FRAMED
    both = codex_result(tmp_path, script("first", RAN)).text
    assert both == "\n".join(["Script completed\nWall time 0.1 seconds\nOutput:\n", "first", FRAMED])
    assert codex_result(tmp_path, script('{"chunk_id":')).text.endswith('{"chunk_id":')
    assert not codex_result(tmp_path, script(RAN)).is_error
    assert codex_result(tmp_path, script("Script error: x", ended="failed")).is_error


def test_ids_and_counts_that_codex_writes_around_an_output_are_left_out(tmp_path: Path) -> None:
    framed = FRAMED.replace("Output", "Original token count: 2\nOutput")
    assert codex_result(tmp_path, f"Chunk ID: 4524e5\n{framed}", "function_call").text == FRAMED
    later = f"see:\nChunk ID: 4524e5\n{framed}"
    assert codex_result(tmp_path, later, "function_call").text == later
