"""Foreign text for the page: secrets masked, control characters shown, and never more than a part at a time."""

import msgspec

from outlive.printable import clean, one_line
from outlive.secrets import mask

PART = 20_000
"""Characters of a text that are sent at once."""
MOST = 1_000_000
"""Characters of a text that are shown at all."""


class Excerpt(msgspec.Struct, frozen=True):
    """A part of a text."""

    text: str
    length: int
    """Characters of the whole text."""
    next: int = 0
    """Where the next part begins; 0 where there is none."""


def excerpt(text: str, skip: int = 0) -> Excerpt:
    """The part that begins after `skip` characters of what is shown."""
    whole = clean(mask(text[:MOST]))
    end = skip + PART
    return Excerpt(whole[skip:end], len(text), end if end < len(whole) else 0)


def line(text: str, longest: int = 200) -> str:
    """A text on one line."""
    return one_line(mask(text[: longest * 8]), longest)
