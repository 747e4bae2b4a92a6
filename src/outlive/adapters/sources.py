"""Finds the event of each block of a view, so that a library gets its own message back instead of a translation."""

from collections.abc import Sequence

from outlive.events import AssistantSaid, Event, ToolFinished, UserSaid
from outlive.messages import Block, Opaque, Text, Thinking, ToolResult

Said = UserSaid | AssistantSaid | ToolFinished
"""An event that holds a part of the conversation."""
Group = tuple[int, bool, tuple[Block, ...]]
"""An event (0 for text of outlive), whether it is complete and unchanged, and its blocks in a view."""


class Sources:
    """Finds events by identity: an unedited text in a view is the same string object as in its event."""

    def __init__(self, events: Sequence[Event], folded_to: int) -> None:
        self._results = {event.call_id: event for event in events if isinstance(event, ToolFinished)}
        self._events: dict[int, list[int]] = {}
        self._sizes: dict[int, int] = {}
        for event in events:
            if isinstance(event, UserSaid | AssistantSaid) and event.id > folded_to:
                keys = [_key(block) for block in event.blocks if not isinstance(block, Text) or block.text.strip()]
                self._sizes[event.id] = len(keys)
                for key in dict.fromkeys(keys):
                    self._events.setdefault(key, []).append(event.id)

    def groups(self, blocks: Sequence[Block]) -> list[Group]:
        """The blocks of a message by event. Call it for the last message of a view first, then backwards: the same
        string may be in several events."""
        found: list[Group] = []
        rest = list(blocks)
        while rest:
            last = rest[-1]
            if isinstance(last, ToolResult):
                result = self._results.get(last.call_id)
                whole = result is not None and content_of(result) == (last,)
                found.append((result.id if result else 0, whole, (rest.pop(),)))
                continue
            event = (self._events.get(_key(last)) or [0])[-1]
            taken = [rest.pop()]
            while rest and len(taken) < self._sizes.get(event, 1 << 60) and event == self._source(rest[-1], event):
                taken.append(rest.pop())
            for key in set(map(_key, taken)) if event else ():
                self._events[key].remove(event)
            found.append((event, len(taken) == self._sizes.get(event), tuple(reversed(taken))))
        return found[::-1]

    def _source(self, block: Block, wanted: int) -> int:
        """The event of a block: the wanted one if possible."""
        if isinstance(block, ToolResult):
            return -1
        events = self._events.get(_key(block)) or [0]
        return wanted if wanted in events else events[-1]


def content_of(event: Said) -> tuple[Block, ...]:
    """The blocks of an event."""
    if isinstance(event, ToolFinished):
        return (ToolResult(event.call_id, event.text, event.is_error, event.images),)
    return event.blocks


def is_thought(block: Block) -> bool:
    """Whether it is thinking, which is valid only after the same prefix."""
    if isinstance(block, Opaque):
        return block.is_unreadable or block.data.get("type") == "redacted_thinking"
    return isinstance(block, Thinking)


def _key(block: Block) -> int:
    return id(block.text) if isinstance(block, Text) else id(block)
