"""Items of the scrollback, and the blank lines between them."""

from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment

Kind = Literal["user", "answer", "card", "note", "block"]
COMPACT_KINDS = ("card", "note")
"""No blank line goes between two items of these kinds."""


@dataclass(frozen=True, slots=True)
class Item:
    """A finished piece of the conversation."""

    kind: Kind
    body: RenderableType
    tight: bool = False
    """No blank line before it."""


class Rhythm:
    """Decides where blank lines go."""

    def __init__(self) -> None:
        self._last: Kind | None = None

    def gap(self, item: Item) -> bool:
        """Whether a blank line goes before this item; records it as printed."""
        last, self._last = self._last, item.kind
        if item.tight or last is None:
            return False
        return last not in COMPACT_KINDS or item.kind not in COMPACT_KINDS


@dataclass(frozen=True, slots=True)
class Hanging:
    """A mark with a text indented to the right of it."""

    mark: str
    body: RenderableType
    style: str = "accent"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = cell_len(self.mark)
        rows = console.render_lines(self.body, options.update(width=max(1, options.max_width - wide)), pad=False)
        for number, row in enumerate(rows):
            yield Segment(" " * wide) if number else Segment(self.mark, console.get_style(self.style))
            yield from row
            yield Segment.line()
