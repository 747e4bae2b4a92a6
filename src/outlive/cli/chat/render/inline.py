"""The application of prompt_toolkit, and the menu of completions, as they are drawn inline."""

import os

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import CompletionState
from prompt_toolkit.formatted_text import StyleAndTextTuples

from outlive.cli.chat.render.output import reflows
from outlive.cli.chat.words import cut

MAX_MENU_ROWS = 8  # as many as fit under the input on a terminal of 24 rows


class InlineApplication(Application[None]):
    """Corrects for terminals that rewrap lines when they get narrower, which moves the cursor down."""

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
