"""A picker without a conversation around it."""

import asyncio
from collections.abc import Sequence

from prompt_toolkit.application import Application
from prompt_toolkit.layout import Layout
from prompt_toolkit.styles import Style

from outlive.cli.chat.picker.by_line import pick_by_line
from outlive.cli.chat.picker.rows import PickerRow
from outlive.cli.chat.picker.widget import Picker
from outlive.cli.chat.preferences import Theme
from outlive.cli.chat.render.output import SteadyOutput
from outlive.cli.chat.render.themes import interface

ESC_SECONDS = 0.1  # a lone Esc is told from a key sequence by what follows within this time


async def pick_in_terminal(title: str, rows: Sequence[PickerRow], theme: Theme) -> PickerRow | None:
    """Show the list where the cursor is, and remove it at the end."""
    picker = Picker(title, rows, done=lambda: app.exit())
    app: Application[None] = Application(
        layout=Layout(picker.container, focused_element=picker.field),
        style=Style.from_dict(interface(theme)),
        output=SteadyOutput(theme),
        erase_when_done=True,
    )
    app.ttimeoutlen = app.timeoutlen = ESC_SECONDS
    await app.run_async()
    return picker.choice.result()


async def pick_on_lines(title: str, rows: Sequence[PickerRow], theme: Theme) -> PickerRow | None:
    """Ask with a numbered list on plain lines; `theme` is not used."""
    return await pick_by_line(title, rows, lambda: asyncio.to_thread(_line), print)


def _line() -> str | None:
    try:
        return input("> ")
    except EOFError:
        return None
