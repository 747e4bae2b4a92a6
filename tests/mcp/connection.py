"""A client of the real server, usable from tests that are not asynchronous; and a workspace with a past."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent, TextResourceContents

from outlive.agent import Session
from outlive.events import DirectiveGiven, GoalSet, ModeChanged
from outlive.stores.logs.files import FileLogStore
from outlive.tools.permissions.modes import remember_mode
from tests.talk import Ticks, step

RUN = (sys.executable, "-m", "outlive")


class Connection:
    """One client, connected."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal = portal
        self.client = client

    def result(self, tool: str, **arguments: Any) -> CallToolResult:
        found = self.portal.call(self.client.call_tool, tool, arguments)
        assert isinstance(found, CallToolResult)
        return found

    def __call__(self, tool: str, **arguments: Any) -> str:
        """The text of an answer that is no error."""
        result = self.result(tool, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    def refused(self, tool: str, **arguments: Any) -> str:
        """The text of an error: one sentence or two, and nothing of Python's."""
        result = self.result(tool, **arguments)
        assert result.is_error, text_of(result)
        assert "Traceback" not in text_of(result)
        return text_of(result)

    def resource(self, uri: str) -> str:
        (contents,) = self.portal.call(self.client.read_resource, uri).contents
        assert isinstance(contents, TextResourceContents)
        return contents.text

    def prompt(self, name: str, **arguments: str) -> str:
        (message,) = self.portal.call(self.client.get_prompt, name, arguments).messages
        assert isinstance(message.content, TextContent)
        return message.content.text


def text_of(result: CallToolResult) -> str:
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


def variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(("OUTLIVE_", "HOME"))}


@contextmanager
def over_stdio(folder: Path, environment: dict[str, str] | None = None, **options: Any) -> Iterator[Connection]:
    """A server of its own in this folder, and its client with these options."""
    env = variables() | (environment or {})
    server = StdioServerParameters(command=RUN[0], args=[*RUN[1:], "mcp"], cwd=folder, env=env)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server, **options)) as client:
        yield Connection(portal, client)


class HttpServer:
    """A server that listens."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [*RUN, "mcp", "--http", "--json", *options],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        self.said: dict[str, str] = json.loads(line)
        self.url, self.token = self.said["url"], self.said["token"]

    @contextmanager
    def client(self, *, mode: str = "auto") -> Iterator[Connection]:
        import httpx2

        with start_blocking_portal() as portal:
            headers = {"Authorization": f"Bearer {self.token}"}
            http = portal.wrap_async_context_manager(httpx2.AsyncClient(headers=headers, timeout=60))
            with http as opened:
                transport = streamable_http_client(self.url, http_client=opened)
                with portal.wrap_async_context_manager(Client(transport, mode=mode)) as client:
                    yield Connection(portal, client)

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate()


def with_past(folder: Path) -> None:
    """Two sessions: an old one, and a newer one of the user with a goal, an instruction and a large result."""
    store = FileLogStore(folder, durability="process")
    with Session.start(store, id="old", clock=Ticks()) as session:
        session.user_said("an older session about bananas")
    with Session.start(store, id="new", clock=Ticks(2_000_000.0)) as session:
        session.user_said("Where is the Größe of the café defined? 名前\r\nNo idea\ttabs \u202e ")
        session.log(ModeChanged, mode="bypass")
        session.log(GoalSet, goal="find the café")
        session.log(DirectiveGiven, text="never touch the harbour", pinned=False)
        step(session, 1, lines=90)
    remember_mode(folder, "new", "ask")
