"""Messages of pi and opencode, read and given back."""

from typing import Any

import pytest

from outlive.messages import Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from outlive.origin import user_words
from outlive.replay.shapes import shape_of
from outlive.replay.shapes.protocol import ClientShape

Form = dict[str, Any]
PI, OPENCODE = shape_of("pi"), shape_of("opencode")
PICTURE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
PI_ANSWER: Form = {
    "role": "assistant",
    "stopReason": "toolUse",
    "usage": {"input": 5, "cacheRead": 70, "cacheWrite": 25},
    "content": [
        {"type": "thinking", "thinking": "Look first.", "thinkingSignature": "s1"},
        {"type": "thinking", "thinking": "", "thinkingSignature": "s2", "redacted": True},
        {"type": "text", "text": " "},
        {"type": "text", "text": "I look.", "textSignature": "t"},
        {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a.py"}},
    ],
}
PI_RESULT: Form = {
    "role": "toolResult",
    "toolCallId": "c1",
    "toolName": "read",
    "isError": True,
    "content": [{"type": "text", "text": "no such file"}, PICTURE],
}
PI_OTHERS: list[Form] = [
    {"role": "user", "content": "in one string"},
    {"role": "user", "content": [{"type": "text", "text": "Look at it."}, PICTURE]},
    {"role": "bashExecution", "command": "ls", "output": "a.py", "exitCode": 0},
    {"role": "custom", "customType": "note", "content": "from an extension", "display": True},
    {"role": "branchSummary", "summary": "another branch", "fromId": None},
    {"role": "role of a later version", "payload": 1},
]
OPENCODE_USER: Form = {
    "info": {"id": "m1", "role": "user", "sessionID": "s", "time": {"created": 1_000}},
    "parts": [
        {"type": "text", "text": "Read a.py."},
        {"type": "text", "text": "contents of a.py", "synthetic": True},
        {"type": "text", "text": "<system-reminder>\nplan mode", "synthetic": True},
        {"type": "file", "mime": "image/png", "url": "data:image/png;base64,aGk="},
        {"type": "file", "mime": "text/plain", "url": "file:///a.py"},
        {"type": "file", "mime": "application/pdf", "url": "data:application/pdf;base64,aGk=", "filename": "p.pdf"},
    ],
}
OPENCODE_ANSWER: Form = {
    "info": {
        "id": "m2",
        "role": "assistant",
        "tokens": {"input": 5, "output": 1, "cache": {"read": 70, "write": 25}},
    },
    "parts": [
        {"type": "step-start"},
        {"type": "reasoning", "text": "Look first.", "metadata": {"anthropic": {"signature": "s1"}}},
        {"type": "reasoning", "text": "", "metadata": {}},
        {"type": "text", "text": "I look.", "metadata": {"openai": {"itemId": "i"}}},
        {
            "type": "tool",
            "tool": "read",
            "callID": "c1",
            "state": {"status": "completed", "input": {"path": "a.py"}, "output": "x = 1", "time": {}},
        },
        {
            "type": "tool",
            "tool": "bash",
            "callID": "c2",
            "state": {"status": "error", "input": {"command": "make"}, "error": "exit 2"},
        },
        {"type": "tool", "tool": "bash", "callID": "c3", "state": {"status": "running", "input": {}}},
        {"type": "step-finish"},
    ],
}


def test_a_pi_answer_and_its_result() -> None:
    answer, result = PI.read(PI_ANSWER, parent=False), PI.read(PI_RESULT, parent=False)
    redacted = Opaque("pi", {"type": "reasoning", "data": "s2"})
    call = ToolCall("c1", "read", {"path": "a.py"})
    assert answer == [Message("assistant", (Thinking("Look first.", "s1"), redacted, Text("I look."), call))]
    assert result == [Message("user", (ToolResult("c1", "no such file", True, (Image("image/png", "aGk="),)),))]
    assert PI.prompt_tokens(PI_ANSWER) == 100


def test_an_opencode_answer_holds_its_results() -> None:
    read = OPENCODE.read(OPENCODE_ANSWER, parent=False)
    assert read is not None
    assert [block.id for block in read[0].blocks if isinstance(block, ToolCall)] == ["c1", "c2", "c3"]
    assert read[1].blocks == (
        ToolResult("c1", "x = 1"),
        ToolResult("c2", "exit 2", is_error=True),
        ToolResult("c3", "[Tool execution was interrupted]", is_error=True),
    )
    assert OPENCODE.prompt_tokens(OPENCODE_ANSWER) == 100


@pytest.mark.parametrize(
    ("shape", "message"),
    [(PI, one) for one in (PI_ANSWER, PI_RESULT, *PI_OTHERS)]
    + [(OPENCODE, one) for one in (OPENCODE_USER, OPENCODE_ANSWER)],
)
def test_a_message_that_is_shown_as_it_was_is_the_very_same(shape: ClientShape, message: Form) -> None:
    assert shape.changed(message, {}, {"another call": "x"}, thinking=True) is message


def test_other_words_take_the_place_of_those_of_the_block() -> None:
    pi = PI.changed(PI_ANSWER, {2: "I …"}, {}, thinking=True)
    assert [part.get("text") for part in pi["content"]] == [None, None, " ", "I …", None]
    opencode = OPENCODE.changed(OPENCODE_USER, {1: "cont…"}, {}, thinking=True)
    assert [part.get("text") for part in opencode["parts"]][:3] == [
        "Read a.py.",
        "cont…",
        OPENCODE_USER["parts"][2]["text"],
    ]
    answer = OPENCODE.changed(OPENCODE_ANSWER, {2: "I …"}, {"c1": "stub", "c2": "failed"}, thinking=True)
    said, read, failed = (answer["parts"][number] for number in (3, 4, 5))
    assert (said["text"], "metadata" in said) == ("I …", False)
    assert (read["state"]["output"], failed["state"]["error"]) == ("stub", "failed")
    assert PI.changed(PI_RESULT, {}, {"c1": "stub"}, thinking=True)["content"] == [{"type": "text", "text": "stub"}]
    assert OPENCODE_ANSWER["parts"][4]["state"]["output"] == "x = 1", "the client's own object is not changed"


def test_thinking_of_another_view_is_left_out() -> None:
    assert [part["type"] for part in PI.changed(PI_ANSWER, {}, {}, thinking=False)["content"]] == [
        "text",
        "text",
        "toolCall",
    ]
    kinds = [part["type"] for part in OPENCODE.changed(OPENCODE_ANSWER, {}, {}, thinking=False)["parts"]]
    assert "reasoning" not in kinds
    assert kinds.count("tool") == 3


def test_only_what_the_user_typed_is_the_users() -> None:
    read = [found for one in PI_OTHERS for found in PI.read(one, parent=False) or ()]
    assert [user_words(message.blocks) for message in read] == ["in one string", "Look at it.", "", "", ""]
    asked = OPENCODE.read(OPENCODE_USER, parent=False)
    assert asked
    assert user_words(asked[0].blocks) == "Read a.py."
    for shape, message in ((PI, PI_OTHERS[0]), (OPENCODE, OPENCODE_USER)):
        told = shape.read(message, parent=True)
        assert told
        assert user_words(told[0].blocks) == "", "another agent gave this task"


def test_what_a_client_does_not_send_is_not_read() -> None:
    info = OPENCODE_ANSWER["info"]
    failed: list[tuple[ClientShape, Form]] = [
        (PI, {**PI_ANSWER, "stopReason": "error"}),
        (PI, {"role": "bashExecution", "command": "ls", "output": "", "excludeFromContext": True}),
        (OPENCODE, {**OPENCODE_ANSWER, "info": {**info, "error": {"name": "APIError"}}}),
        (OPENCODE, {**OPENCODE_ANSWER, "info": {**info, "summary": True}}),
        (OPENCODE, {**OPENCODE_USER, "parts": [{"type": "compaction", "auto": True}]}),
    ]
    for shape, message in failed:
        assert shape.read(message, parent=False) is None
    aborted = {**OPENCODE_ANSWER, "info": {**info, "error": {"name": "MessageAbortedError"}}}
    assert OPENCODE.read(aborted, parent=False), "what was said before it was stopped is sent"


@pytest.mark.parametrize("junk", [{}, {"role": 3}, {"info": 1, "parts": "x"}, {"role": "user", "content": {"a": 1}}])
def test_a_message_of_no_known_form_says_nothing(junk: Form) -> None:
    assert PI.read(junk, parent=False) == []
    assert not OPENCODE.read(junk, parent=False)
