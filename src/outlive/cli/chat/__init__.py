"""`outlive` without a command: a conversation with the agent, in the terminal or over plain lines.

talk.py     the open session and the actions of a person on it; independent of the terminal
render/     from events to lines: transcript.py, flow.py (Markdown), cards.py (tool calls), progress.py, screen.py
keys.py, completing.py, history.py, pasting.py   input
status.py, recap.py, question.py                 other things shown
lines.py    the conversation without a terminal
slash/      the slash commands
"""

import asyncio
import os
import shutil
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from outlive import __version__
from outlive.errors import ConfigError

if TYPE_CHECKING:
    from outlive.cli.chat.talk import ChatSetup, OpenAgent
    from outlive.models.protocol import Model
    from outlive.stores.logs.protocol import LogStore


def chat(
    open_agent: "OpenAgent",
    *,
    store: "LogStore",
    root: Path,
    session: str | None = None,
    first: str = "",
    choose: "Callable[[str], Model] | None" = None,
) -> int:
    """Talk until the user leaves; returns the exit code.

    `open_agent` opens a new session (None) or the session with an id. `session` is the session to begin with,
    `first` the first input. `choose` finds the model for /model.
    """
    missing = [name for name in ("prompt_toolkit", "rich") if find_spec(name) is None]
    if missing:
        raise ConfigError(f"the terminal needs {' and '.join(missing)}: pip install 'outlive[terminal]'")
    from outlive.cli.chat.talk import ChatSetup

    setup = ChatSetup(open_agent, store, root, __version__, choose)
    return asyncio.run(_talk(setup, session, first))


async def _talk(setup: "ChatSetup", session: str | None, first: str) -> int:
    if sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from outlive.cli.chat.render.screen import Screen

        return await Screen(setup, "mono" if os.environ.get("NO_COLOR") else "colour").run(session, first)
    from outlive.cli.chat.lines import LineChat

    return await LineChat(setup, width=shutil.get_terminal_size().columns).run(session, first)
