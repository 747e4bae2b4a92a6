"""What is on the screen below the scrollback, from top to bottom."""

from typing import Protocol

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import AnyFormattedText, StyleAndTextTuples
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    DynamicContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.containers import AnyContainer
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.widgets import SearchToolbar

from outlive.cli.chat.picker.widget import Picker
from outlive.cli.chat.question import Questions
from outlive.cli.chat.render.inline import menu
from outlive.cli.chat.render.paint import Painter

MAX_INPUT_ROWS = 10  # longer input scrolls


class Drawn(Protocol):
    """The parts of the screen that are laid out."""

    questions: Questions
    input: Buffer
    reason: Buffer
    picker: Picker | None

    @property
    def painter(self) -> Painter: ...

    def above(self) -> AnyFormattedText: ...

    def prefix(self, line: int, wrapped: int) -> StyleAndTextTuples: ...

    def status_line(self) -> AnyFormattedText: ...


def layout(screen: Drawn) -> Layout:
    """Work in progress, then the input, the reason for a no or an open list, the completions and the status line."""
    search = SearchToolbar(ignore_case=True)
    listing = Condition(lambda: screen.picker is not None)
    reasoning = Condition(lambda: screen.questions.reason) & ~listing
    completing = Condition(lambda: bool(screen.input.complete_state and screen.input.complete_state.completions))
    field = BufferControl(screen.input, search_buffer_control=search.control, preview_search=True)
    reason = Window(BufferControl(screen.reason), height=1, get_line_prefix=lambda *_: [("class:prompt", "  why: ")])
    rows = Dimension(min=1, max=MAX_INPUT_ROWS)
    completions = FormattedTextControl(lambda: menu(screen.input.complete_state, screen.painter.width))
    parts: list[AnyContainer] = [
        Window(FormattedTextControl(screen.above), dont_extend_height=True, wrap_lines=False),
        ConditionalContainer(reason, reasoning),
        ConditionalContainer(
            Window(field, height=rows, dont_extend_height=True, wrap_lines=True, get_line_prefix=screen.prefix),
            ~reasoning & ~listing,
        ),
        DynamicContainer(lambda: screen.picker.container if screen.picker else Window(height=0)),
        ConditionalContainer(Window(completions, dont_extend_height=True), completing),
        search,
        Window(FormattedTextControl(screen.status_line), height=1),
    ]
    return Layout(HSplit(parts), focused_element=field)
