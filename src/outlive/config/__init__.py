"""Settings: the workspace, which of its files are trusted, and the user's own folder `~/.outlive`.

workspace.py  the folder that outlive works in, and the store it uses
sections.py   `outlive.toml`, section by section
dotenv.py     `.env`: which model to use, and with which key
mcp_server.py   an MCP server as settings name it
mcp_servers.py  the MCP servers of the user and of the project, and which of them count
home.py       the user's own folder, and which files the user has trusted
git.py        from a linked worktree to its main checkout
"""

from outlive.config.home import home
from outlive.config.workspace import Workspace, default_actor, default_owner

__all__ = ["Workspace", "default_actor", "default_owner", "home"]
