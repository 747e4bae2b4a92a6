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

LISTED_SECONDS = 10.0
"""How long the first run waits for servers whose tools belong into the system prompt."""


class McpServers:
    """Servers that the user allowed. Sub-agents share those of their parent."""

    def __init__(
        self, named: Sequence[ConfiguredServer], root: Path, note: Callable[[str], None], mask: Masker
    ) -> None:
        self.connections = {one.name: ServerConnection(one, root, note, mask) for one in named}
        self._begun = False
        self._listing: str | None = None

    async def begin(self) -> None:
        """Connect in the background. Waits only for servers that are not deferred, once and within a bound."""
        if self._begun:
            return
        self._begun = True
        for connection in self.connections.values():
            connection.start()
        if eager := [one for one in self.connections.values() if not one.named.server.defer]:
            await asyncio.gather(*(_ready(one) for one in eager))
            self._listing = all_in_full(one for one in eager if one.state == "ready")

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
        await asyncio.gather(*(one.close() for one in self.connections.values()))


async def _ready(connection: ServerConnection) -> None:
    with suppress(ToolError):
        await connection.ready(LISTED_SECONDS)
