"""A message list of another library as a session: the log keeps all of it, and a view of it fits the window.

A *native* is a message, item or part in the library's own form; each is one event of the log. While a view shows an
event unchanged, its native is returned as it came. What a pass edited or folded is returned as blocks, which the
adapter converts to the form of its library.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from outlive.adapters.sources import Said, Sources, content_of, is_thought
from outlive.agent.log.masking import masked
from outlive.agent.log.session_log import DEFAULT_WINDOW
from outlive.agent.recall import lines_of
from outlive.agent.session import Session
from outlive.config import Workspace
from outlive.context.policy import RICH, Policy
from outlive.context.rendering import EMPTY
from outlive.errors import OutliveError
from outlive.events import VERSION, AssistantSaid, Checkpointed, Event, SessionStarted, ToolFinished, UserSaid
from outlive.messages import Block, Message, Opaque, Role, Text, ToolResult
from outlive.origin import by_user
from outlive.request import Request
from outlive.secrets import Masker
from outlive.stores import open_stores
from outlive.stores.logs.buffer import Buffer
from outlive.stores.logs.lines import mended_value
from outlive.stores.logs.protocol import LogStore, LogWriter, SessionExists, UnknownSession
from outlive.stores.logs.reading import full_log

CLIENT = "client"
"""The label under which a session says which library it belongs to."""
RECALL = "Get back what left the conversation, exactly, by its handle (@h12); or only its lines `first` to `last`."
MAX_OPEN_LOGS = 32
"""Conversations of an adapter that are kept in memory at once."""
_NEVER_MASKED = {"thinking", "redacted_thinking", "reasoning", "compaction", "image", "input_image", "binary"}
"""Types of blocks that a provider checks byte for byte, or that hold no text."""
N = TypeVar("N")


class Shown(Struct, frozen=True):
    """A part of a view: an event of the log, or text of outlive."""

    role: Role
    blocks: tuple[Block, ...]
    native: Any = None
    """The native of the event; None for text of outlive. For an incomplete answer, a list of them."""
    whole: bool = False
    """Whether the native can be sent unchanged."""


class NativeLog:
    """The session of one conversation of another library.

    Its log is locked only while it is used, so other processes may go on with the conversation; what they logged is
    read before anything else is done.
    """

    def __init__(
        self,
        client: str,
        id: str,
        *,
        store: str | None = None,
        window: int = DEFAULT_WINDOW,
        policy: Policy = RICH,
        reserve: int = 0,
    ) -> None:
        """`store` is a URL; by default it is the store of the current workspace."""
        self.id = id
        self._client = client
        self._stores = open_stores(**Workspace.find(store=store).store)
        self._mask = Masker(os.environ)
        self._options: dict[str, Any] = {"window": window, "policy": policy, "reserve": reserve, "mask": self._mask}
        self._lock = threading.RLock()
        self._in_use = False
        self._buffer = Buffer(id)
        self._session: Session | None = None
        self._natives: dict[int, tuple[Any, bool]] = {}

    @contextmanager
    def open(self) -> Iterator[Session]:
        """The session with everything in its log. Everything logged inside is written once, at the end. Raises
        SessionBusy while another process uses it, and SessionExists if the id belongs to another program's
        session."""
        with self._lock:
            if self._in_use and self._session is not None:
                yield self._session
                return
            with _writer(self._stores.logs, self.id) as writer:
                session = self._current()
                self._in_use = True
                try:
                    yield session
                finally:
                    self._in_use = False
                    if self._buffer.events:
                        writer.append(self._buffer.events)  # if that fails, the log is read again
                        self._buffer.events.clear()

    def loaded(self, session: Session) -> None:
        """Called when the log was read: a subclass may restore the natives of its events."""

    def _current(self) -> Session:
        if self._session is None or self._stores.logs.info(self.id).last_event != self._session.last_event:
            past = full_log(self._stores.logs, self.id).events
            self._session = None
            self._natives.clear()
            self._buffer = Buffer(self.id)
            session = Session(self._buffer, history=past, **self._options)
            owner = session.checkpoint(CLIENT).get("name") if past else self._client
            if owner != self._client:
                hint = f"it belongs to {owner or 'outlive'}, and not to {self._client}: take another id"
                raise SessionExists(f"there is a session {self.id!r} already", hint=hint)
            if not past:
                session.log(SessionStarted, session=self.id, version=VERSION)
                session.log(Checkpointed, label=CLIENT, data={"name": self._client})
            self._session = session
            self.loaded(session)
        return self._session

    # -- natives in

    def add(self, native: Any, message: Message, prompt_tokens: int = 0) -> None:
        """Log a native as one event: an answer, a result, or words.

        `prompt_tokens`, with an answer, is the provider's count for its request.
        """
        given = _written(message)
        first = given[0] if given else None
        event: Said
        with self.open() as session:
            if message.role == "assistant":
                event = session.assistant_said(given, usage={"input": prompt_tokens} if prompt_tokens else None)
            elif isinstance(first, ToolResult):
                event = session.tool_finished(first.call_id, first.text, is_error=first.is_error, images=first.images)
            else:
                event = session.user_said(given)
        self.know(event, native, message)

    def follow(
        self, natives: Sequence[N], read: Callable[[N], Message], tokens: Callable[[N], int] = lambda _: 0
    ) -> None:
        """Make the log match these natives: equal ones stay, differing ones are undone."""
        with self.open() as session:
            live = conversation(session.events)
            kept = 0
            for event, native in zip(live, natives, strict=False):
                if self._natives.get(event.id, (None,))[0] is not native:
                    message = read(native)
                    if content_of(event) != masked(_written(message), self._mask):
                        break
                    self.know(event, native, message)
                kept += 1
            if kept < len(live):
                session.undo_to(live[kept].id - 1)
            for native in natives[kept:]:
                self.add(native, read(native), tokens(native))

    def know(self, event: Said, native: Any, message: Message) -> None:
        """Remember the native of an event. If a secret in it was masked, the event is shown instead."""
        self._natives[event.id] = native, content_of(event) == _with_origin(message)

    # -- the view out

    def view(self, *, ask: bool = True) -> list[Shown]:
        """What to send, oldest first. Makes the passes that are due; raises FloorError if it cannot fit.

        Without `ask` something follows before the model is asked, so the state is shown only after a pass.
        """
        with self.open() as session:
            if ask or session.due():
                return self._shown(session, session.next_request())
            request = session.engine.live_request()
            return self._shown(session, request, len(session.engine.messages))

    def recall(self, handle: str, first: int = 1, last: int = 0) -> str:
        """The exact text behind a handle, or some of its lines. Mistakes are answered in words, because a model
        asks."""
        try:
            with self.open() as session:
                text = session.engine.recall(handle).text
        except OutliveError as error:
            return f"[failed] {error}"
        return lines_of(text, (max(first, 1), last or 1 << 60)) if first > 1 or last else text

    def everything(self) -> tuple[Event, ...]:
        """All events of the log, undone ones included; empty if there is no log yet."""
        try:
            return full_log(self._stores.logs, self.id).events
        except UnknownSession:
            return ()

    def close(self) -> None:
        """Close the connection to a database, if there is one."""
        self._stores.close()

    def _shown(self, session: Session, request: Request, count: int | None = None) -> list[Shown]:
        sources = Sources(session.events, session.engine.projection.fold_to)
        shown: list[Shown] = []
        for number, message in reversed(list(enumerate(request.messages[:count]))):
            parts = [self._part(message.role, *group) for group in sources.groups(message.blocks)]
            if message.role == "assistant":
                stale = number < request.thinking_from and any(map(is_thought, message.blocks))
                if stale or not all(part.whole for part in parts):
                    natives = [part.native for part in parts if part.native is not None]
                    told = tuple(block for block in message.blocks if not is_thought(block))
                    parts = [Shown("assistant", told or (Text(EMPTY),), natives)]
            shown += reversed(parts)
        return shown[::-1]

    def _part(self, role: Role, event: int, whole: bool, blocks: tuple[Block, ...]) -> Shown:
        native, same = self._natives.get(event, (None, False))
        return Shown(role, blocks, native, whole and same)


class LogCache:
    """The logs of an adapter with many conversations; keeps those used last."""

    def __init__(self, client: str, **options: Any) -> None:
        self._client, self._options = client, options
        self._logs: OrderedDict[str, NativeLog] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, id: str) -> NativeLog:
        """The log of a conversation. It is created when something is logged."""
        with self._lock:
            log = self._logs.pop(id, None) or NativeLog(self._client, id, **self._options)
            self._logs[id] = log
            if len(self._logs) > MAX_OPEN_LOGS:
                self._logs.popitem(last=False)
            return log

    def close(self) -> None:
        """Close connections to a database, if there are any."""
        with self._lock:
            while self._logs:
                self._logs.popitem()[1].close()


def conversation(events: Iterable[Event]) -> list[Said]:
    """What was said and what came back, oldest first."""
    return [event for event in events if isinstance(event, UserSaid | AssistantSaid | ToolFinished)]


def _writer(logs: LogStore, id: str) -> LogWriter:
    """The writer of a session, which is created if it does not exist."""
    try:
        return logs.writer(id)
    except UnknownSession:
        return logs.create(id)


def _written(message: Message) -> tuple[Block, ...]:
    """The blocks in the form of a log: without lone surrogates, and with the origin of each text."""
    try:
        msgspec.json.encode(message)
    except UnicodeEncodeError:
        message = msgspec.convert(mended_value(msgspec.to_builtins(message)), Message)
    return _with_origin(message)


def _with_origin(message: Message) -> tuple[Block, ...]:
    return by_user(message.blocks) if message.role == "user" else message.blocks


def sealed(form: Any) -> Any:
    """A JSON form for `Checkpointed.data`: secrets in it will be masked, but not in signed thinking and images."""
    if isinstance(form, dict):
        if _NEVER_MASKED & {str(form.get(key)) for key in ("type", "kind", "part_kind")}:
            return Opaque(CLIENT, mended_value(form))
        return {key: sealed(value) for key, value in form.items()}
    return [sealed(value) for value in form] if isinstance(form, list) else mended_value(form)


def unsealed(form: Any) -> Any:
    """The original form of a `sealed` one."""
    if isinstance(form, Opaque):
        return form.data
    if isinstance(form, dict):
        opaque = form.get("type") == "opaque" and form.get("provider") == CLIENT
        return form["data"] if opaque else {key: unsealed(value) for key, value in form.items()}
    return [unsealed(value) for value in form] if isinstance(form, list) else form
