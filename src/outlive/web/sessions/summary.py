"""A session in one row of the list, folded from its log as it grows."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Literal

import msgspec

from outlive.events import (
    AssistantSaid,
    Compacted,
    Event,
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

Status = Literal["working", "approval", "waiting", "interrupted", "stopped"]
"""working: a process has it open and it is the model's or a tool's turn; approval: a call waits to be allowed;
waiting: open, and it is the user's turn; interrupted: nobody has it open and its last turn did not end; stopped."""
MOST_KEPT = 64
"""Sessions whose logs are held open to be read further."""
LONGEST_ACTION = 140


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What the list says of a session."""

    info: SessionInfo
    status: Status
    goal: str
    action: str
    """What was done last."""
    requests: int
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
        self.goal = self.action = self.model = ""
        self.requests = self.passes = self.context = 0
        self.cost = 0.0
        self._asked: set[str] = set()
        """Calls that wait for permission."""
        self._users_turn = True

    def take(self, event: Event) -> None:
        match event:
            case SessionStarted():
                self.model = event.model
            case UserSaid():
                self._users_turn = False
                if words := user_words(event.blocks):
                    self.action = f"you: {words}"
            case AssistantSaid():
                calls = list(tool_calls(event.blocks))
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
                self.requests += bool(event.of)
                self.cost += event.cost or 0.0
                self.context = event.input + event.cache_read + event.cache_write if event.of else self.context
            case Compacted():
                self.passes += 1
            case _:
                pass

    def status(self, *, has_writer: bool) -> Status:
        if not has_writer:
            return "stopped" if self._users_turn else "interrupted"
        if self._users_turn:
            return "waiting"
        return "approval" if self._asked else "working"


class Summaries:
    """Summaries of the sessions of one store. Each log is read once, and then as far as it has grown."""

    def __init__(self, store: LogStore, window_of: Callable[[str], int]) -> None:
        """`window_of` tells the room that a model has."""
        self._store = store
        self._window_of = window_of
        self._read: OrderedDict[str, tuple[LogTail, _Fold]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, session: str) -> SessionSummary:
        info = self._store.info(session)
        with self._lock:
            fold = self._fold(session)
            return SessionSummary(
                info=info,
                status=fold.status(has_writer=self._store.has_writer(session)),
                goal=one_line(fold.goal, LONGEST_ACTION),
                action=one_line(fold.action, LONGEST_ACTION),
                requests=fold.requests,
                passes=fold.passes,
                cost=fold.cost,
                context=fold.context,
                window=self._window_of(fold.model),
                model=fold.model,
                subagent=is_subagent(session),
            )

    def close(self) -> None:
        with self._lock:
            while self._read:
                self._read.popitem()[1][0].close()

    def _fold(self, session: str) -> _Fold:
        tail, fold = self._read.pop(session) if session in self._read else (self._store.tail(session), _Fold())
        try:
            events = tail.read().events
        except SessionReplaced:
            tail.close()
            tail, fold = self._store.tail(session), _Fold()
            events = tail.read().events
        for event in events:
            fold.take(event)
        self._read[session] = tail, fold
        if len(self._read) > MOST_KEPT:
            self._read.popitem(last=False)[1][0].close()
        return fold
