"""The MCP servers of a session: started in the background with the first run, ended with the session."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from outlive.config.mcp_servers import ConfiguredServer
from outlive.secrets import Masker
from outlive.tools.errors import ToolError
from outlive.tools.mcp.connection import ServerConnection
from outlive.tools.mcp.listing import all_in_full

STARTUP_WAIT_SECONDS = 10.0
"""How long the first run waits for servers whose tools belong into the system prompt."""


class McpServers:
    """Servers that the user allowed. Sub-agents share those of their parent."""

    def __init__(
        self, named: Sequence[ConfiguredServer], root: Path, note: Callable[[str], None], mask: Masker
    ) -> None:
        self.connections = {server.name: ServerConnection(server, root, note, mask) for server in named}
        self._begun = False
        self._listing: str | None = None

    async def begin(self) -> None:
        """Connect in the background. Waits only for servers that are not deferred, once and within a bound."""
        if self._begun:
            return
        self._begun = True
        for connection in self.connections.values():
            connection.start()
        if eager := [connection for connection in self.connections.values() if not connection.named.server.defer]:
            await asyncio.gather(*(_ready(connection) for connection in eager))
            self._listing = all_in_full(connection for connection in eager if connection.state == "ready")

    @property
    def listing(self) -> str:
        """The tools that are not deferred, as a section of the system prompt. It stays the same in a session."""
        return f"Tools of MCP servers (call them with mcp_call)\n{self._listing}" if self._listing else ""

    def get(self, name: str) -> ServerConnection:
        """The server of that name. Raises ToolError with the known names."""
        if name not in self.connections:
            raise ToolError(f"there is no MCP server {name[:80]!r}; the servers are: {', '.join(self.connections)}")
        return self.connections[name]

    async def close(self) -> None:
        await asyncio.gather(*(connection.close() for connection in self.connections.values()))


async def _ready(connection: ServerConnection) -> None:
    with suppress(ToolError):
        await connection.ready(STARTUP_WAIT_SECONDS)
