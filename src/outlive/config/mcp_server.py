"""One MCP server as settings name it: the table `[mcp.servers.NAME]`, or an entry of `.mcp.json`."""

import re
import shlex
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from outlive.errors import ConfigError

CALL_TIMEOUT_SECONDS = 120.0  # as long as a bash command by default
_NAME = re.compile(r"(?!.*__)[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9-])?")
"""So that `mcp__server__tool` names one tool: no `__` inside, no `_` at an end."""
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class McpServer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One server: a program that is started (`command`), or an address (`url`)."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    type: Literal["stdio", "http", "streamable-http", "streamableHttp"] | None = None
    url: str = ""
    headers: dict[str, str] = {}
    timeout: Annotated[float, Meta(gt=0, le=3600)] = CALL_TIMEOUT_SECONDS
    """Seconds of a call."""
    defer: bool | None = None
    """Whether the model looks its tools up; False puts them into the system prompt."""

    @property
    def variables(self) -> list[str]:
        """The variables of the user's environment that it is given."""
        texts = (self.command, self.url, *self.args, *self.env.values(), *self.headers.values())
        return sorted({found[1] for text in texts for found in VARIABLE.finditer(text)})

    def described(self) -> str:
        """One line for people. Secrets and values of headers are not shown."""
        from outlive.printable import one_line
        from outlive.secrets import mask

        what = one_line(mask(self.url or shlex.join((self.command, *self.args))))
        sets = (one_line(mask(f"{name}={value}")) for name, value in self.env.items())
        notes = [f"sets {', '.join(sets)}"] if self.env else []
        notes += [f"sends {', '.join(self.headers)}"] if self.headers else []
        notes += [f"gets {', '.join(self.variables)} of your environment"] if self.variables else []
        return f"{what} ({'; '.join(notes)})" if notes else what


def read_server(name: str, form: Any) -> McpServer:
    """A server from its table. Raises ConfigError that says what is wrong."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"MCP server {name[:80]!r}: a name has letters, digits, - and single _, and no _ at an end")
    try:
        server = msgspec.convert(form, McpServer)
    except msgspec.ValidationError as error:
        raise ConfigError(f"MCP server {name}: {error}; it takes {', '.join(McpServer.__struct_fields__)}") from None
    by_url = bool(server.url) if server.type is None else server.type != "stdio"
    if bool(server.command) == by_url or bool(server.url) != by_url:
        raise ConfigError(f"MCP server {name}: it takes either command (and args, env) or url (and headers)")
    if server.url and "${" not in server.url and not _is_web(server.url):
        raise ConfigError(f"MCP server {name}: url must begin with http:// or https:// and name a host")
    return server


def servers_of(section: Mapping[str, Any]) -> dict[str, McpServer]:
    """The servers of an `[mcp]` section. Raises ConfigError."""
    return {name: read_server(name, form) for name, form in section.get("servers", {}).items()}


def server_lines(servers: Mapping[str, McpServer]) -> list[str]:
    """What each server does, for people who are asked to trust it."""
    return [
        f"{'connect to' if server.url else 'start'} MCP server {name}: {server.described()}"
        for name, server in servers.items()
    ]


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
