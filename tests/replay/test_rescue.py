"""What a session of another agent was about, and the hand-over to the next one."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.messages import Message, Text, ToolCall, ToolResult
from outlive.replay.handover import MAX_CHARS, handover
from outlive.replay.importers import read_recording
from outlive.replay.recording import Recorded, Recording
from outlive.replay.rescue import MAX_LINE_CHARS, PlanReader, Rescued, RescuedStep, rescued

DATA = Path(__file__).parent / "importers" / "data"
KEY = "sk-ant-api03-" + "A" * 93 + "AA"


def played(*steps: Message) -> Recording:
    messages = tuple(Recorded(message, 1_000.0 + number) for number, message in enumerate(steps))
    return Recording(id="s1", format="claude-code", messages=messages, folder="/home/me/app", model="m")


def user(text: str) -> Message:
    return Message("user", (Text(text, "user"),))


def called(
    number: int, name: str, given: dict[str, Any], result: str = "ok", *, failed: bool = False
) -> list[Message]:
    call = Message("assistant", (ToolCall(f"c{number}", name, given),))
    return [call, Message("user", (ToolResult(f"c{number}", result, failed),))]


def session() -> Rescued:
    todo = [{"content": "Read", "status": "completed"}, {"content": "Write", "status": "in_progress"}]
    return rescued(
        played(
            user("Port the parser. Never touch vendor/."),
            *called(1, "TodoWrite", {"todos": todo}),
            *called(2, "Edit", {"file_path": "/home/me/app/parser.py", "old_string": "a", "new_string": "b"}),
            user("[Request interrupted by user for tool use]"),
            user(f"The key is {KEY}. Always run the tests."),
            *called(3, "Bash", {"command": "pytest -x"}, "F\nAssertionError: 3 != 4\n", failed=True),
            Message(
                "assistant", (Text("One test fails; I look at it."), ToolCall("c4", "Read", {"file_path": "t.py"}))
            ),
        )
    )


def test_the_last_commands_and_files_are_told_once_and_in_order() -> None:
    steps = [step for number in range(30) for step in called(number, "Bash", {"command": f"cat part{number}.txt"})]
    again = called(30, "Bash", {"command": "cat part25.txt"})
    found = rescued(played(user("Read all."), *steps, *again))
    assert found.commands == (*(f"cat part{number}.txt" for number in (22, 23, 24, 26, 27, 28, 29)), "cat part25.txt")
    assert found.looked_at[-3:] == ("part28.txt", "part29.txt", "part25.txt")
    assert "- cat part29.txt" in handover(found)
    assert "part28.txt, part29.txt, part25.txt" in handover(found)


def test_all_that_matters_is_found() -> None:
    found = session()
    assert [text[:8] for text in found.requests] == ["Port the", "The key "]
    assert found.directives == ("Never touch vendor/.", "Always run the tests.")
    assert found.open == (RescuedStep("Write", "active"),)
    assert found.changed == ("/home/me/app/parser.py",)
    assert found.failed == ("Bash pytest -x: AssertionError: 3 != 4",)
    assert found.unanswered == ("Read t.py",)
    assert found.answer == "One test fails; I look at it."


def test_a_hand_over_quotes_the_user_and_masks_secrets() -> None:
    text = handover(session(), "claude-code")
    assert "> Port the parser. Never touch vendor/." in text
    assert "- Always run the tests." in text
    assert "Plan (restore it with TodoWrite):\n[x] Read\n[>] Write" in text
    assert "Under way when it stopped:\n- Read t.py" in text
    assert KEY not in text
    assert "update_plan" in handover(session(), "codex")
    assert "restore it" not in handover(session())


@pytest.mark.parametrize("room", range(0, 2 * len(KEY), 9))
def test_no_cut_leaves_a_part_of_a_secret(room: int) -> None:
    """Whatever is cut, the key that was there is nowhere a part of a key."""
    words = "x " * ((MAX_CHARS - room) // 2) + KEY + " y" * MAX_CHARS
    line = "z" * (MAX_LINE_CHARS - room) + " " + KEY
    steps = called(1, "Bash", {"command": line}, f"\n{line}", failed=True)
    found = rescued(played(user(words), *steps, Message("assistant", (Text(words),)), user(words), user(words)))
    for limit in range(2_000, MAX_CHARS, 997):
        assert KEY[:20] not in handover(found, limit=limit)
        assert KEY[-20:] not in handover(found, limit=limit)
    assert KEY[:20] not in str(found)


texts = st.text(min_size=1, max_size=30).map(lambda text: text * 400)


@given(st.lists(texts, min_size=1, max_size=6), texts, st.integers(2_000, MAX_CHARS))
def test_a_hand_over_never_has_more_than_its_limit(requests: list[str], answer: str, limit: int) -> None:
    said = [user(text) for text in requests]
    found = rescued(played(*said, Message("assistant", (Text(answer),)), user("the last thing I asked")))
    text = handover(found, limit=limit)
    assert len(text) <= limit
    assert "> the last thing I asked" in text


@pytest.mark.parametrize("name", ["claude_code.jsonl", "codex.jsonl", "codex_2025.jsonl", "trajectory.jsonl"])
def test_every_format_can_be_rescued(name: str) -> None:
    found = rescued(read_recording(DATA / name))
    assert found.requests
    assert found.answer
    assert found.began <= found.ended


def test_a_command_of_codex_fails_by_the_exit_code_in_its_frame() -> None:
    framed = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno such file\n"
    assert rescued(played(*called(1, "exec_command", {"cmd": "cat x"}, framed))).failed == (
        "exec_command cat x: no such file",
    )


# -- plans


def plan_after(*calls: tuple[str, dict[str, Any], str]) -> list[tuple[str, str]]:
    reader = PlanReader()
    for name, input, result in calls:
        reader.see(Message("assistant", (ToolCall("c", name, input),)))
        reader.see(Message("user", (ToolResult("c", result),)))
    return [(step.text, step.status) for step in reader.steps()]


def test_tasks_that_are_made_and_changed_one_by_one() -> None:
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("TaskCreate", {"subject": "A"}, "Task #3 created successfully: A"),
        ("TaskCreate", {"subject": "B"}, "Task #4 created successfully: B"),
        ("TaskCreate", {"subject": "C"}, "Task #5 created successfully: C"),
        ("TaskUpdate", {"taskId": "3", "status": "completed"}, "ok"),
        ("TaskUpdate", {"taskId": "4", "status": "in_progress", "subject": "B, better"}, "ok"),
        ("TaskUpdate", {"taskId": "5", "status": "deleted"}, "ok"),
        ("TaskUpdate", {"taskId": "99", "status": "completed"}, "ok"),
    ]
    assert plan_after(*calls) == [("A", "done"), ("B, better", "active")]


def test_a_plan_that_is_written_as_a_whole_replaces_the_one_before() -> None:
    first = (
        "update_plan",
        {"plan": [{"step": "A", "status": "in_progress"}, {"step": "B", "status": "pending"}]},
        "",
    )
    second = ("update_plan", {"plan": [{"step": "B", "status": "completed"}]}, "")
    assert plan_after(first) == [("A", "active"), ("B", "todo")]
    assert plan_after(first, second) == [("B", "done")]


@given(
    st.dictionaries(
        st.sampled_from(["todos", "plan", "tasks", "subject", "taskId", "status"]),
        st.none() | st.text() | st.lists(st.none() | st.text() | st.dictionaries(st.text(), st.text())),
    )
)
def test_whatever_a_client_writes_is_read_without_an_error(given: dict[str, Any]) -> None:
    for name in ("TodoWrite", "update_plan", "TaskCreate", "TaskUpdate"):
        steps = plan_after(("TaskCreate", {"subject": "A"}, "#1"), (name, given, "#1"))
        assert all(text.strip() and status in ("todo", "active", "done") for text, status in steps)


def test_the_plan_is_found_in_a_script_of_codex() -> None:
    script = """const r = await tools.update_plan({ plan: [
        { step: 'Read it\\'s head', status: 'completed' }, {"step": "Say \\"hi\\"", "status": "in_progress"},
        { step: `Write`, status: "pending" },
    ] }); text(r)"""
    other = "text((await tools.exec_command({cmd: 'ls'})).output)"
    found = rescued(
        played(
            user("Go."),
            *called(1, "exec", {"input": script}, "Script completed"),
            *called(2, "exec", {"input": other}, "a.py"),
        )
    )
    steps = [RescuedStep("Read it's head", "done"), RescuedStep('Say "hi"', "active"), RescuedStep("Write", "todo")]
    assert list(found.plan) == steps
