"""`outlive` without a command: a conversation with the agent, in the terminal or over plain lines.

talk.py     the open session and the actions of a person on it; independent of the terminal
render/     from events to lines: transcript.py, flow.py (Markdown), cards.py (tool calls), progress.py, screen.py
keys.py, entering.py, input/       keys; completion, history, pastes, images, the user's editor
picker/, choices.py                lists to choose from, and their rows
preferences.py, attention.py       the settings of the terminal; its title, bell and notifications
status.py, recap.py, question.py   other things shown
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
from outlive.cli.chat.preferences import Preferences
from outlive.cli.chat.preferences import preferences as configured
from outlive.errors import ConfigError

if TYPE_CHECKING:
    from outlive.cli.chat.picker.catalog import CatalogEntry
    from outlive.cli.chat.talk import ChatSetup, OpenAgent
    from outlive.models.protocol import Model
    from outlive.stores.logs.protocol import LogStore, SessionInfo


def chat(
    open_agent: "OpenAgent",
    *,
    store: "LogStore",
    root: Path,
    session: str | None = None,
    first: str = "",
    choose: "Callable[[str], Model] | None" = None,
    catalog: "Callable[[], list[CatalogEntry]]" = list,
    preferences: Preferences | None = None,
) -> int:
    """Talk until the user leaves; returns the exit code.

    `open_agent` opens a new session (None) or the session with an id. `session` is the session to begin with,
    `first` the first input. `choose` finds the model for /model, `catalog` lists those to choose from.
    """
    _check_installed()
    from outlive.cli.chat.talk import ChatSetup

    setup = ChatSetup(open_agent, store, root, __version__, choose, catalog, preferences or configured({}))
    return asyncio.run(_talk(setup, session, first))


async def _talk(setup: "ChatSetup", session: str | None, first: str) -> int:
    if _can_draw(setup.preferences):
        from outlive.cli.chat.render.screen import Screen

        return await Screen(setup).run(session, first)
    from outlive.cli.chat.lines import LineChat

    return await LineChat(setup, width=shutil.get_terminal_size().columns).run(session, first)


def choose_session(store: "LogStore", infos: "list[SessionInfo]", preferences: Preferences) -> str | None:
    """Let the user choose one of the sessions; returns its id, or None if the user leaves the list."""
    _check_installed()
    from outlive.cli.chat.choices import session_rows
    from outlive.cli.chat.picker import alone

    pick = alone.pick_in_terminal if _can_draw(preferences) else alone.pick_on_lines
    row = asyncio.run(pick("session", session_rows(store, infos), preferences.theme))
    return row.value if row else None


def _check_installed() -> None:
    missing = [name for name in ("prompt_toolkit", "rich") if find_spec(name) is None]
    if missing:
        raise ConfigError(f"the terminal needs {' and '.join(missing)}: pip install 'outlive[terminal]'")


def _can_draw(preferences: Preferences) -> bool:
    """Whether there is a terminal that can be drawn on, and the user wants that."""
    terminal = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return terminal and not preferences.plain
