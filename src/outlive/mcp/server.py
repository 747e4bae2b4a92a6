"""The server on the official SDK: lists, calls, resources and prompts, over stdio. What answers is loaded when first
needed, so that clients get the lists early."""

import asyncio
import logging
import os
import re
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import mcp_types as types
from mcp.server import CacheHint, Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from outlive import __version__
from outlive.clients import KEEP_RESULT
from outlive.ending import terminations
from outlive.errors import OutliveError
from outlive.mcp import texts
from outlive.mcp.backend import Backend
from outlive.mcp.calls import TOOLS, input_schema
from outlive.mcp.changes import Changes
from outlive.mcp.hooks import HookSocket
from outlive.mcp.texts import READY, STATE

if TYPE_CHECKING:
    from outlive.mcp.tools import CallAnswer

T = TypeVar("T")
PLAIN = "text/plain"
HOUR = 3_600_000  # milliseconds that a client may keep lists of tools, which change with a restart only
GRACE = 2.0
"""Seconds that a call may still take when the server is ended."""
_HALF = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)
"""One half of a surrogate pair without the other, as JSON escapes it; the backslashes before it are not its own."""
_SESSION = types.PromptArgument(name="session", description="The id of a session; the newest if not given.")
_Context = ServerRequestContext[Any, Any]
_log = logging.getLogger(__name__)


class OutliveServer:
    """One workspace for MCP clients. All work on stores is done by one thread, one call after the other."""

    def __init__(self, *, store: str | None = None, shared: bool = False) -> None:
        self.backend = Backend(store=store, shared=shared)
        self.changes = Changes(lambda: Backend(store=store))
        self._worker = ThreadPoolExecutor(1, "outlive stores")
        self.hooks = HookSocket(self._answer_hook)
        fixed = CacheHint(ttl_ms=HOUR, scope="public")
        self.protocol: Server[Any] = Server(
            "outlive",
            version=__version__,
            instructions=texts.INSTRUCTIONS,
            cache_hints={"tools/list": fixed, "prompts/list": fixed, "resources/list": fixed},
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self.changes.subscribe,
            on_unsubscribe_resource=self.changes.unsubscribe,
            on_subscriptions_listen=self.changes.listen,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    def close(self) -> None:
        """End subscriptions, let the call that runs finish, and close the stores."""
        self.hooks.close()
        self.changes.close()
        with suppress(TimeoutError):
            self._worker.submit(self.backend.close).result(GRACE)
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _run(self, function: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, function, *arguments)

    # -- tools

    async def _list_tools(self, _: _Context, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(name) for name in TOOLS])

    async def _call_tool(self, _: _Context, given: types.CallToolRequestParams) -> types.CallToolResult:
        if given.name == KEEP_RESULT:
            text = await self._keep_result(given.arguments or {})
            return types.CallToolResult(content=[types.TextContent(text=text)])
        answer = await self._run(self._answer, given.name, given.arguments)
        content: list[types.ContentBlock] = [types.TextContent(text=answer.text)]
        if answer.image is not None and answer.image.data:
            content.append(types.ImageContent(data=answer.image.data, mime_type=answer.image.media_type))
        return types.CallToolResult(content=content, is_error=answer.is_error)

    async def _keep_result(self, arguments: dict[str, Any]) -> str:
        from outlive.clients.hook import keep_result, owner_of

        client = owner_of(arguments.get("transcript_path"))
        if not client:
            return ""
        self.backend.asked_by(client, arguments.get("session_id"))
        return await self._run(keep_result, client, arguments)

    async def _answer_hook(self, client: str, event: dict[str, Any]) -> str:
        from outlive.clients.hook import answered_by_server

        self.backend.asked_by(client, event.get("session_id"))
        return await self._run(answered_by_server, client, event)

    def _answer(self, name: str, arguments: dict[str, Any] | None) -> "CallAnswer":
        from outlive.mcp.tools import call

        return call(name, arguments, self.backend)

    # -- resources

    async def _list_resources(self, _: _Context, __: object) -> types.ListResourcesResult:
        state = "Goal, plan, standing instructions and files of the newest session; ready tasks."
        ready = "What can be started now."
        return types.ListResourcesResult(
            resources=[
                types.Resource(name="state", uri=STATE, mime_type=PLAIN, description=state),
                types.Resource(name="ready tasks", uri=READY, mime_type=PLAIN, description=ready),
            ]
        )

    async def _list_templates(self, _: _Context, __: object) -> types.ListResourceTemplatesResult:
        page = types.ResourceTemplate(
            name="handle",
            uri_template="outlive://h/{number}",
            mime_type=PLAIN,
            description="The exact text behind @h{number} in the newest session.",
        )
        return types.ListResourceTemplatesResult(resource_templates=[page])

    async def _read_resource(self, _: _Context, given: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(given.uri)
        text = await self._text(uri[:200], self._resource, uri)
        contents = types.TextResourceContents(uri=uri, mime_type=PLAIN, text=text)
        return types.ReadResourceResult(contents=[contents])

    def _resource(self, uri: str) -> str:
        from outlive.mcp.reading import resource_text

        return resource_text(uri, self.backend)

    # -- prompts

    async def _list_prompts(self, _: _Context, __: object) -> types.ListPromptsResult:
        handover = "Leave the work so that another agent can go on: tasks, results, what to remember."
        resume = "Go on with a session: what was asked, done and left open, with handles."
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(name="handover", description=handover),
                types.Prompt(name="resume", description=resume, arguments=[_SESSION]),
            ]
        )

    async def _get_prompt(self, _: _Context, given: types.GetPromptRequestParams) -> types.GetPromptResult:
        session = (given.arguments or {}).get("session", "")
        text = await self._text(given.name[:200], self._prompt, given.name, session)
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(messages=[message])

    def _prompt(self, name: str, session: str) -> str:
        from outlive.mcp.reading import prompt_text

        return prompt_text(name, session, self.backend)

    async def _text(self, what: str, function: Callable[..., str], *arguments: Any) -> str:
        try:
            return await self._run(function, *arguments)
        except Exception as error:  # noqa: BLE001 - a client gets a message, never a traceback
            from outlive.mcp.tools import failure

            code = types.INVALID_PARAMS if isinstance(error, OutliveError) else types.INTERNAL_ERROR
            raise MCPError(code, failure(what, error)) from None


