"""Rows of a picker: which of them match a search, and which one is highlighted."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from outlive.printable import clean, one_line

MAX_PREVIEW_CHARS = 4000  # cleaned for each row that is selected, so bounded


@dataclass(frozen=True, slots=True)
class PickerRow:
    """One choice. Label and detail are on its line and are searched; the preview is shown while it is highlighted."""

    label: str
    detail: str = ""
    value: Any = None
    preview: Callable[[], str] | str = ""
    """A function is called once, when the row is highlighted for the first time."""
    current: bool = False
    """In use now: highlighted first, and marked."""
    key: str = ""
    """More text to search."""


Pick = Callable[[str, Sequence[PickerRow]], Awaitable[PickerRow | None]]
"""Lets the user choose one of the rows under a title; None if the user leaves."""


@dataclass(slots=True)
class RowSearch:
    """The rows that match the words typed so far, and the highlighted one."""

    rows: Sequence[PickerRow]
    found: list[PickerRow] = field(init=False)
    at: int = field(init=False, default=0)
    """Index of the highlighted row in `found`."""
    tallest: int = field(init=False, default=0)
    """Lines of the longest preview that was shown: later ones take as much room, so that nothing jumps."""
    _previews: dict[int, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.found = list(self.rows)
        self.at = next((number for number, row in enumerate(self.found) if row.current), 0)

    def search(self, text: str) -> None:
        """Keep the rows that contain every word; the highlight goes to the first of them."""
        words = text.casefold().split()
        self.found = [row for row in self.rows if all(word in _searched(row) for word in words)]
        current = next((number for number, row in enumerate(self.found) if row.current), 0)
        self.at = 0 if words else current

    def move(self, steps: int) -> None:
        """Move the highlight, at most to either end."""
        self.at = max(0, min(self.at + steps, len(self.found) - 1))

    @property
    def highlighted(self) -> PickerRow | None:
        return self.found[self.at] if self.found else None

    def window(self, height: int) -> tuple[int, list[PickerRow]]:
        """The rows to show in `height` lines, and the index of the first of them."""
        first = max(0, min(self.at - height // 2, len(self.found) - height))
        return first, self.found[first : first + height]

    def preview(self) -> str:
        """The preview of the highlighted row, safe to print."""
        row = self.highlighted
        if row is None:
            return ""
        if id(row) not in self._previews:
            text = row.preview if isinstance(row.preview, str) else row.preview()
            self._previews[id(row)] = clean(text[:MAX_PREVIEW_CHARS]).strip()
        return self._previews[id(row)]


def shown_label(row: PickerRow) -> str:
    return one_line(row.label)


def shown_detail(row: PickerRow) -> str:
    return one_line(row.detail)


def _searched(row: PickerRow) -> str:
    return f"{row.label} {row.detail} {row.key}".casefold()
