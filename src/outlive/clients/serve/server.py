"""`outlive serve`: the context engine behind a unix socket, for plugins of pi and opencode.

One JSON object a line in, one out, in order; a connection may ask any number of times. `do` says what is asked:

ping     -> {"version", "pid"}
view     client, session, window, messages (the client's whole list, in its own shape), parent, caches_front (whether
         the cache can hold the beginning of the first message through a pass)
         -> {"view": [...], "segments": N}: what to send, each item the place of a message in the list or a new
            message, which begins with N texts that stay through passes;
            {"view": null} if the client's own list is to be sent as it is
compact  the same, with focus, too_long and limit: makes a pass now, or (automatic) leaves that to the next view
         -> {"brief": TEXT}: what the session must not lose, for the client's own summary
recall   client, session, handle or query (with a handle: lines of it that contain the query)
         -> {"text"}
end      -> {}: the server closes its logs and ends

Whatever goes wrong is answered as {"error", "hint"}; the client then sends its own messages. A request has at most 64
MiB. Requests are worked on one after the other. The server ends after half an hour without a request.
"""

import asyncio
import os
import signal
import time
from collections import OrderedDict
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from outlive import __version__
from outlive.agent.policies import policy_named
from outlive.agent.session import Session
from outlive.agent.tool_session import SessionAdapter
from outlive.clients.fitting_memories import fitting_memories
from outlive.clients.serve.client_view import ClientView, measured_reserve
from outlive.clients.serve.locate import lock, lock_path, private_folder, socket_path
from outlive.config import Workspace
from outlive.config.dotenv import DotEnv
from outlive.errors import OutliveError
from outlive.memory.memories import Memories
from outlive.replay.shapes.protocol import Form
from outlive.secrets import Masker
from outlive.stores import open_stores
from outlive.stores.logs.buffer import Buffer
from outlive.stores.logs.names import followed_id
from outlive.stores.logs.reading import full_log
from outlive.tools.builtin.view import matching_lines

MAX_REQUEST_BYTES = 64 * 1024 * 1024
"""Bytes of a request."""
MAX_ANSWER_CHARS = 200_000
"""Characters of a text that is recalled."""
IDLE = 1_800.0
"""Seconds without a request after which the server ends."""
RELEASED = 300.0
"""Seconds without a request after which another process may write to the log of a session."""
MAX_OPEN = 8
"""Sessions that are kept open."""
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class ViewAsked(msgspec.Struct, frozen=True, tag_field="do", tag="view"):
    """A client is about to send a request."""

    client: Literal["pi", "opencode"]
    session: Name
    window: Annotated[int, msgspec.Meta(ge=2_000, le=1_000_000_000)]
    messages: list[Form]
    parent: bool = False
    caches_front: bool = True


class CompactAsked(ViewAsked, frozen=True, tag="compact"):
    """A client is about to compact."""

    focus: Annotated[str, msgspec.Meta(max_length=2_000)] = ""
    too_long: bool = False
    automatic: bool = False
    limit: Annotated[int, msgspec.Meta(ge=1_000, le=100_000)] = 10_000


class RecallAsked(msgspec.Struct, frozen=True, tag_field="do", tag="recall"):
    """A model asks for text that left its view."""

    client: Literal["pi", "opencode"]
    session: Name
    handle: str = ""
    query: str = ""


class PingAsked(msgspec.Struct, frozen=True, tag_field="do", tag="ping"):
    """A client checks that the server is running."""


class EndAsked(msgspec.Struct, frozen=True, tag_field="do", tag="end"):
    """The server is to end."""


Asked = ViewAsked | CompactAsked | RecallAsked | PingAsked | EndAsked
_decode = msgspec.json.Decoder(Asked).decode


