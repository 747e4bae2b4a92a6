"""Settings: where the workspace is, which of its files count, and what the user keeps in `~/.outlive`.

workspace.py  the folder that outlive works in, and the store it uses
sections.py   `outlive.toml`, section by section
dotenv.py     `.env`: which model answers, and with which key
home.py       the user's own folder, and which files the user has trusted
git.py        from a linked worktree to its main checkout
"""

from outlive.config.home import home
from outlive.config.workspace import Workspace, default_actor, default_owner

__all__ = ["Workspace", "default_actor", "default_owner", "home"]
