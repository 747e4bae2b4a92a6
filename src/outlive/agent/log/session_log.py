"""The log of a session and the engine that follows it: each event is checked, written, applied and shown."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypedDict, TypeVar, cast

from outlive.agent.commands.started import StartedCommands
from outlive.agent.log.masking import Mask, masked
from outlive.agent.log.world import MISSING_HASH, LastSeen, World
from outlive.context.engine import Engine
from outlive.context.policy import RICH, Policy
from outlive.context.state_block import shortened
from outlive.events import Checkpointed, Compacted, Event, FilesChanged, KnownEvent, Noted, SessionStarted, StateShown
from outlive.request import OutputFormat
from outlive.state import WorkingState
from outlive.stores.logs.buffer import Buffer
from outlive.stores.logs.lines import mended
from outlive.stores.logs.protocol import LogWriter

DEFAULT_WINDOW = 200_000  # of Anthropic's models; where neither user, settings nor server name a window
E_ = TypeVar("E_", bound=KnownEvent)


class SessionOptions(TypedDict, total=False):
    """How a session is opened."""

    window: int
    policy: Policy
    reserve: int
    """Tokens of the window that requests leave free."""
    clock: Callable[[], float]
    world: World | None
    """The files and processes that are watched; by default those of the session's folder."""
    mask: Mask | None


class SessionLog:
    """Events on disk and in the engine, always in the same order."""

    def __init__(
        self,
        writer: LogWriter,
        *,
        window: int = DEFAULT_WINDOW,
        policy: Policy = RICH,
        reserve: int = 0,
        clock: Callable[[], float] = time.time,
        world: World | None = None,
        mask: Mask | None = None,
        history: Iterable[Event] = (),
    ) -> None:
        self._writer = writer
        self._clock = clock
        self._world = world
        self._mask = mask
        self._watchers: list[Callable[[Event], None]] = []
        self._seen = LastSeen()
        self.started = StartedCommands()
        """Commands recorded in the log."""
        self.file_changes: list[FilesChanged] = []
        """All changes of files, those of undone events included, oldest first."""
        self.began = clock()
        """When the session began, or the session that it was forked from."""
        self._passes: set[int] = set()
        self._checkpoints: dict[str, Checkpointed] = {}
        self._unreconciled = False
        self.output: OutputFormat | None = None
        """The format that requests ask the provider to enforce."""
        self.engine = Engine(window, policy, reserve)
        self._resume(history)

    @property
    def id(self) -> str:
        return self._writer.session

    @property
    def state(self) -> WorkingState:
        return self.engine.history.state

    @property
    def last_event(self) -> int:
        return self.engine.history.last_id

    def files_seen(self) -> dict[str, str]:
        """SHA-256 of each file in the folder when it was last seen."""
        return {name: digest for name, digest in self._seen.files.items() if digest != MISSING_HASH}

    @property
    def events(self) -> tuple[Event, ...]:
        """All events, oldest first, except for undone ones. Reads nothing from disk."""
        return tuple(self.engine.events)

    def checkpoint(self, label: str) -> Mapping[str, Any]:
        """The data of the last checkpoint with this label, even if it was undone since."""
        found = self._checkpoints.get(label)
        return found.data if found else {}

    def masked(self, text: str) -> str:
        """The text with secrets masked, as the log stores it."""
        return self._mask(text) if self._mask is not None else text

    def watch(self, watcher: Callable[[Event], None]) -> None:
        """Send every event to `watcher` once it is on disk."""
        self._watchers.append(watcher)

    # -- writing

    def log(self, kind: type[E_], /, **fields: Any) -> E_:
        """Append one event: check it, write it, then pass it to the engine."""
        return cast(E_, self._commit([self._made(kind, **fields)])[0])

    def note(self, *texts: str, kind: str = "note") -> None:
        """Record notes of the harness; the state block shows them until the user's next turn."""
        if texts:
            masked = map(self.masked, texts)
            self._commit([self._made(Noted, n, text=shortened(text), kind=kind) for n, text in enumerate(masked)])

    @contextmanager
    def batched(self) -> Iterator[None]:
        """Write what is logged inside in one append at its end, which waits for the disk once."""
        writer, batch = self._writer, Buffer(self.id)
        self._writer = batch
        try:
            yield
        finally:
            self._writer = writer
            if batch.events:
                writer.append(batch.events)

    def reopen(self, writer: LogWriter, new: Iterable[Event]) -> None:
        """Go on after `close` with another writer, and with the events that others logged meanwhile."""
        self._writer = writer
        self._take(new)

    def renew_lease(self) -> None:
        """Say that the session is still in use, while nothing is logged. Safe in any thread.

        Raises SessionBusy if it was taken over.
        """
        self._writer.renew()

    def close(self) -> None:
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- inside

    def _made(self, kind: type[E_], after: int = 0, /, **fields: Any) -> E_:
        last = self.last_event + after
        return kind(id=last + 1, time=self._clock(), parent=last, **fields)

    def _commit(self, events: list[Event]) -> list[Event]:
        """Check, write, then apply. The engine sees exactly what the log has."""
        if self._mask is not None:
            events = [masked(event, self._mask) for event in events]
        for event in events:
            self.state.check(event)
        try:
            self._writer.append(events)
        except UnicodeEncodeError:
            events = list(map(mended, events))
            self._writer.append(events)
        self._take(events)
        self._show(events)
        return events

    def _show(self, events: Iterable[Event]) -> None:
        for event in events:
            for watcher in self._watchers:
                watcher(event)

    def _resume(self, history: Iterable[Event]) -> None:
        """Take in a log."""
        events = tuple(history)
        self.engine.extend(events)
        for event in events:
            self._remember(event)

    def _take(self, events: Iterable[Event]) -> None:
        for event in events:
            self.engine.append(event)
            self._remember(event)

    def _remember(self, event: Event) -> None:
        self._seen.take(event)
        self.started.take(event)
        if isinstance(event, SessionStarted):
            self.began = event.time
        elif isinstance(event, Compacted):
            self._passes.add(event.id)
        elif isinstance(event, FilesChanged):
            self.file_changes.append(event)
        elif isinstance(event, Checkpointed):
            self._checkpoints[event.label] = event

    def _write_made(self, made: Sequence[Compacted | StateShown]) -> None:
        """Write events that the engine made and has applied. If that fails, close the log: the engine is ahead of
        it."""
        if not made:
            return
        try:
            self._writer.append(made)
        except BaseException:
            self._writer.close()
            raise
        for event in made:
            self._remember(event)
        self._show(made)
