"""What a provider would refuse is found before it is sent."""

import pytest

from outlive.context.validity import problems
from outlive.messages import Block, Message, Text, Thinking, ToolCall, ToolResult

HELLO, GO_ON = Message("user", (Text("hello"),)), Message("user", (Text("go on"),))
CALL, RESULT = ToolCall("c", "bash", {"command": "ls"}), ToolResult("c", "a.txt")


def said(*blocks: Block) -> Message:
    return Message("assistant", blocks)


def asked(*blocks: Block) -> Message:
    return Message("user", blocks)


def test_a_conversation_with_calls_and_results_is_accepted() -> None:
    two = said(Thinking("hm"), CALL, ToolCall("d", "bash", {}))
    assert problems((HELLO, two, asked(RESULT, ToolResult("d", ""), Text("and?")), said(Text("done")), GO_ON)) == []
    assert problems((HELLO, said(CALL), asked(RESULT))) == []


@pytest.mark.parametrize(
    ("messages", "what"),
    [
        ((), "no messages"),
        ((said(Text("hi")), GO_ON), "the first message is not the user's"),
        ((HELLO, said(Text("hi"))), "the last message is not the user's"),
        ((HELLO, GO_ON), "message 1: two user messages in a row"),
        ((HELLO, said(Text("a")), said(Text("b")), GO_ON), "message 2: two assistant messages in a row"),
        ((HELLO, said(), GO_ON), "message 1: no content"),
        ((asked(Text(" \n")),), "message 0: blank text"),
        ((HELLO, said(CALL), GO_ON), "message 1: calls ['c'] are answered by []"),
        ((HELLO, said(CALL)), "message 1: calls ['c'] are answered by []"),
        ((HELLO, said(CALL, CALL), asked(RESULT, RESULT)), "message 1: two calls with one id"),
        ((HELLO, said(CALL, RESULT), asked(RESULT)), "message 1: a result among the assistant's blocks"),
        ((asked(RESULT),), "message 0: results without calls"),
        ((HELLO, said(Text("hi")), asked(RESULT)), "message 2: results without calls"),
        ((HELLO, said(CALL), asked(Text("and"), RESULT)), "message 2: results after other blocks"),
        ((asked(Text("a"), CALL),), "message 0: calls or thinking among the user's blocks"),
        ((asked(Text("a"), Thinking("hm")),), "message 0: calls or thinking among the user's blocks"),
    ],
)
def test_what_a_provider_refuses_is_named(messages: tuple[Message, ...], what: str) -> None:
    assert what in problems(messages)


def test_what_was_checked_before_is_not_checked_again() -> None:
    wrong = (HELLO, said(), GO_ON, said(), GO_ON)
    assert problems(wrong, 2) == ["message 3: no content"]
