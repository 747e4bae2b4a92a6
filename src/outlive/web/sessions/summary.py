"""A session in one row of the list, folded from its log as it grows."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from outlive.agent.context_window import WINDOW_LABEL
from outlive.events import (
    AssistantSaid,
    Checkpointed,
    Compacted,
    Event,
    Forked,
    GoalSet,
    PermissionAnswered,
    PermissionAsked,
    SessionStarted,
    ToolFinished,
    UsageReported,
    UserSaid,
)
from outlive.messages import call_label, plain_text, tool_calls
from outlive.origin import user_words
from outlive.printable import one_line
from outlive.stores.logs.names import is_subagent
from outlive.stores.logs.protocol import LogStore, LogTail, SessionInfo, SessionReplaced
from outlive.stores.logs.reading import full_log

Status = Literal["working", "approval", "waiting", "interrupted", "stopped"]
"""working: a process has it open and it is the model's or a tool's turn; approval: a call waits to be allowed;
waiting: open, and it is the user's turn; interrupted: nobody has it open and its last turn did not end; stopped."""
MOST_TAILS = 64
"""Logs that are held open to be read further."""
MOST_KNOWN = 2_000
"""Sessions whose summaries are kept."""
LONGEST_TITLE = 300  # also of a folder
LONGEST_ACTION = 140  # a line of a list


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What the list says of a session."""

    info: SessionInfo
    status: Status
    goal: str
    title: str
    """The user's first words, those before a fork included."""
    action: str
    """What was done last."""
    requests: int
    """Answers of the model; not every provider reports a count for them."""
    passes: int
    cost: float
    """Dollars, as far as the prices are known."""
    context: int
    """Tokens of the last request."""
    window: int
    """Tokens that there is room for; 0 if that is not known."""
    model: str
    subagent: bool


class _Fold:
    """The part of a summary that follows from events."""

    def __init__(self) -> None:
        self.goal = self.title = self.action = self.model = ""
        self.requests = self.passes = self.context = self.window = 0
        self.is_new = True
        self.cost = 0.0
        self._asked: set[str] = set()
        """Calls that wait for permission."""
        self._users_turn = True

    def take(self, event: Event) -> None:
        self.is_new = False
        match event:
            case SessionStarted():
                self.model = event.model
            case UserSaid():
                self._users_turn = False
                if words := user_words(event.blocks):
                    self.action = f"you: {words}"
                    self.title = self.title or words
            case AssistantSaid():
                calls = list(tool_calls(event.blocks))
                self.requests += 1
                self._asked.clear()
                self._users_turn = not calls
                self.model = event.model or self.model
                self.action = call_label(calls[-1], LONGEST_ACTION) if calls else plain_text(event.blocks)
            case PermissionAsked():
                self._asked.add(event.call_id)
            case PermissionAnswered() | ToolFinished():
                self._asked.discard(event.call_id)
            case GoalSet():
                self.goal = event.goal
            case UsageReported():
                self.cost += event.cost or 0.0
                self.context = event.input + event.cache_read + event.cache_write if event.of else self.context
            case Compacted():
                self.passes += 1
            case Checkpointed() if event.label == WINDOW_LABEL:
                tokens = event.data.get("tokens")
                self.window = tokens if isinstance(tokens, int) else self.window
            case _:
                pass

    def status(self, *, has_writer: bool) -> Status:
        if not has_writer:
            return "stopped" if self._users_turn else "interrupted"
        if self._users_turn:
            return "waiting"
        return "approval" if self._asked else "working"


class _Known(msgspec.Struct):
    """What is known of a session."""

    stamp: tuple[int, int, float]
    """Of its log when it was read."""
    fold: _Fold
    tail: LogTail | None
    """Kept as long as a process writes the log."""


class Summaries:
    """Summaries of the sessions of one store. Each log is read once, and then as far as it has grown."""

    def __init__(self, store: LogStore, window: Callable[[], int]) -> None:
        """`window` tells the tokens that sessions have room for by the settings, 0 if these do not say."""
        self._store = store
        self._window = window
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, session: str) -> SessionSummary:
        """Raises UnknownSession."""
        found = self.listed(self._store.info(session), may_read=True)
        assert found is not None  # noqa: S101 - its log was read
        return found

    def listed(self, info: SessionInfo, *, may_read: bool) -> SessionSummary | None:
        """The summary of a session of a list; None if its log was never read, and may not be read now."""
        has_writer = self._store.has_writer(info.id)
        with self._lock:
            known = self._known.get(info.id)
            if known is None and not may_read:
                return None
            if known is None or known.stamp != _stamp(info):
                known = self._read(info, keep_tail=has_writer)
            self._known.move_to_end(info.id)
            fold = known.fold
        return SessionSummary(
            info=printable(info),
            status=fold.status(has_writer=has_writer),
            goal=one_line(fold.goal, LONGEST_ACTION),
            title=one_line(fold.title, LONGEST_TITLE),
            action=one_line(fold.action, LONGEST_ACTION),
            requests=fold.requests,
            passes=fold.passes,
            cost=fold.cost,
            context=fold.context,
            window=self._window() or fold.window,
            model=fold.model,
            subagent=is_subagent(info.id),
        )

    def goal(self, session: str) -> str:
        """The goal of a session whose log was read; empty for any other."""
        with self._lock:
            known = self._known.get(session)
            return known.fold.goal if known is not None else ""

    def close(self) -> None:
        with self._lock:
            while self._known:
                _close(self._known.popitem()[1])

    def _read(self, info: SessionInfo, *, keep_tail: bool) -> _Known:
        known = self._known.pop(info.id, None)
        if known is None or known.tail is None:
            known = _Known(_stamp(info), _Fold(), self._store.tail(info.id))
        tail = known.tail
        assert tail is not None  # noqa: S101
        try:
            events: Sequence[Event] = tail.read().events
        except SessionReplaced:
            tail.close()
            tail = self._store.tail(info.id)
            known = _Known(_stamp(info), _Fold(), tail)
            events = tail.read().events
        known.stamp = _stamp(info)
        if known.fold.is_new and events and isinstance(events[0], Forked):
            past = full_log(self._store, info.id).events
            events = (*(event for event in past if event.id < events[0].id), *events)
        for event in events:
            known.fold.take(event)
        if not keep_tail:
            tail.close()
            known.tail = None
        self._known[info.id] = known
        self._make_room()
        return known

    def _make_room(self) -> None:
        with_tail = [id for id, known in self._known.items() if known.tail is not None]
        for id in with_tail[:-MOST_TAILS]:
            _close(self._known.pop(id))
        while len(self._known) > MOST_KNOWN:
            _close(self._known.popitem(last=False)[1])


def _stamp(info: SessionInfo) -> tuple[int, int, float]:
    return info.last_event, info.size, info.updated


def _close(known: _Known) -> None:
    if known.tail is not None:
        known.tail.close()


def printable(info: SessionInfo) -> SessionInfo:
    """An entry without characters that a browser would obey, as those that turn the direction of text."""
    return replace(
        info,
        title=one_line(info.title, LONGEST_TITLE),
        folder=one_line(info.folder, LONGEST_TITLE),
        forked_from=one_line(info.forked_from, LONGEST_TITLE),
    )
