"""The conversation of one session, indexed as its log grows: items by event, results by call, what was taken back."""

from bisect import bisect_left, bisect_right

import msgspec

from outlive.events import (
    AssistantSaid,
    Event,
    PermissionAnswered,
    PermissionAsked,
    ToolFinished,
    ToolStarted,
    Undone,
)
from outlive.messages import tool_calls
from outlive.web.sessions.items import ConversationItem, is_item, item_of


class TakenBack(msgspec.Struct, frozen=True):
    """What the log keeps and the view does not: events in `ranges`, both ends included, and single passes."""

    ranges: tuple[tuple[int, int], ...] = ()
    passes: tuple[int, ...] = ()

    def holds(self, event: int) -> bool:
        """Whether an event is not in force any more."""
        return event in self.passes or self.covers(event)

    def covers(self, event: int) -> bool:
        """Whether an event was taken back with all after it."""
        return any(first <= event <= last for first, last in self.ranges)


class ItemPage(msgspec.Struct, frozen=True):
    """Some items in their order."""

    items: tuple[ConversationItem, ...]
    older: int
    """Items before the first one."""
    newer: int
    last_event: int
    """Of the log: a stream goes on after it."""
    taken_back: TakenBack


class ConversationIndex:
    """Which events are items, and where their results are."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.last_event = 0
        self.taken_back = TakenBack()
        self._ids: list[int] = []
        """Of all events, in order."""
        self._items: list[int] = []
        """Ids of the events that are items."""
        self._touched: list[int] = []
        """The event that changed each item last."""
        self._results: dict[int, dict[str, ToolFinished]] = {}
        """By answer and call."""
        self._started: set[str] = set()
        """Calls of the newest answer that run or ran."""
        self._open: dict[str, int] = {}
        """Calls without a result, and their answers."""
        self._asked: dict[str, float] = {}
        """When permission was asked for, by call."""
        self._waits: dict[str, float] = {}
        """Seconds that calls waited for permission."""
        self._answer = 0
        """The newest."""
        self._undone_passes: dict[int, int] = {}
        """Passes that were undone, and the events that say so."""

    def take(self, event: Event) -> None:
        self.events.append(event)
        self._ids.append(event.id)
        self.last_event = event.id
        if is_item(event):
            self._items.append(event.id)
            self._touched.append(event.id)
        match event:
            case AssistantSaid():
                before, self._answer = self._answer, event.id
                if any(answer == before for answer in self._open.values()):
                    self._touch(before, event.id)  # what it still ran was cut off
                self._started.clear()
                self._open.update((call.id, event.id) for call in tool_calls(event.blocks))
            case ToolStarted():
                self._started.update(event.calls)
                self._touch(self._answer, event.id)
            case ToolFinished() if answer := self._open.pop(event.call_id, 0):
                self._results.setdefault(answer, {})[event.call_id] = event
                self._touch(answer, event.id)
            case PermissionAsked():
                self._asked[event.call_id] = event.time
            case PermissionAnswered() if event.call_id in self._asked:
                self._waits[event.call_id] = max(0.0, event.time - self._asked.pop(event.call_id))
            case Undone():
                self._undo(event)
            case _:
                pass

    def _touch(self, item: int, by: int) -> None:
        at = bisect_left(self._items, item)
        if at < len(self._items) and self._items[at] == item:
            self._touched[at] = by

    def _undo(self, event: Undone) -> None:
        ranges = self.taken_back.ranges
        if event.what == "pass":
            self._undone_passes[event.target] = event.id
        elif event.target + 1 < event.id:
            first = event.target + 1
            ranges = (*(one for one in ranges if one[0] < first), (first, event.id - 1))
            self._undone_passes = {one: by for one, by in self._undone_passes.items() if by < first}
        self.taken_back = TakenBack(ranges, tuple(self._undone_passes))

    def event(self, id: int) -> Event | None:
        at = bisect_left(self._ids, id)
        return self.events[at] if at < len(self._ids) and self._ids[at] == id else None

    def page(self, *, before: int = 0, after: int = 0, around: int = 0, limit: int) -> ItemPage:
        """Items before an event, after it, around it, or the newest."""
        count = len(self._items)
        if after:
            first = bisect_right(self._items, after)
            last = min(first + limit, count)
        elif around:
            first = max(0, bisect_right(self._items, around) - limit // 2)
            last = min(first + limit, count)
            first = max(0, last - limit)
        else:
            last = bisect_left(self._items, before) if before else count
            first = max(0, last - limit)
        items = tuple(map(self._item, self._items[first:last]))
        return ItemPage(items, first, count - last, self.last_event, self.taken_back)

    def changed(self, after: int, most: int) -> tuple[ConversationItem, ...] | None:
        """The items that are new or other since an event; None when they are more than `most`."""
        ids = [item for item, touched in zip(self._items, self._touched, strict=True) if touched > after]
        return tuple(map(self._item, ids)) if len(ids) <= most else None

    def _item(self, id: int) -> ConversationItem:
        event = self.event(id)
        assert event is not None  # noqa: S101 - every item is an event
        return item_of(
            event,
            self._results.get(id, {}),
            self._started,
            self._waits,
            undone=self.taken_back.holds(id),
            newest=id == self._answer,
        )
