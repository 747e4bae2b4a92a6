"""Secrets never reach the log: what is said and done is masked before it is written. Views are made of the log."""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from outlive.events import (
    AssistantSaid,
    Checkpointed,
    DirectiveDropped,
    DirectiveGiven,
    Event,
    GoalSet,
    Noted,
    PlanChanged,
    StateChanged,
    SystemChanged,
    ToolFinished,
    UserQueued,
    UserSaid,
)
from outlive.messages import Block, Text, ToolCall, ToolResult
from outlive.secrets import mask as mask_known

Mask = Callable[[str], str]
V = TypeVar("V")
SHORTEST = 8
"""Characters: shorter values are words, and masking words would make the log unreadable."""
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|DSN", re.IGNORECASE)


def masker(environment: Mapping[str, str]) -> Mask:
    """Masks what looks like a secret, and the values of the environment whose names say that they are one."""
    named = {v: k for k, v in environment.items() if _SECRET_NAME.search(k) and len(v) >= SHORTEST}
    known = re.compile("|".join(map(re.escape, sorted(named, key=len, reverse=True)))) if named else None

    def mask(text: str) -> str:
        if known is not None:
            text = known.sub(lambda found: f"[{named[found[0]]}]", text)
        return mask_known(text)

    return mask


def masked(event: Event, mask: Mask) -> Event:
    """The event with its secrets masked. Thinking stays as it is: its provider checks it to the letter."""
    match event:
        case UserSaid() | AssistantSaid():
            blocks = tuple(_block(block, mask) for block in event.blocks)
            return event if blocks == event.blocks else replace(event, blocks=blocks)
        case ToolFinished() | Noted() | DirectiveGiven() | UserQueued():
            text = mask(event.text)
            return event if text == event.text else replace(event, text=text)
        case PlanChanged() | StateChanged() | GoalSet() | SystemChanged() | DirectiveDropped() | Checkpointed():
            return _value(event, mask)
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
    """Every text inside a value of JSON or of an event, masked."""
    found: Any = value
    if isinstance(value, str):
        found = mask(value)
    elif isinstance(value, dict):
        found = {key: _value(item, mask) for key, item in value.items()}
    elif isinstance(value, list):
        found = [_value(item, mask) for item in value]
    elif isinstance(value, tuple):
        found = tuple(_value(item, mask) for item in value)
    elif isinstance(value, Struct):
        found = replace(value, **{name: _value(getattr(value, name), mask) for name in value.__struct_fields__})
    return found  # type: ignore[no-any-return]
