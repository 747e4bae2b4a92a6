"""The picker in a terminal: a search field, the matching rows, and a preview of the highlighted one.

It is drawn inline. Below WIDE_COLUMNS the preview is under the list, else beside it.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from prompt_toolkit.application.current import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Window
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from outlive.cli.chat.picker.rows import PickerRow, RowSearch, shown_detail, shown_label
from outlive.cli.chat.render.paint import Painter
from outlive.cli.chat.words import cut

MAX_ROWS = 10  # leaves room for the transcript on a terminal of 24 rows; also the step of Page Up
MAX_PREVIEW_LINES = 6
"""Lines of a preview that is under the list."""
WIDE_COLUMNS = 100
"""Columns from which on the preview is beside the list."""
MIN_ROWS_FOR_PREVIEW = 16
"""Rows of the terminal below which there is no preview under the list."""
HELP = "↑↓ move · Enter takes · Esc leaves"


class Picker:
    """One list, open until a row is taken or the user leaves it."""

    def __init__(self, title: str, rows: Sequence[PickerRow], *, done: Callable[[], None] = lambda: None) -> None:
        """`done` is called with the key that makes the choice, so that the next key goes elsewhere already."""
        self.title = title
        self.search = RowSearch(rows)
        self.field = Buffer(
            name="picker", multiline=False, on_text_changed=lambda field: self.search.search(field.text)
        )
        self.choice: asyncio.Future[PickerRow | None] = asyncio.get_running_loop().create_future()
        self._done = done
        control = BufferControl(self.field, key_bindings=self._keys())
        self.container = HSplit(
            [
                Window(control, height=1, get_line_prefix=lambda *_: [("class:prompt", f"{cut(title, 24)}: ")]),
                Window(FormattedTextControl(self._drawn), dont_extend_height=True, wrap_lines=False),
            ]
        )

    def take(self, row: PickerRow | None) -> None:
        """End with this row, or with none."""
        if not self.choice.done():
            self.choice.set_result(row)
            self._done()

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        def moves(steps: int, *names: str) -> None:
            for name in names:
                keys.add(name, eager=True)(lambda _: self.search.move(steps))

        moves(-1, "up", "c-p", "s-tab")
        moves(1, "down", "c-n", "tab")
        moves(-MAX_ROWS, "pageup")
        moves(MAX_ROWS, "pagedown")

        @keys.add("enter", eager=True)
        def _(event: KeyPressEvent) -> None:
            if self.search.highlighted is not None:
                self.take(self.search.highlighted)

        @keys.add("escape", eager=True)
        @keys.add("c-c", eager=True)
        @keys.add("c-d", eager=True)
        @keys.add("c-g", eager=True)
        @keys.add("<sigint>", eager=True)
        def _(event: KeyPressEvent) -> None:
            self.take(None)

        return keys

    # -- drawing

    def _drawn(self) -> StyleAndTextTuples:
        size = get_app().output.get_size()
        return drawn(self.search, size.columns - 1, size.rows)


def drawn(search: RowSearch, columns: int, rows: int) -> StyleAndTextTuples:
    """The list, the preview and the line of keys, for a terminal of that size."""
    wide = columns >= WIDE_COLUMNS
    height = max(1, min(MAX_ROWS, len(search.rows), rows - 5))
    beside = columns * 9 // 20 if wide else columns
    made: StyleAndTextTuples = []
    preview = _wrapped(search.preview(), columns - beside - 3 if wide else columns - 4)
    for number, (style, text) in enumerate(_list(search, beside, height)):
        made.append((style, text))
        if wide and number < len(preview):
            made += [("class:rows.meta", f" │ {preview[number]}")]
        made.append(("", "\n"))
    if not wide and rows >= MIN_ROWS_FOR_PREVIEW:
        shown = preview[:MAX_PREVIEW_LINES]
        search.tallest = max(search.tallest, len(shown))
        made += [("class:rows.meta", f"  │ {line}\n") for line in shown]
        made.append(("", "\n" * (search.tallest - len(shown))))
    count = f"{search.at + 1} of {len(search.found)}" if search.found else "nothing matches"
    return [*made, ("class:rows.meta", cut(f"  {count} · {HELP}", columns))]


def _list(search: RowSearch, width: int, height: int) -> Iterator[tuple[str, str]]:
    """Exactly `height` lines, padded to `width`."""
    first, shown = search.window(height)
    labels = min(max((cell_len(shown_label(row)) for row in shown), default=0), width * 3 // 5)
    for number in range(height):
        if number >= len(shown):
            yield "", " " * width
            continue
        row = shown[number]
        highlighted = first + number == search.at
        mark = "▸" if highlighted else "·" if row.current else " "
        line = f"{mark} {set_cell_size(cut(shown_label(row), labels), labels)}  {shown_detail(row)}"
        yield "class:rows.current" if highlighted else "class:rows", set_cell_size(cut(line, width), width)


def _wrapped(text: str, width: int) -> list[str]:
    return [line[:width] for line in Painter(width, "plain").lines(Text(text.expandtabs(4)))] if text else []
