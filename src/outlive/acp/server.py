"""Handles an editor's requests and its open sessions. Every error is answered with a message and the way out."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from acp.connection import Connection
from acp.schema import (
    AgentCapabilities,
    CancelNotification,
    CloseSessionRequest,
    CloseSessionResponse,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    LoadSessionRequest,
    LoadSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptCapabilities,
    PromptRequest,
    PromptResponse,
    RequestPermissionRequest,
    RequestPermissionResponse,
    ResumeSessionRequest,
    ResumeSessionResponse,
    SessionAdditionalDirectoriesCapabilities,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionNotification,
    SessionResumeCapabilities,
    SetSessionModeRequest,
    SetSessionModeResponse,
)
from acp.utils import serialize_params
from pydantic import BaseModel, ValidationError

from acp import PROTOCOL_VERSION, RequestError
from outlive import __version__
from outlive.acp.editor_session import EditorSession
from outlive.acp.prompts import INVALID_PARAMS, invalid, prompt_blocks
from outlive.acp.stdio import Stdio
from outlive.agent.factory import AgentOptions
from outlive.config import Workspace
from outlive.ending import terminations
from outlive.errors import ConfigError, OutliveError
from outlive.printable import one_line
from outlive.stores import open_stores
from outlive.stores.logs.names import is_subagent
from outlive.stores.logs.protocol import UnknownSession

UNKNOWN_METHOD, INTERNAL_ERROR, NOT_FOUND = -32601, -32603, -32002
SESSIONS_PER_PAGE = 50
"""Sessions on one page of the list."""
MAX_PROBLEMS_NAMED = 3  # the first ones: an editor shows an error in one line
Opening = NewSessionRequest | LoadSessionRequest | ResumeSessionRequest


async def serve(options: AgentOptions, store: str | None) -> None:
    """Answer an editor until it closes its end or a signal ends the process."""
    logging.basicConfig(handlers=[_OneLine(sys.stderr)])
    server = AcpServer(options, store, await Stdio.open())
    loop, listening = asyncio.get_running_loop(), asyncio.ensure_future(server.connection.main_loop())

    def stop() -> None:
        if not listening.cancel():
            os._exit(130)  # the second signal: the log is on disk

    for number in (signal.SIGINT, *terminations()):
        loop.add_signal_handler(number, stop)
    with suppress(asyncio.CancelledError):
        await listening
    await server.close()


class _OneLine(logging.StreamHandler[Any]):
    """Formats internal errors on one line each: editors show standard error to people."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        return one_line(f"outlive acp: {record.getMessage()}{f': {error!r}' if error else ''}", 500)


