"""The MCP servers that settings name: `[mcp.servers.NAME]` of outlive.toml, and `.mcp.json` as Claude Code writes it.

A server runs a program or receives data, so those of a project count only after `outlive trust`, with the content
that was trusted. The user's own settings win over a project's server of the same name: allow rules go by that name.
"""

import os
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from outlive.config.dotenv import KEY_VARIABLES
from outlive.config.home import home, read_settings, trusted
from outlive.config.mcp_server import VARIABLE, McpServer, read_server, server_lines, servers_of
from outlive.config.workspace import Workspace
from outlive.errors import ConfigError
from outlive.printable import some

MCP_JSON = ".mcp.json"


class ConfiguredServer(NamedTuple):
    """A server, the file that names it, and whether it counts and why."""

    name: str
    server: McpServer
    source: str
    own: bool
    """Named in the user's own settings."""
    counts: bool
    why: str

    def expanded(self) -> McpServer:
        """The server with `${NAME}` and `${NAME:-default}` filled in from the environment. Raises ConfigError for a
        missing variable, and for a key of the model's provider in a project's file."""

        def value(found: re.Match[str]) -> str:
            name, default = found.groups()
            if name in KEY_VARIABLES and not self.own:
                raise ConfigError(f"{self.source}: MCP server {self.name} asks for {name}, which pays for the model")
            text = os.environ.get(name) or default
            if text is None:
                raise ConfigError(f"{self.source}: MCP server {self.name} needs {name}, which is not set")
            return text

        def fill(text: str) -> str:
            return VARIABLE.sub(value, text)

        server = self.server
        return replace(
            server,
            command=fill(server.command),
            args=tuple(map(fill, server.args)),
            env={name: fill(text) for name, text in server.env.items()},
            url=fill(server.url),
            headers={name: fill(text) for name, text in server.headers.items()},
        )

    def secrets(self) -> dict[str, str]:
        """Values to be masked by their names; of a header the last word, which is the token. Plain words are none."""
        try:
            server = self.expanded()
        except ConfigError:
            return {}
        headers = {name: value.rpartition(" ")[2] for name, value in server.headers.items()}
        return {name: value for name, value in (server.env | headers).items() if not value.isalpha()}


class McpJson:
    """`.mcp.json` of a workspace; a linked worktree without one uses that of its main checkout."""

    def __init__(self, workspace: Workspace) -> None:
        own = workspace.root / MCP_JSON
        self.path = own if os.path.lexists(own) else workspace.project / MCP_JSON
        self.servers: dict[str, McpServer] = {}
        self.problems: list[str] = []
        """What is wrong with it: a damaged file or server is named, the rest counts."""
        self.digest = ""
        """SHA-256 of the file; empty if it names no server."""
        try:
            raw = read_settings(self.path)
            form = {} if raw is None else msgspec.json.decode(raw, type=_Document).servers
        except (ConfigError, msgspec.DecodeError, RecursionError) as error:
            text = str(error) if isinstance(error, ConfigError) else f"{self.path}: {error}"
            self.problems = [f"{text}; its MCP servers do not count"]
            return
        for name, entry in form.items():
            try:
                known = {key: value for key, value in entry.items() if key in McpServer.__struct_fields__}
                self.servers[name] = read_server(name, known)
            except (AttributeError, ConfigError) as error:
                problem = str(error) if isinstance(error, ConfigError) else "is not a table"
                self.problems.append(f"{self.path}: {problem}")
        self.digest = sha256(raw).hexdigest() if raw and self.servers else ""

    @property
    def trusted(self) -> bool:
        return bool(self.digest) and trusted(self.path, self.digest)

    def lines(self) -> list[str]:
        """What trusting it allows, a line each."""
        return server_lines(self.servers)


class _Document(Struct):
    servers: dict[str, Any] = msgspec.field(name="mcpServers", default_factory=dict)


def configured_servers(workspace: Workspace) -> list[ConfiguredServer]:
    """Every server that is named, the user's own first, with `defer` settled."""
    mine, theirs = Workspace.read(home()).mcp, workspace.mcp if workspace.trusted else {}
    default = {**mine, **theirs}.get("defer", True)
    found: dict[str, ConfiguredServer] = {}
    listed = []
    for named in _named(workspace, mine):
        if named.counts and (first := found.setdefault(named.name, named)) is not named:
            named = named._replace(counts=False, why=f"{first.source} names one of the same name")
        server = named.server if named.server.defer is not None else replace(named.server, defer=default)
        listed.append(named._replace(server=server))
    return listed


def _named(workspace: Workspace, mine: Mapping[str, Any]) -> Iterator[ConfiguredServer]:
    for name, server in servers_of(mine).items():
        source = str(home() / workspace.file.name)
        yield ConfiguredServer(name, server, source, True, True, "your own settings")
    beside = McpJson(workspace)
    for path, servers, counts in (
        (workspace.file, servers_of(workspace.mcp), workspace.trusted),
        (beside.path, beside.servers, beside.trusted),
    ):
        why = "you have trusted the file as it is now" if counts else "not trusted. Look at it, then: outlive trust"
        for name, server in servers.items():
            yield ConfiguredServer(name, server, str(path), False, counts, why)


def untrusted_notice(workspace: Workspace) -> list[str]:
    """Lines about `.mcp.json` for the user: servers that do not count yet, and what is wrong with the file."""
    beside = McpJson(workspace)
    if not beside.servers or beside.trusted:
        return beside.problems
    text = f"{beside.path} is not trusted, so these MCP servers are not started: {some([*beside.servers])}"
    return [*beside.problems, f"{text}. Look at it, then: outlive trust"]
