"""Is this a request that providers accept? Checked every time, so that a session can never get stuck on a 400."""

from collections.abc import Sequence

from outlive.messages import Message, Opaque, Text, Thinking, ToolCall, ToolResult


def problems(messages: Sequence[Message], start: int = 0) -> list[str]:
    """What a provider would refuse, from message `start` on (what came before was checked already)."""
    found: list[str] = []
    if not messages:
        return ["no messages"]
    if messages[0].role != "user" and not _opens_with_summary(messages[0]):
        found.append("the first message is not the user's")
    if messages[-1].role != "user":
        found.append("the last message is not the user's")
    for number in range(max(start, 0), len(messages)):
        found.extend(f"message {number}: {what}" for what in _message_problems(messages, number))
    return found


def _opens_with_summary(message: Message) -> bool:
    return any(isinstance(block, Opaque) and block.is_summary for block in message.blocks[:1])


def _message_problems(messages: Sequence[Message], number: int) -> list[str]:
    message = messages[number]
    found = []
    if number and messages[number - 1].role == message.role:
        found.append(f"two {message.role} messages in a row")
    if not message.blocks:
        found.append("no content")
    if any(isinstance(block, Text) and not block.text.strip() for block in message.blocks):
        found.append("blank text")
    if message.role == "assistant":
        following = messages[number + 1] if number + 1 < len(messages) else None
        found.extend(_call_problems(message, following))
    else:
        found.extend(_user_problems(message, messages[number - 1] if number else None))
    return found


def _call_problems(message: Message, following: Message | None) -> list[str]:
    calls = [block.id for block in message.blocks if isinstance(block, ToolCall)]
    answers = [b.call_id for b in following.blocks if isinstance(b, ToolResult)] if following else []
    found = []
    if len(set(calls)) != len(calls):
        found.append("two calls with one id")
    if sorted(calls) != sorted(answers):
        found.append(f"calls {calls} are answered by {answers}")
    if any(isinstance(block, ToolResult) for block in message.blocks):
        found.append("a result among the assistant's blocks")
    return found


def _user_problems(message: Message, before: Message | None) -> list[str]:
    found = []
    kinds = [isinstance(block, ToolResult) for block in message.blocks]
    if any(kinds) and (before is None or not any(isinstance(b, ToolCall) for b in before.blocks)):
        found.append("results without calls")
    if kinds != sorted(kinds, reverse=True):
        found.append("results after other blocks")
    if any(isinstance(block, (ToolCall, Thinking)) for block in message.blocks):
        found.append("calls or thinking among the user's blocks")
    return found