class ClientServer:
    """Answers the clients of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._stores = open_stores(**workspace.store)
        self._mask = Masker(DotEnv(workspace).secrets)
        context = workspace.context_settings()
        self._policy = policy_named(str(context.get("policy", "rich")), context["policies"])
        self._open: OrderedDict[tuple[str, str], tuple[ClientView, float]] = OrderedDict()
        self._asked = time.monotonic()
        self._ended = asyncio.Event()

    async def run(self, path: Path) -> None:
        """Serve until half an hour passes without a request. The caller holds the lock of the socket."""
        with suppress(FileNotFoundError):
            path.unlink()
        before = os.umask(0o177)
        try:
            server = await asyncio.start_unix_server(self._talk, path, limit=MAX_REQUEST_BYTES)
        finally:
            os.umask(before)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._ended.set)
        own = path.stat().st_ino
        try:
            while not self._ended.is_set() and time.monotonic() - self._asked < IDLE and _inode(path) == own:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ended.wait(), 30)
                self._release(time.monotonic() - RELEASED)
        finally:
            server.close()
            self.close()
            if _inode(path) == own:
                path.unlink()

    def answer(self, line: bytes) -> dict[str, Any]:
        """The answer to one request; an error is one too."""
        self._asked = time.monotonic()
        try:
            return self._do(_decode(line))
        except msgspec.DecodeError as error:
            return {"error": f"not a request: {error}", "hint": ""}
        except OutliveError as error:
            return {"error": str(error), "hint": error.hint}
        except Exception as error:  # noqa: BLE001 - the client is told, and sends its own messages
            return {"error": f"{type(error).__name__}: {error}", "hint": ""}

    def close(self) -> None:
        """Close the logs of all sessions."""
        self._release(time.monotonic())

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await _line(reader):
                answer = self.answer(line) if line.endswith(b"\n") else {"error": "too large", "hint": ""}
                writer.write(msgspec.json.encode(answer) + b"\n")
                await writer.drain()
                if not line.endswith(b"\n"):
                    break
        except ConnectionError:
            pass
        finally:
            writer.close()

    def _do(self, asked: Asked) -> dict[str, Any]:
        match asked:
            case PingAsked():
                return {"version": __version__, "pid": os.getpid()}
            case EndAsked():
                self._ended.set()
                return {}
            case RecallAsked():
                return {"text": self._recall(asked)}
            case _:
                return self._with_view(asked)

    def _with_view(self, asked: ViewAsked) -> dict[str, Any]:
        key = asked.client, asked.session
        try:
            opened = self._opened(asked)
            if isinstance(asked, CompactAsked):
                more = {"too_long": asked.too_long, "automatic": asked.automatic, "parent": asked.parent}
                return {"brief": opened.compact(asked.messages, asked.limit, focus=asked.focus, **more)}
            view = opened.view(asked.messages, parent=asked.parent)
        except BaseException:
            self._close(key)  # it is read again from its log
            raise
        unchanged = view == list(range(len(asked.messages)))
        return {"view": None} if unchanged else {"view": view, "segments": opened.segments}

    def _opened(self, asked: ViewAsked) -> ClientView:
        """The open view of a session. It is opened again when the window or the kind of cache has changed."""
        key = asked.client, asked.session
        found = self._open.get(key)
        reserve = measured_reserve(asked.client, asked.messages, asked.window)
        if found and not found[0].fits(asked.window, reserve, caches_front=asked.caches_front):
            self._close(key)
            found = None
        opened = (
            found[0]
            if found
            else ClientView(
                self._stores.logs,
                asked.client,
                asked.session,
                folder=str(self._workspace.root),
                mask=self._mask,
                window=asked.window,
                reserve=reserve,
                caches_front=asked.caches_front,
                policy=self._policy,
                tasks=self._stores.tasks,
                memories=self._fitting_memories,
            )
        )
        self._open[key] = opened, time.monotonic()
        self._open.move_to_end(key)
        while len(self._open) > MAX_OPEN:
            self._close(next(iter(self._open)))
        return opened

    def _fitting_memories(self, words: str, in_view: str) -> str:
        """The memories that fit the user's words; none if they cannot be read, which is no reason to fail."""
        try:
            with closing(Memories.open(**self._workspace.store, heal=False)) as memories:
                return fitting_memories(memories, words, lambda: in_view)
        except OutliveError:
            return ""

    def _recall(self, asked: RecallAsked) -> str:
        session = SessionAdapter(self._session(asked), lambda _: None)
        handle, query = asked.handle.strip(), asked.query.strip()
        if not handle:
            return session.search(query)
        text, _ = session.recall(handle)
        text = matching_lines(text, query, handle) if query else text
        if len(text) <= MAX_ANSWER_CHARS:
            return text
        return f"{text[:MAX_ANSWER_CHARS]}\n[{len(text):,} characters in all: add a query for lines of the rest]"

    def _session(self, asked: RecallAsked) -> Session:
        """The open session, or a copy read from its log."""
        if found := self._open.get((asked.client, asked.session)):
            return found[0].log.session
        log = full_log(self._stores.logs, followed_id(asked.client, asked.session))
        return Session(Buffer(log.session), history=log.events)

    def _release(self, before: float) -> None:
        """Close the sessions without a request since then."""
        for key in [key for key, (_, used) in self._open.items() if used <= before]:
            self._close(key)

    def _close(self, key: tuple[str, str]) -> None:
        if found := self._open.pop(key, None):
            found[0].close()


async def _line(reader: asyncio.StreamReader) -> bytes:
    """The next line. A line that is too large is cut; at the end of the stream it is empty."""
    try:
        return await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError:
        return b""
    except asyncio.LimitOverrunError:
        return b"?"


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def serve(workspace: Workspace) -> Path | None:
    """Serve this workspace until requests stop; None if another process serves it already."""
    path = socket_path(workspace)
    private_folder(path.parent)
    held = lock(path)
    if held is None:
        return None
    try:
        asyncio.run(_serve(workspace, path))
    finally:
        with suppress(OSError):
            lock_path(path).unlink()
        os.close(held)
        with suppress(OSError):
            path.parent.rmdir()
    return path


async def _serve(workspace: Workspace, path: Path) -> None:
    await ClientServer(workspace).run(path)
