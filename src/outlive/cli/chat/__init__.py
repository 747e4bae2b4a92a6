"""`outlive` without a command: a conversation with the agent, in the terminal or over plain lines.

talk.py        the agent of the moment and what a person may do with it; knows no terminal
transcript.py  events in, finished items out · flow.py Markdown as it arrives · cards.py, diffs.py tool calls
under_way.py   what is not finished yet · status.py, recap.py, question.py the rest of what is shown
screen.py      the terminal · keys.py, completing.py, history.py, pasting.py input · output.py, overheard.py output
lines.py       without a terminal
slash/         the slash commands
paint.py      nothing untrusted reaches the terminal but as text
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
    from outlive.cli.chat.talk import OpenAgent, Surroundings
    from outlive.models.protocol import Model
    from outlive.stores.logs.protocol import LogStore

NEEDED = ("prompt_toolkit", "rich")


def chat(
    open_agent: "OpenAgent",
    *,
    store: "LogStore",
    root: Path,
    session: str | None = None,
    first: str | None = None,
    choose: "Callable[[str], Model] | None" = None,
) -> int:
    """Talk until the user leaves; returns the exit code.

    `open_agent` opens a new session (None) or the one of that id, with the face to ask for permissions. `session` is
    the one to begin with, `first` what to say first. `choose` finds the model for /model.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ConfigError(f"the terminal needs {' and '.join(missing)}: pip install 'outlive[terminal]'")
    from outlive.cli.chat.talk import Surroundings

    around = Surroundings(open_agent, store, root, __version__, choose)
    return asyncio.run(_talk(around, session, first))


async def _talk(around: "Surroundings", session: str | None, first: str | None) -> int:
    if sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from outlive.cli.chat.render.screen import Screen

        return await Screen(around, "mono" if os.environ.get("NO_COLOR") else "colour").run(session, first)
    from outlive.cli.chat.lines import LineChat

    return await LineChat(around, width=shutil.get_terminal_size().columns).run(session, first)
