"""Secrets never reach the log: what is said and done is masked before it is written. Views are made of the log."""

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from outlive.events import AssistantSaid, DirectiveGiven, Event, Noted, PlanChanged, ToolFinished, UserSaid
from outlive.messages import Block, Text, ToolCall, ToolResult

Mask = Callable[[str], str]
V = TypeVar("V")


def masked(event: Event, mask: Mask) -> Event:
    """The event with its secrets masked. Thinking stays as it is: its provider checks it to the letter."""
    match event:
        case UserSaid() | AssistantSaid():
            blocks = tuple(_block(block, mask) for block in event.blocks)
            return event if blocks == event.blocks else replace(event, blocks=blocks)
        case ToolFinished() | Noted() | DirectiveGiven():
            text = mask(event.text)
            return event if text == event.text else replace(event, text=text)
        case PlanChanged():
            return replace(event, progress=_value(event.progress, mask), blocked_on=_value(event.blocked_on, mask))
        case _:
            return event


def _block(block: Block, mask: Mask) -> Block:
    match block:
        case Text() | ToolResult():
            return replace(block, text=mask(block.text))
        case ToolCall():
            return replace(block, input=_value(block.input, mask))
        case _:
            return block


def _value(value: V, mask: Mask) -> V:
    """Every text inside a value of JSON, masked."""
    found: Any = value
    if isinstance(value, str):
        found = mask(value)
    elif isinstance(value, dict):
        found = {key: _value(item, mask) for key, item in value.items()}
    elif isinstance(value, list):
        found = [_value(item, mask) for item in value]
    return found  # type: ignore[no-any-return]
