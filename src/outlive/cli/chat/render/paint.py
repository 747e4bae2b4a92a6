"""Renders rich objects to finished lines. The only place that writes escape codes, and only for our own styles."""

import io
from typing import Literal

from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.syntax import SyntaxTheme

from outlive.cli.chat.preferences import Theme
from outlive.cli.chat.render.themes import code_theme, styles
from outlive.printable import clean

Look = Theme | Literal["plain"]
"""`plain`: no escape codes at all."""
MAX_COLUMNS = 110
"""Columns; longer lines are hard to read."""


class ThemedConsole(Console):
    """A console that knows the theme of code."""

    code_theme: SyntaxTheme


class Painter:
    """Renders for one width and one look."""

    def __init__(self, width: int, look: Look = "terminal") -> None:
        self.width = max(10, min(width, MAX_COLUMNS))
        self.look = look
        self._colours = ColorSystem.EIGHT_BIT if look in ("dark", "light") else ColorSystem.STANDARD
        self._console = ThemedConsole(
            width=self.width,
            file=io.StringIO(),
            force_terminal=True,
            color_system="256" if look in ("dark", "light") else "standard",
            legacy_windows=False,
            highlight=False,
            markup=False,
            emoji=False,
            theme=styles(look),
            _environ={},
        )
        self._console.code_theme = code_theme(look)

    def lines(self, thing: RenderableType) -> list[str]:
        """Return lines that fit the width, without trailing spaces and without blank lines at either end."""
        rows = [_trimmed(row) for row in self._console.render_lines(thing, pad=False)]
        while rows and not rows[-1]:
            rows.pop()
        while rows and not rows[0]:
            rows.pop(0)
        return ["".join(map(self._code, row)) for row in rows]

    def _code(self, segment: Segment) -> str:
        text = clean(segment.text)
        if segment.style is None or self.look == "plain":
            return text
        style = segment.style.without_color if self.look == "none" else segment.style
        return style.update_link(None).render(text, color_system=self._colours)


def _trimmed(row: list[Segment]) -> list[Segment]:
    """Remove invisible spaces at the end."""
    kept = [segment for segment in row if not segment.control and segment.text]
    while kept:
        last = kept.pop()
        if last.style and (last.style.bgcolor or last.style.reverse or last.style.underline):
            return [*kept, last]
        if text := last.text.rstrip(" "):
            return [*kept, Segment(text, last.style)]
    return kept