def _tool(name: str) -> types.Tool:
    tool = TOOLS[name]
    if tool.reads:
        hints = types.ToolAnnotations(read_only_hint=True)
    else:  # nothing is deleted, and what was there before is in the history
        hints = types.ToolAnnotations(destructive_hint=False, open_world_hint=False)
    return types.Tool(name=name, description=tool.description, input_schema=input_schema(name), annotations=hints)


class ClientLines(TextIOWrapper):
    """What a client writes. Half of a character, which a client that cuts its texts may send, would make a line
    unreadable, and the client would wait for ever."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override] # narrower than the base, which any caller fits
        return _HALF.sub(r"\1\\ufffd", super().readline(size))


def run_stdio(server: OutliveServer) -> None:
    """Serve one client until it closes our standard input, or until SIGINT or SIGTERM."""
    lost = ""
    try:
        asyncio.run(_stdio(server))
    except* BrokenPipeError:
        _log.warning("the client was gone before it had its answer")
    except* OSError as errors:
        lost = str(errors.exceptions[0])
    finally:
        server.close()
    if lost:
        raise OutliveError(f"the client cannot be answered: {lost}")


async def _stdio(server: OutliveServer) -> None:
    def leave() -> None:
        # The thread that waits for standard input cannot be woken, so the process ends here.
        server.close()
        os._exit(0)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, *terminations()):
        loop.add_signal_handler(number, leave)
    lines = anyio.wrap_file(ClientLines(sys.stdin.buffer, encoding="utf-8", errors="replace"))
    await server.hooks.listen()
    async with stdio_server(stdin=lines) as (reading, writing):
        await server.protocol.run(reading, writing, server.protocol.create_initialization_options())