class AcpServer:
    def __init__(self, options: AgentOptions, store: str | None, stdio: Stdio) -> None:
        self._options = options
        self._store = store
        self._sessions: dict[str, EditorSession] = {}
        self.connection = Connection(self._handle, stdio, listening=False)
        self._methods: dict[str, tuple[type[BaseModel], Callable[[Any], Awaitable[BaseModel | None]]]] = {
            "initialize": (InitializeRequest, self._initialize),
            "session/new": (NewSessionRequest, self._new),
            "session/load": (LoadSessionRequest, self._load),
            "session/resume": (ResumeSessionRequest, self._resume),
            "session/list": (ListSessionsRequest, self._list),
            "session/close": (CloseSessionRequest, self._close),
            "session/set_mode": (SetSessionModeRequest, self._set_mode),
            "session/prompt": (PromptRequest, self._prompt),
            "session/cancel": (CancelNotification, self._cancel),
        }

    async def close(self) -> None:
        """Stop all runs, release the sessions and the connection."""
        closed = await asyncio.gather(
            *(session.close() for session in self._sessions.values()), return_exceptions=True
        )
        for problem in filter(None, closed):
            logging.getLogger("outlive").error("a session was not closed: %s", problem)
        await self.connection.close()

    async def _handle(self, method: str, params: Any, is_notification: bool) -> BaseModel | None:
        try:
            if method not in self._methods:
                raise RequestError(UNKNOWN_METHOD, f"there is no method {one_line(method, 100)!r}")
            model, function = self._methods[method]
            return await function(model.model_validate(params or {}))
        except Exception as error:  # noqa: BLE001 - a bug must not end the other sessions
            if is_notification:
                if method in self._methods:
                    logging.getLogger("outlive").warning("%s: %s", method, error)
                return None
            raise _answer(error) from None

    # -- the requests

    async def _initialize(self, request: InitializeRequest) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=Implementation(name="outlive", title="outlive", version=__version__),
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(image=True, embedded_context=True),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    resume=SessionResumeCapabilities(),
                    close=SessionCloseCapabilities(),
                    additional_directories=SessionAdditionalDirectoriesCapabilities(),
                ),
            ),
            auth_methods=[],
        )

    async def _new(self, request: NewSessionRequest) -> NewSessionResponse:
        session = self._open(request, None)
        return NewSessionResponse(session_id=session.id, modes=session.modes)

    async def _load(self, request: LoadSessionRequest) -> LoadSessionResponse:
        session = await self._reopened(request)
        await session.replay()
        return LoadSessionResponse(modes=session.modes)

    async def _resume(self, request: ResumeSessionRequest) -> ResumeSessionResponse:
        return ResumeSessionResponse(modes=(await self._reopened(request)).modes)

    async def _list(self, request: ListSessionsRequest) -> ListSessionsResponse:
        folder = _folder(request.cwd) if request.cwd is not None else Path.cwd()
        workspace = Workspace.find(folder, store=self._store)
        with closing(open_stores(**workspace.store).logs) as logs:
            known = [info for info in logs.sessions() if not (info.replay or info.unused or is_subagent(info.id))]
        if request.cwd is not None:
            known = [info for info in known if not info.folder or Path(info.folder) == workspace.root]
        if request.cursor is not None and request.cursor not in (info.id for info in known):
            raise invalid(f"cursor: {one_line(request.cursor, 100)!r} is not one that was given")
        start = next((at for at, info in enumerate(known, 1) if info.id == request.cursor), 0)
        page = known[start : start + SESSIONS_PER_PAGE]
        sessions = [
            SessionInfo(
                session_id=info.id,
                cwd=info.folder or str(workspace.root),
                title=one_line(info.title) or None,
                updated_at=datetime.fromtimestamp(info.updated, UTC).isoformat(),
            )
            for info in page
        ]
        more = page[-1].id if known[start + SESSIONS_PER_PAGE :] else None
        return ListSessionsResponse(sessions=sessions, next_cursor=more)

    async def _close(self, request: CloseSessionRequest) -> CloseSessionResponse:
        session = self._session(request.session_id)
        del self._sessions[session.id]
        await session.close()
        return CloseSessionResponse()

    async def _set_mode(self, request: SetSessionModeRequest) -> SetSessionModeResponse:
        self._session(request.session_id).set_mode(request.mode_id)
        return SetSessionModeResponse()

    async def _prompt(self, request: PromptRequest) -> PromptResponse:
        return await self._session(request.session_id).prompt(prompt_blocks(request.prompt))

    async def _cancel(self, request: CancelNotification) -> None:
        self._session(request.session_id).cancel()

    # -- sessions

    def _session(self, id: str) -> EditorSession:
        if id not in self._sessions:
            raise UnknownSession(f"session {one_line(id, 100)!r} is not open", hint="load it first")
        return self._sessions[id]

    async def _reopened(self, request: LoadSessionRequest | ResumeSessionRequest) -> EditorSession:
        """Reopen an earlier session. If it is open here, it is closed first: the editor forgot it."""
        if earlier := self._sessions.pop(request.session_id, None):
            await earlier.close()
        return self._open(request, request.session_id)

    def _open(self, request: Opening, session: str | None) -> EditorSession:
        folder = _folder(request.cwd)
        extra = tuple(str(_folder(name)) for name in request.additional_directories or ())
        opened = EditorSession(
            folder,
            self._options,
            self._store,
            session=session,
            add_dirs=extra,
            tell=self._tell,
            ask=self._ask,
        )
        if names := [one_line(server.name, 60) for server in request.mcp_servers or ()]:
            opened.notices.append(f"the editor's MCP servers are not connected: {', '.join(names)}")
        self._sessions[opened.id] = opened
        opened.announce()
        return opened

    async def _tell(self, session: str, update: Any) -> None:
        params = serialize_params(SessionNotification(session_id=session, update=update))
        await self.connection.send_notification("session/update", params)

    async def _ask(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
        answer = await self.connection.send_request("session/request_permission", serialize_params(request))
        return RequestPermissionResponse.model_validate(answer)


def _folder(path: str) -> Path:
    if not Path(path).is_absolute():
        raise ConfigError(f"{one_line(path, 200)!r} is not an absolute path")
    if not Path(path).is_dir():
        raise ConfigError(f"there is no folder {one_line(path, 200)!r}")
    return Path(path)


def _answer(error: Exception) -> RequestError:
    """An error in the form that the editor shows."""
    match error:
        case RequestError():
            return error
        case ValidationError():
            problems = [
                f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
                for problem in error.errors(include_input=False)
            ]
            return RequestError(INVALID_PARAMS, one_line("; ".join(problems[:MAX_PROBLEMS_NAMED]), 500))
        case OutliveError():
            code = NOT_FOUND if isinstance(error, UnknownSession) else INTERNAL_ERROR
            code = INVALID_PARAMS if isinstance(error, ConfigError) else code
            return RequestError(code, str(error), {"code": error.code, "hint": error.hint})
        case _:
            logging.getLogger("outlive").error("%s", error, exc_info=error)
            return RequestError(INTERNAL_ERROR, f"{type(error).__name__}: {error}")
