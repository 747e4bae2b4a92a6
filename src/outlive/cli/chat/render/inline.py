"""The application of prompt_toolkit, and the menu of completions, as they are drawn inline."""

import asyncio
import os
from contextlib import suppress

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import CompletionState
from prompt_toolkit.formatted_text import StyleAndTextTuples

from outlive.cli.chat.render.output import reflows
from outlive.cli.chat.words import cut

MAX_MENU_ROWS = 8  # as many as fit under the input on a terminal of 24 rows
REDRAW_SECONDS = 0.04  # 25 drawings a second are as smooth as text can look
"""Minimum seconds between two redraws for what arrives."""


class InlineApplication(Application[None]):
    """Corrects for terminals that rewrap lines when they get narrower, which moves the cursor down. A key is drawn at
    once (`invalidate`), what arrives while one types with the next drawing (`redraw_soon`)."""

    _redraw_is_due = False
    _drawn_at = 0.0

    def redraw_soon(self) -> None:
        """Redraw, but not more often than every `REDRAW_SECONDS`. From any thread."""
        if self._is_running and self.loop is not None and not self._redraw_is_due:
            self._redraw_is_due = True
            with suppress(RuntimeError):  # the loop was closed
                self.loop.call_soon_threadsafe(self._wait_and_redraw)

    def _wait_and_redraw(self) -> None:
        def redraw() -> None:
            self._redraw_is_due = False
            self._drawn_at = loop.time()
            self.invalidate()

        loop = asyncio.get_running_loop()
        loop.call_at(self._drawn_at + REDRAW_SECONDS, redraw)

    def _on_resize(self) -> None:
        if self._running_in_terminal:  # the screen belongs to the editor
            return
        screen, cursor = self.renderer.last_rendered_screen, self.renderer._cursor_pos
        columns = self.output.get_size().columns
        if screen is not None and reflows(os.environ):
            rows = (screen.data_buffer[y] for y in range(cursor.y))
            wide = (max((x for x, cell in row.items() if cell.char.strip()), default=0) + 1 for row in rows)
            self.output.cursor_up(sum(-(-cells // columns) - 1 for cells in wide) + cursor.x // columns)
        super()._on_resize()


def menu(state: CompletionState | None, width: int) -> StyleAndTextTuples:
    """The completions around the chosen one."""
    if state is None:
        return []
    at = state.complete_index or 0
    first = max(0, min(at - MAX_MENU_ROWS // 2, len(state.completions) - MAX_MENU_ROWS))
    shown = state.completions[first : first + MAX_MENU_ROWS]
    wide = max((len(item.display_text) for item in shown), default=0)
    made: StyleAndTextTuples = []
    for number, completion in enumerate(shown, first):
        style = "class:rows.current" if number == state.complete_index else "class:rows"
        made.append((style, cut(f"  {completion.display_text:<{wide}}", width)))
        made.append(("class:rows.meta", cut(f"  {completion.display_meta_text}", max(0, width - wide - 2))))
        made.append(("", "\n"))
    return made[:-1]
