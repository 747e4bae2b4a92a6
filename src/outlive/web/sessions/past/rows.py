"""Rows of a view: one for each block that the model is shown."""

import msgspec

from outlive.context.log.pages import handle
from outlive.context.tokens import estimate
from outlive.printable import one_line
from outlive.web.sessions.texts import CutText, cut_middle

LABEL = 160  # characters
SHOWN = 900
"""Characters of a row that are sent; the rest on request."""
MOST_HANDLES = 40  # of a row; a digest may stand for hundreds of pages


class ViewRow(msgspec.Struct, frozen=True):
    """A block of a view, with its whole text."""

    kind: str
    """A band of the chart."""
    event: int
    """0: not of an event."""
    block: int
    text: str
    label: str
    tokens: int
    short: bool
    """Only a part of it is shown, and handles for the rest."""
    handles: tuple[str, ...]
    role: str = ""
    """What the block is, if a view has only one of it: it is the same block in every view."""

    @property
    def key(self) -> tuple[str, int, int]:
        """Equal for the same block of two views."""
        return (self.role, 0, 0) if self.role else (self.kind, self.event, self.block)


class SentRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row as it is sent."""

    number: int
    kind: str
    event: int
    block: int
    text: CutText
    label: str
    tokens: int
    short: bool = False
    handles: tuple[str, ...] = ()


def row_of(
    kind: str,
    event: int,
    block: int,
    text: str,
    *,
    label: str = "",
    short: bool = False,
    pages: tuple[int, ...] = (),
    extra: float = 0.0,
    role: str = "",
) -> ViewRow:
    """`extra`: tokens that are not text."""
    tokens = round(estimate(text) + extra)
    return ViewRow(kind, event, block, text, label, tokens, short, tuple(map(handle, pages)), role)


def sent(row: ViewRow, number: int) -> SentRow:
    """A row, cut, with its number in its view."""
    return SentRow(
        number,
        row.kind,
        row.event,
        row.block,
        cut_middle(row.text, SHOWN),
        one_line(row.label, LABEL),
        row.tokens,
        row.short,
        row.handles[:MOST_HANDLES],
    )
