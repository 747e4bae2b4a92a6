"""Logs of sessions that browsers look at: read once, then as far as they have grown, and indexed as they grow."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from outlive.events import Event, Forked
from outlive.stores.logs.protocol import Damage, LogStore, SessionReplaced
from outlive.stores.logs.reading import full_log
from outlive.web.api import HttpProblem
from outlive.web.sessions.conversation import ConversationIndex
from outlive.web.sessions.past.replay import ReplayedPast
from outlive.web.sessions.window import WindowOverTime

MOST_KEPT = 6
"""Logs that are held in memory beside those that are followed."""
MOST_DAMAGE = 20
"""Damaged places that are named."""


class ServedLog:
    """One log, the past before its fork included. Use it under its lock."""

    def __init__(self, store: LogStore, session: str) -> None:
        self.session = session
        self.lock = threading.Lock()
        self.talk = ConversationIndex()
        self.window = WindowOverTime()
        self.past = ReplayedPast()
        """What needs the engine; it has a lock of its own, because replaying takes longer."""
        self.damage: list[Damage] = []
        self._store = store
        self._tail = store.tail(session)
        self._is_new = True
        self.closed = False

    @property
    def events(self) -> list[Event]:
        return self.talk.events

    def update(self) -> None:
        """Read what was written since. Raises SessionReplaced."""
        found = self._tail.read()
        events, damage = found.events, found.damage
        if self._is_new and events and isinstance(events[0], Forked):
            whole = full_log(self._store, self.session)
            past = tuple(event for event in whole.events if event.id < events[0].id)
            events, damage = (*past, *events), whole.damage
        self._is_new = self._is_new and not events
        self.damage += damage[: MOST_DAMAGE - len(self.damage)]
        for event in events:
            self.talk.take(event)
            self.window.take(event)

    def event(self, id: int) -> Event:
        """Raises HttpProblem."""
        found = self.talk.event(id)
        if found is None:
            raise HttpProblem(404, f"session {self.session!r} has no event {id}", code="unknown_event")
        return found

    def close(self) -> None:
        self._tail.close()
        self.closed = True


class ServedLogs:
    """The logs of one workspace that were looked at last."""

    def __init__(self, store: LogStore) -> None:
        self._store = store
        self._logs: OrderedDict[str, ServedLog] = OrderedDict()
        self._kept: Counter[str] = Counter()
        """Sessions that are followed; their logs make no room for others."""
        self._lock = threading.Lock()

    @contextmanager
    def open(self, session: str) -> Iterator[ServedLog]:
        """A log, up to date and locked. Raises UnknownSession, SessionTooLarge."""
        while True:
            log = self._get(session)
            with log.lock:
                if log.closed:  # it had to make room for others meanwhile
                    continue
                try:
                    log.update()
                except SessionReplaced:
                    self._forget(log)
                    continue
                yield log
                return

    @contextmanager
    def kept(self, session: str) -> Iterator[None]:
        """Keep the log of a session in memory, because it is looked at again and again."""
        with self._lock:
            self._kept[session] += 1
        try:
            yield
        finally:
            with self._lock:
                self._kept -= Counter([session])

    def close(self) -> None:
        with self._lock:
            logs = list(self._logs.values())
            self._logs.clear()
        for log in logs:
            with log.lock:
                log.close()

    def _get(self, session: str) -> ServedLog:
        with self._lock:
            log = self._logs.get(session) or ServedLog(self._store, session)
            self._logs[session] = log
            self._logs.move_to_end(session)
            others = [one for one in self._logs if not self._kept[one]]
            oldest = self._logs.pop(others[0]) if len(others) > MOST_KEPT else None
        if oldest is not None:
            with oldest.lock:
                oldest.close()
        return log

    def _forget(self, log: ServedLog) -> None:
        with self._lock:
            if self._logs.get(log.session) is log:
                del self._logs[log.session]
        log.close()
